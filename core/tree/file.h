// What stands behind a name in the tree: a File answers reads and writes as text, a Directory says
// what may be made or removed in it. They know nothing of FUSE, handles or offsets.
//
// Both are called from several threads at once and without any lock of the tree held.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/call_context.h"
#include "core/base/result.h"

namespace tallyfs {

class File {
 public:
  // What write_line() is given: lines, wherever writes cut them; what one write(2) wrote, as it is,
  // when it is; or the same with those before it that ended in a backslash and a newline, since
  // shells write a text of several lines line by line.
  enum class WriteUnit { kLine, kWrite, kCommand };

  virtual ~File() = default;

  // The whole text as of this moment. kNoSpace if it would be longer than bytes_max; no more than
  // about that is ever built.
  virtual Result<std::string> render(const CallContext& call, std::size_t bytes_max) const = 0;
  // A number that is another one whenever the text is another one; nothing: there is no such
  // number.
  virtual std::optional<std::uint64_t> version(Moment now) const;
  // An open for reading of a file that its readers use up: the text, which is the caller's from now
  // on. Nothing, the default: reading changes nothing. A failure has changed nothing either.
  virtual std::optional<Result<std::string>> take(const CallContext& call, std::size_t bytes_max);
  // When the text last changed.
  virtual Moment last_change(Moment now) const = 0;

  // Somebody opens it, and neither text nor line has been looked at yet: asks whoever feeds the
  // file, and can be asked, for what it has not sent. Bounded in time. The default knows nobody.
  virtual void opened(const CallContext& call);
  // What each open keeps until it is closed, so that the file's owner knows what is open: whoever
  // removes what a file belongs to may refuse that meanwhile. kStale: it is gone, and there is
  // nothing to open. The default, nullptr, is nobody's.
  virtual Result<std::shared_ptr<const void>> hold() const;
  // opened() waits for what it has asked for; the default does not.
  virtual bool waits() const;
  // How often there was something new for who waits for that with poll(2); nothing: it is readable
  // always. A file that counts is made anew by each read from its start.
  virtual std::optional<std::uint64_t> news(Moment now) const;
  // Read like a pipe: what one read gets is gone for all, and a read of nothing waits. render()
  // then has no text, news() is 0 while there is nothing to read.
  virtual bool is_stream() const;
  // Of a stream: some of what there is to read, taken out of it; empty: nothing now.
  virtual std::string next(Moment now);
  // Of a stream: nothing comes at present. Whoever has read something is at the end.
  virtual bool is_over() const;
  virtual WriteUnit write_unit() const;
  // Of a file that takes whole writes: how much of one it takes; the writer hears that it was no
  // more. The default takes all of them.
  virtual std::size_t write_bytes_max() const;
  // One complete line, without its newline; or a write, see WriteUnit. A function of the state and
  // the text alone, so that it can be replayed. The default refuses (kNoAccess): the file is for
  // reading.
  virtual Result<void> write_line(std::string_view line, const CallContext& call);
  // What the writer of a line that was taken may want to hear of it. The default has nothing to
  // say.
  virtual std::optional<Error> remark(std::string_view line) const;
  // The same, of who wrote it, for files that show that. The default forgets who it was.
  virtual Result<void> write_by(pid_t writer, std::string_view text, const CallContext& call);
  // An open with O_TRUNC, or truncate(2), which fails if this does. The default does nothing: a
  // truncated definition is one about to be written, not one to be cleared.
  virtual Result<void> truncate(const CallContext& call);
};

class Directory {
 public:
  virtual ~Directory() = default;

  // Somebody is about to look for a name in it, or to list it: what is only made when it is wanted
  // may be entered now. The default does nothing.
  virtual void entered(Moment now);
  // mkdir in it. The default refuses (kNotPermitted).
  virtual Result<void> make_directory(std::string_view name, Moment now);
  // rmdir of a directory in it. The default refuses (kNotPermitted).
  virtual Result<void> remove_directory(std::string_view name, Moment now);
  // unlink of a file in it. The default refuses (kNotPermitted).
  virtual Result<void> remove_file(std::string_view name, Moment now);
};

}  // namespace tallyfs
