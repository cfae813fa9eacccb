#include "core/base/keyed_hash.h"

#include <random>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tallyfs {
namespace {

const std::uint64_t kKey = [] {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}();

}  // namespace

std::uint64_t keyed_hash(std::string_view text) {
  return XXH3_64bits_withSeed(text.data(), text.size(), kKey);
}

}  // namespace tallyfs
