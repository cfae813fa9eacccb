// An open file as bytes, which a server leaves to its successor in a reload, and back
// (core/state/FORMAT.md, kind 35). What reads get goes over byte for byte, and so does the line
// that a writer has begun.
//
// Functions without state. Called while no request uses the file.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/tree/tree.h"
#include "fs/handles.h"

namespace tallyfs {

void save_open_file(std::uint64_t handle, OpenFile& open, Moment now, ByteWriter& out);

struct SavedOpenFile {
  std::uint64_t handle = 0;
  std::shared_ptr<OpenFile> open;
};
// Finds the file in the tree by its number. If it is not there, what was read of it can still be
// read. kInvalid: save_open_file() writes no such bytes.
Result<SavedOpenFile> load_open_file(std::string_view bytes, const Tree& tree, Moment now);

}  // namespace tallyfs
