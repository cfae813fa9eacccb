// A cache of one text: the last text that was rendered for the size of a file. The kernel asks for
// the size each time before it opens a file by its name. So the open takes the text from here
// instead of rendering it again.
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

class TextCache {
 public:
  // A longer text is not kept, since no uid's bounds count it.
  static constexpr std::size_t kBytesMax = 16u << 20;

  // version: the version of the file before the text was rendered.
  void keep(NodeId node, std::uint64_t version, std::string text) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    text_.reset();
    if (text.size() > kBytesMax) return;
    node_ = node;
    version_ = version;
    text_ = std::move(text);
  }
  // Takes the text of this node out, if it is here, of this version, and of at most bytes_max.
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
