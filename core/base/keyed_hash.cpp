#include "core/base/keyed_hash.h"

#include <random>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tallyfs {
namespace {

std::uint64_t draw_key() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

const std::uint64_t kKey = draw_key();

}  // namespace

namespace detail {
const std::array<std::uint64_t, 4> kNameKeys = {draw_key(), draw_key(), draw_key(), draw_key()};
}  // namespace detail

std::uint64_t keyed_hash(std::string_view text) {
  return XXH3_64bits_withSeed(text.data(), text.size(), kKey);
}

}  // namespace tallyfs
