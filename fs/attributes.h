// Makes the attributes that stat(2) shows of nodes, for each caller. Thread-safe.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/base/call_context.h"
#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/tree/file.h"
#include "core/tree/tree.h"
#include "fs/caller_rights.h"
#include "fs/file_texts.h"
#include "fs/handles.h"
#include "fs/notifier.h"
#include "fs/protocol.h"
#include "fs/request_barrier.h"

namespace tallyfs {

class Attributes {
 public:
  // Everything outlives this.
  struct Dependencies {
    Tree& tree;
    RequestBarrier& barrier;
    const CallerRights& rights;
    const Handles& handles;
    FileTexts& texts;
    const Clock& clock;
  };

  explicit Attributes(const Dependencies& dependencies) : dependencies_(dependencies) {}

  // Called while no request can come: this one tells the kernel of changed attributes.
  void notify_through(Notifier* notifier) { notifier_ = notifier; }

  // kLastKnown: no text is rendered for users, which the kernel asks for again where it matters.
  enum class Size : std::uint8_t { kOfNow, kLastKnown };
  // kStale: the node was removed.
  Result<struct stat> of(fuse_req_t request, const NodeInfo& info, Size size = Size::kOfNow);
  // of() for a directory that the kernel caches: it is notified when the attributes change.
  Result<struct stat> of_directory(NodeId node);
  // of() for a directory by `info`, which the tree has just returned. The kernel is not notified of
  // changes.
  struct stat of_seen_directory(const NodeInfo& info) const;
  // An open file that is read keeps the size of its text.
  struct stat of_open(const OpenFile& open);

  // The entry of a node, with the times for which the kernel may cache it.
  static fuse_entry_param entry(const NodeInfo& info, const struct stat& attributes);
  // How long the kernel may cache the attributes.
  static double seconds(const NodeInfo& info);

 private:
  struct stat common(const NodeInfo& info, Timestamp changed) const;
  struct stat of_file(const NodeInfo& info, File& file, std::optional<std::size_t> size,
                      uid_t asking, const CallContext& call);
  struct stat of_closed(const NodeInfo& info, File& file) const;

  const Dependencies dependencies_;
  Notifier* notifier_ = nullptr;
};

}  // namespace tallyfs
