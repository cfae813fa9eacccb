// Renders the texts of files for requests, so that no long one delays other requests. Keeps the
// last text that was rendered for a size: the open that follows takes it.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/call_context.h"
#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/tree/file.h"
#include "core/tree/tree.h"
#include "fs/request_barrier.h"
#include "fs/text_cache.h"

namespace tallyfs {

class FileTexts {
 public:
  // Both outlive this.
  FileTexts(RequestBarrier& barrier, const Clock& clock) : barrier_(barrier), clock_(clock) {}

  // version: what a look at the file has just given, if it has one. kNoSpace: the text is longer
  // than bytes_max.
  Result<std::string> render(NodeId node, const File& file, std::optional<std::uint64_t> version,
                             std::size_t bytes_max, const CallContext& call);
  // The length of the text as it would be rendered now, 0 if it would be longer than bytes_max.
  std::size_t length(NodeId node, const File& file, std::optional<std::uint64_t> version,
                     std::size_t bytes_max, const CallContext& call);
  // Frees the text that was kept for the next request.
  void rest() { kept_.clear(); }

 private:
  RequestBarrier& barrier_;
  const Clock& clock_;
  TextCache kept_;
};

}  // namespace tallyfs
