// The places of all parts of a blob: FORMAT.md in C++. The structs are bytes as they lie in memory,
// unaligned. Offsets are followed only in a blob that this process made, or that has passed
// check_blob() (check.h).
//
// Values without threads; a blob is confined to its owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tally/stats.h"

namespace tallyfs::stats3::blob {

#define TALLY_PACKED __attribute__((packed))

struct Header {
  std::uint8_t abi, endian;
  std::uint16_t flags, maxsz, cursz;
  std::uint32_t tplhash;
  std::uint16_t stats_off, statsdata_off;
  std::int64_t created, lastrst;  // seconds, 32.32
} TALLY_PACKED;

struct Voi {
  std::int16_t id;  // -1: a vacant slot
  std::uint8_t dtype;
  std::int8_t stat_max;  // the last slot; -1 in a vacant one
  std::uint16_t stats_off;
  std::uint16_t flags;
} TALLY_PACKED;

struct Stat {
  std::int8_t stype;  // -1: a vacant slot
  std::uint8_t dtype;
  std::uint16_t data_off, dsz;
  std::uint8_t errs;
  std::uint8_t flags;
} TALLY_PACKED;

#undef TALLY_PACKED

static_assert(sizeof(Header) == 32 && sizeof(Voi) == 8 && sizeof(Stat) == 8);

inline constexpr std::uint16_t kVoiRelative = 1;  // Voi::flags: slot 0 has the previous value
inline constexpr std::uint8_t kStatValid = 1;     // Stat::flags: a sample has made a difference
inline constexpr std::size_t kBlobBytesMax = 65'535;
inline constexpr Voi kVacantVoi{-1, 0, -1, 0, 0};
inline constexpr Stat kVacantStat{-1, 0, 0, 0, 0, 0};

// Reads and writes unaligned values.
template <typename T>
T load(const void* at) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
template <typename T>
void store(void* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

inline std::uint8_t* bytes_of(statsblob* sb) { return reinterpret_cast<std::uint8_t*>(sb); }
inline const std::uint8_t* bytes_of(const statsblob* sb) {
  return reinterpret_cast<const std::uint8_t*>(sb);
}
inline Header& header_of(statsblob* sb) { return *reinterpret_cast<Header*>(sb); }
inline const Header& header_of(const statsblob* sb) { return *reinterpret_cast<const Header*>(sb); }

inline int voi_slots(const Header& header) {
  return static_cast<int>((header.stats_off - sizeof(Header)) / sizeof(Voi));
}
inline Voi* vois_of(statsblob* sb) { return reinterpret_cast<Voi*>(bytes_of(sb) + sizeof(Header)); }
inline const Voi* vois_of(const statsblob* sb) {
  return reinterpret_cast<const Voi*>(bytes_of(sb) + sizeof(Header));
}
inline Stat* stats_of(statsblob* sb, const Voi& voi) {
  return reinterpret_cast<Stat*>(bytes_of(sb) + voi.stats_off);
}
inline const Stat* stats_of(const statsblob* sb, const Voi& voi) {
  return reinterpret_cast<const Stat*>(bytes_of(sb) + voi.stats_off);
}

// The VOI of this id, or nullptr.
template <typename Blob>
auto find_voi(Blob* sb, std::int32_t id) -> decltype(vois_of(sb)) {
  if (id < 0 || id >= voi_slots(header_of(sb))) return nullptr;
  auto* const voi = vois_of(sb) + id;
  return voi->id == id ? voi : nullptr;
}

inline bool is_voi_dtype(unsigned dtype) {
  return dtype >= VSD_DTYPE_INT_S32 && dtype <= VSD_DTYPE_Q_U64;
}
inline bool is_hist_dtype(unsigned dtype) {
  return dtype >= VSD_DTYPE_CRHIST32 && dtype <= VSD_DTYPE_DVHIST64;
}
inline bool is_tdgst_dtype(unsigned dtype) {
  return dtype == VSD_DTYPE_TDGSTCLUST32 || dtype == VSD_DTYPE_TDGSTCLUST64;
}

// The shape of histograms by type.
inline bool has_two_bounds(unsigned dtype) {
  return dtype == VSD_DTYPE_DRHIST32 || dtype == VSD_DTYPE_DRHIST64;
}
inline bool has_wide_counters(unsigned dtype) { return dtype >= VSD_DTYPE_CRHIST64; }
inline constexpr std::size_t kHistHeadBytes = 8;
inline std::size_t bucket_bytes(unsigned dtype) { return has_two_bounds(dtype) ? 24 : 16; }

}  // namespace tallyfs::stats3::blob
