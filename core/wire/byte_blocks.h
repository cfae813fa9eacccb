// Many bytes of a text at a time: with SSE2, which every x86-64 has, or else one after the other.
// Pure.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "core/base/padded_name.h"

namespace tallyfs::wire {

// A bit for each byte at `at` that is a blank, or whatever else is not above a blank.
inline constexpr std::size_t kBlockBytes = 64;
std::uint64_t mark_blanks(const char* at);

// PaddedName::kBytes of them are at `at`, of which `size` are the name.
PaddedName load_name(const char* at, std::size_t size);
bool are_same(const PaddedName& one, const PaddedName& other);
// byte: not 0.
bool has_byte(const PaddedName& name, char byte);

// ----

static_assert(std::endian::native == std::endian::little);

namespace detail {
// From the one at kBytes - size on: a mask of the first `size` of kBytes bytes.
alignas(16) inline constexpr std::array<unsigned char, 2 * PaddedName::kBytes> kNameMasks = [] {
  std::array<unsigned char, 2 * PaddedName::kBytes> masks{};
  for (std::size_t i = 0; i < PaddedName::kBytes; ++i) masks[i] = 0xFF;
  return masks;
}();
}  // namespace detail

#ifdef __SSE2__

inline __m128i load_block(const void* at) {
  return _mm_loadu_si128(static_cast<const __m128i*>(at));
}
inline std::uint64_t bits_of(__m128i equal) {
  return static_cast<std::uint32_t>(_mm_movemask_epi8(equal));
}

inline std::uint64_t mark_blanks(const char* at) {
  const auto sixteen = [at](int i) {
    const __m128i bytes = load_block(at + 16 * i);
    return bits_of(_mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(' ')), bytes)) << (16 * i);
  };
  return (sixteen(0) | sixteen(1)) | (sixteen(2) | sixteen(3));
}

struct Halves {
  __m128i low;
  __m128i high;
};
inline Halves halves_of(const PaddedName& name) {
  const auto* const words = reinterpret_cast<const __m128i*>(name.words.data());
  return {_mm_load_si128(words), _mm_load_si128(words + 1)};
}

inline PaddedName load_name(const char* at, std::size_t size) {
  const unsigned char* const masks = detail::kNameMasks.data() + PaddedName::kBytes - size;
  PaddedName name;
  auto* const words = reinterpret_cast<__m128i*>(name.words.data());
  _mm_store_si128(words, _mm_and_si128(load_block(at), load_block(masks)));
  _mm_store_si128(words + 1, _mm_and_si128(load_block(at + 16), load_block(masks + 16)));
  return name;
}

inline bool are_same(const PaddedName& one, const PaddedName& other) {
  const auto [low, high] = halves_of(one);
  const auto [other_low, other_high] = halves_of(other);
  return bits_of(_mm_and_si128(_mm_cmpeq_epi8(low, other_low),
                               _mm_cmpeq_epi8(high, other_high))) == 0xFFFF;
}

inline bool has_byte(const PaddedName& name, char byte) {
  const auto [low, high] = halves_of(name);
  const __m128i wanted = _mm_set1_epi8(byte);
  return bits_of(_mm_or_si128(_mm_cmpeq_epi8(low, wanted), _mm_cmpeq_epi8(high, wanted))) != 0;
}

#else

inline std::uint64_t mark_blanks(const char* at) {
  std::uint64_t marks = 0;
  for (std::size_t i = 0; i < kBlockBytes; ++i) {
    marks |= std::uint64_t{static_cast<unsigned char>(at[i]) <= ' '} << i;
  }
  return marks;
}

inline PaddedName load_name(const char* at, std::size_t size) { return PaddedName::of({at, size}); }

inline bool are_same(const PaddedName& one, const PaddedName& other) { return one == other; }

inline bool has_byte(const PaddedName& name, char byte) {
  return std::memchr(name.words.data(), byte, PaddedName::kBytes) != nullptr;
}

#endif

}  // namespace tallyfs::wire
