// Recordings by their names: those that end with .zst are of zstd.
#pragma once

#include <memory>
#include <string>

#include "core/base/result.h"
#include "tools/tree/source.h"

namespace tallyfs {

bool is_packed(const std::string& path);
// `path` "-": stdin. kInvalid: no recording.
Result<std::unique_ptr<Source>> open_recording_named(const std::string& path);

}  // namespace tallyfs
