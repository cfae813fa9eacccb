// The interface of a file whose state is expensive to read: it takes a lock, and brings sums up to
// date. A request calls look() once; the later calls of that request do not look again.
//
// Called from several threads at once, without any lock of the tree held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/call_context.h"
#include "core/base/result.h"

namespace tallyfs {

// The state of a file at one look.
struct FileState {
  std::optional<std::uint64_t> version;  // see File::version()
  Timestamp last_change;
};

class Observed {
 public:
  virtual ~Observed() = default;

  // The file's version() and last_change() by one look.
  virtual FileState look(Timestamp now) const = 0;
  // render(), called right after version() or look() returned a version. The text is that of the
  // look or a later one.
  virtual Result<std::string> render_seen(const CallContext& call, std::size_t bytes_max) const = 0;
  // The length of the text that render_seen() would return right after look(), in bytes. It fails
  // as render_seen() does. An implementation may need less memory than the default.
  virtual Result<std::size_t> text_length(const CallContext& call, std::size_t bytes_max) const {
    const auto text = render_seen(call, bytes_max);
    if (!text) return text.error();
    return text.value().size();
  }
};

}  // namespace tallyfs
