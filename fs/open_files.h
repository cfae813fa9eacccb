// Open files on their way to the next server: saved and loaded in a reload, and kept in the memory
// of the keeper all the time, for the case of a kill (core/state/FORMAT.md, kinds 34 and 35).
//
// keep(), forget() and the look-ups are for any thread. The others are confined to the main thread,
// and called before there are requests, but for hold_returned().
//
// A file of more than kFileBytesMax, with its text, is not kept: it is stale after a kill. So are
// those beyond kBytesMax.
#pragma once

#include <atomic>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/branch/saved_object.h"
#include "core/branch/transferred_part.h"
#include "core/tree/tree.h"
#include "fs/handles.h"
#include "fs/open_file_saved.h"

namespace tallyfs {

class OpenFiles {
 public:
  static constexpr std::size_t kFileBytesMax = 1 << 20;
  static constexpr std::size_t kBytesMax = 64 << 20;

  // All outlive this.
  OpenFiles(Handles& handles, const Tree& tree, const Clock& clock)
      : handles_(handles), tree_(tree), clock_(clock) {}

  void save(ObjectSink& sink) const;
  // Whether the numbers of open files can be loaded: without them, those of nodes must not go on.
  static bool can_load(const SavedObject& handles);
  // Called when the tree is as it was. Returns a line for each open file that is left out.
  // kInvalid: nothing was taken, which can_load() rules out.
  Result<std::vector<std::string>> load(const SavedObject& handles,
                                        const std::vector<SavedObject>& files);
  // The same of what a killed server has kept, in whose tree nodes had other numbers.
  std::vector<std::string> load_kept(const std::vector<SavedObject>& files);
  // Called once, when the tree has all that feeders enter again: their open files are held from now
  // on, see File::hold().
  void hold_returned();

  // From now on each is kept, and those are that are open. Others of `before`, which the keeper
  // has, go. It outlives the requests.
  void keep_with(PartKeeper& keeper, const std::vector<SavedObject>& before);
  // An open file is as it is now, of which no lock is held.
  void keep(std::uint64_t handle, OpenFile& open);
  // It was closed.
  void forget(std::uint64_t handle, OpenFile& open);

  // The node that the kernel knows by a number of a killed server, as one of its files is open.
  std::optional<NodeId> node_of(NodeId kernels) const;
  // The file that a killed server has opened for this request.
  std::optional<std::uint64_t> handle_of(std::uint64_t request) const;

 private:
  Handles::Numbered read(const std::vector<SavedObject>& files, FoundBy by,
                         std::vector<std::string>& faults);
  void note_numbers(const Handles::Numbered& files);
  // It is not kept any more.
  void drop(std::uint64_t handle, OpenFile& open) REQUIRES(open.keeping);

  Handles& handles_;
  const Tree& tree_;
  const Clock& clock_;
  PartKeeper* keeper_ = nullptr;  // nullptr: they are not kept
  std::atomic<std::size_t> bytes_{0};
  // The open files that the tree did not have when they were loaded.
  std::vector<std::uint64_t> absent_;
  // These do not change while there are requests.
  boost::unordered_flat_map<NodeId, NodeId> nodes_;
  boost::unordered_flat_map<std::uint64_t, std::uint64_t> handles_of_requests_;
};

}  // namespace tallyfs
