// The interface of a file that is read like a pipe: each byte is read once, and a read waits until
// there are bytes. render() of such a file returns no text.
//
// Called from several threads at once, without any lock of the tree held.
#pragma once

#include <cstddef>
#include <string>

#include "core/base/call_context.h"

namespace tallyfs {

class Stream {
 public:
  virtual ~Stream() = default;

  // Removes some text from the stream and returns it; empty: there is none now. May wait for the
  // names in the text, until the call is cancelled.
  virtual std::string next(const CallContext& call) = 0;
  // True if there is text to read, for readers that wait with poll(2).
  virtual bool has_some(Timestamp now) const = 0;
  // True while no more text can come: a reader that has read something is at the end.
  virtual bool is_over() const = 0;
  // The size of a page, if next() gives one page at a time. A read then gets at most the rest of a
  // page. 0, the default: it gives lines.
  virtual std::size_t page_bytes() const { return 0; }
};

}  // namespace tallyfs
