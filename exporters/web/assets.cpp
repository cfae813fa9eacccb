#include "exporters/web/assets.h"

#include <algorithm>
#include <vector>

// Made by assets.cmake: BEGIN(symbol) and END(symbol) are declared, and ASSET(name, symbol, type,
// etag) stands for each file.
#define BYTES(symbol)                                    \
  extern "C" const char tally_web_##symbol##_begin[];    \
  extern "C" const char tally_web_##symbol##_end[];      \
  extern "C" const char tally_web_##symbol##_gz_begin[]; \
  extern "C" const char tally_web_##symbol##_gz_end[];
#include "asset_bytes.inc"
#undef BYTES

namespace tallyfs::web {
namespace {

[[maybe_unused]] std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace

std::span<const Asset> assets() {
#define ASSET(name, symbol, type, etag)                                                  \
  Asset{name, type, etag, between(tally_web_##symbol##_begin, tally_web_##symbol##_end), \
        between(tally_web_##symbol##_gz_begin, tally_web_##symbol##_gz_end)},
  static const std::vector<Asset> kAssets = {
#include "asset_list.inc"
  };
#undef ASSET
  return kAssets;
}

std::string_view assets_version() {
  return
#include "asset_version.inc"
      ;
}

const Asset* find_asset(std::string_view name) {
  const auto all = assets();
  const auto found = std::ranges::find(all, name, &Asset::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace tallyfs::web
