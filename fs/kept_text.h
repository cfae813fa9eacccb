// The text that was last rendered to tell a file's size. The kernel asks for the size each time
// before it opens a file by its name; so the open finds its text here instead of rendering it
// again.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/base/mutex.h"
#include "core/tree/tree.h"

namespace tallyfs {

class KeptText {
 public:
  // A longer one is not kept: nobody's bounds count it.
  static constexpr std::size_t kBytesMax = 16u << 20;

  // version: the file's, before it was rendered.
  void keep(NodeId node, std::uint64_t version, std::string text) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    text_.reset();
    if (text.size() > kBytesMax) return;
    node_ = node;
    version_ = version;
    text_ = std::move(text);
  }
  // The text of this node, if it is kept and the version still the same, of at most bytes_max. It
  // is not kept any more.
  std::optional<std::string> take(NodeId node, std::uint64_t version, std::size_t bytes_max)
      EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (!text_ || node_ != node || version_ != version || text_->size() > bytes_max)
      return std::nullopt;
    return std::exchange(text_, std::nullopt);
  }
  void clear() EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    text_.reset();
  }

 private:
  Mutex mutex_{LockRank::kTextCache};
  NodeId node_ GUARDED_BY(mutex_) = 0;
  std::uint64_t version_ GUARDED_BY(mutex_) = 0;
  std::optional<std::string> text_ GUARDED_BY(mutex_);
};

}  // namespace tallyfs
