// The files of the page, embedded in the program as they are and as gzip (assets.cmake).
// Immutable; any thread.
#pragma once

#include <span>
#include <string_view>

namespace tallyfs::web {

struct Asset {
  std::string_view name;  // "page.css"
  std::string_view content_type;
  std::string_view etag;  // with its quotes
  std::string_view plain;
  std::string_view gzip;
};

// Empty if the program was built without D3's modules.
std::span<const Asset> assets();

// The folder that the page names its files in: another one for each change of any of them. Empty as
// above.
std::string_view assets_version();

// Null if there is no such file.
const Asset* find_asset(std::string_view name);

}  // namespace tallyfs::web
