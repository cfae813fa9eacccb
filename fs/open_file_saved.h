// Saves and loads an open file for a successor (core/state/FORMAT.md, kind 35). The text that
// readers get is the same byte for byte, and so is the line that a writer has begun.
//
// Functions without state. load_open_file() is called while no request uses the file.
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

void save_open_file(std::uint64_t handle, OpenFile& open, Timestamp now, ByteWriter& out);

struct SavedOpenFile {
  std::uint64_t handle = 0;
  std::shared_ptr<OpenFile> open;
};
// Finds the file in the tree. If it is not there, the text that was rendered for it can still be
// read. kPath: after a kill, when nodes have other numbers, and all that files count as news is
// new. kInvalid: save_open_file() does not write such bytes.
enum class FoundBy { kNumber, kPath };
Result<SavedOpenFile> load_open_file(std::string_view bytes, const Tree& tree, Timestamp now,
                                     FoundBy by = FoundBy::kNumber);
// The object that a loaded file keeps until it is closed, see File::hold(). While the tree does not
// have the file, it is that of the nearest directory of its path, see Directory::hold().
Result<std::shared_ptr<const void>> hold_loaded(const OpenFile& open, const Tree& tree,
                                                Timestamp now);

}  // namespace tallyfs
