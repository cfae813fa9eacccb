// Numbers of a VOI's type: what they are in C++, in a blob's bytes, in order and as text. An
// integer type is itself; a Q type (qmath.h) is a struct around its bits, ordered by value.
//
// Values and pure functions: any thread.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "core/base/int128.h"
#include "core/base/text.h"
#include "core/stats3/blob/layout.h"
#include "tally/qmath.h"

namespace tallyfs::stats3::blob {

template <typename Bits>
struct QNumber {
  Bits raw = 0;

  tally_q q() const {
    return tally_q_of(static_cast<std::uint64_t>(raw), Q_NTBITS(raw), Q_SIGNED(raw));
  }
  // The value times 2^fraction_bits().
  Int128 scaled() const { return tally_q_value(q()); }
  unsigned fraction_bits() const { return tally_q_fraction(q()); }
  unsigned control() const { return static_cast<unsigned>(raw & 7); }

  friend int compare(QNumber a, QNumber b) { return tally_q_compare(a.q(), b.q()); }
  friend bool operator<(QNumber a, QNumber b) { return compare(a, b) < 0; }
  friend bool operator<=(QNumber a, QNumber b) { return compare(a, b) <= 0; }
  friend bool operator==(QNumber a, QNumber b) { return compare(a, b) == 0; }
};

template <typename T>
struct IsQ : std::false_type {};
template <typename Bits>
struct IsQ<QNumber<Bits>> : std::true_type {};
template <typename T>
inline constexpr bool kIsQ = IsQ<T>::value;

template <typename T>
inline constexpr bool kIsSigned = std::is_signed_v<T>;
template <typename Bits>
inline constexpr bool kIsSigned<QNumber<Bits>> = std::is_signed_v<Bits>;

// The ends of a type, as they stand in blobs. Of a Q number they have the control bits `control`,
// which are those of 2 bits of fraction unless said otherwise: its range is largest then.
template <typename T>
T lowest(unsigned control = 0) {
  if constexpr (kIsQ<T>) {
    using Bits = decltype(T::raw);
    const Bits least = kIsSigned<T> ? static_cast<Bits>(~Bits{7}) : Bits{0};
    return {static_cast<Bits>(least | static_cast<Bits>(control))};
  } else {
    return std::numeric_limits<T>::lowest();
  }
}
template <typename T>
T highest(unsigned control = 0) {
  if constexpr (kIsQ<T>) {
    using Bits = decltype(T::raw);
    return {static_cast<Bits>((std::numeric_limits<Bits>::max() & ~Bits{7}) |
                              static_cast<Bits>(control))};
  } else {
    return std::numeric_limits<T>::max();
  }
}
// The value of a SUM, MAX or MIN before its first sample.
template <typename T>
T initial(int stype, unsigned control) {
  if (stype == VS_STYPE_MAX) return lowest<T>(control);
  if (stype == VS_STYPE_MIN) return highest<T>(control);
  if constexpr (kIsQ<T>) {
    return {static_cast<decltype(T::raw)>(control)};
  } else {
    return {};
  }
}

// Calls `function` with a value of the VOI type `dtype`, for its type; abort()s on no VOI's type.
template <typename Function>
decltype(auto) with_type(unsigned dtype, Function&& function) {
  switch (dtype) {
    case VSD_DTYPE_INT_S32:
      return function(std::int32_t{});
    case VSD_DTYPE_INT_U32:
      return function(std::uint32_t{});
    case VSD_DTYPE_INT_S64:
      return function(std::int64_t{});
    case VSD_DTYPE_INT_U64:
      return function(std::uint64_t{});
    case VSD_DTYPE_INT_SLONG:
      return function(static_cast<long>(0));
    case VSD_DTYPE_INT_ULONG:
      return function(static_cast<unsigned long>(0));
    case VSD_DTYPE_Q_S32:
      return function(QNumber<s32q_t>{});
    case VSD_DTYPE_Q_U32:
      return function(QNumber<u32q_t>{});
    case VSD_DTYPE_Q_S64:
      return function(QNumber<s64q_t>{});
    case VSD_DTYPE_Q_U64:
      return function(QNumber<u64q_t>{});
    default:
      std::abort();
  }
}

inline std::size_t number_bytes(unsigned dtype) {
  return with_type(dtype, [](auto number) { return sizeof number; });
}

// A decimal. Q numbers have as many digits after the point as bits of fraction, with which they are
// exact.
inline void append(std::string& out, tally_q q) {
  char text[136];
  out.append(text, static_cast<std::size_t>(tally_q_print(q, -1, 10, text, sizeof text) - text));
}
template <typename T>
void append(std::string& out, T number) {
  if constexpr (kIsQ<T>) {
    append(out, number.q());
  } else if constexpr (std::is_signed_v<T>) {
    append_number(out, static_cast<std::int64_t>(number));
  } else {
    append_number(out, static_cast<std::uint64_t>(number));
  }
}

}  // namespace tallyfs::stats3::blob
