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

#include "core/base/clock.h"
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
  virtual Result<std::string> render(Moment now, std::size_t bytes_max) const = 0;
  // A number that is another one whenever the text is another one; nothing: there is no such
  // number.
  virtual std::optional<std::uint64_t> version(Moment now) const;
  // An open for reading of a file that its readers use up: the text, which is the caller's from now
  // on. Nothing, the default: reading changes nothing. A failure has changed nothing either.
  virtual std::optional<Result<std::string>> take(Moment now, std::size_t bytes_max);
  // When the text last changed.
  virtual Moment last_change(Moment now) const = 0;

  // An open, before text or line are looked at: requests what the file's source has recorded and
  // not sent yet, if the source can be asked. Bounded in time. The default has no such source.
  virtual void opened(Moment now);
  // What each open keeps until it is closed, so that the file's owner knows what is open: the
  // owner may refuse to remove the file meanwhile. kStale: it is gone, and there is
  // nothing to open. The default is nullptr.
  virtual Result<std::shared_ptr<const void>> hold() const;
  // opened() waits for what it has asked for; the default does not.
  virtual bool waits() const;
  // How often there was something new to read, for poll(2); nothing: the file is readable always. A
  // file that counts is made anew by each read from its start.
  virtual std::optional<std::uint64_t> news(Moment now) const;
  // Read like a pipe: what one read gets is gone for all, and a read of nothing waits. render()
  // then has no text, news() is 0 while there is nothing to read.
  virtual bool is_stream() const;
  // Of a stream: some of what there is to read, taken out of it; empty: nothing now.
  virtual std::string next(Moment now);
  // Of a stream: nothing comes at present. A reader that has read something is at the end.
  virtual bool is_over() const;
  virtual WriteUnit write_unit() const;
  // Of a file that takes whole writes: how much of one it takes; the writer hears that it was no
  // more. The default takes all of them.
  virtual std::size_t write_bytes_max() const;
  // One complete line, without its newline; or a write, see WriteUnit. A function of the state and
  // the text alone, so that it can be replayed. The default refuses (kNoAccess): the file is for
  // reading.
  virtual Result<void> write_line(std::string_view line, Moment now);
  // What the writer of a line that was taken may want to hear of it. The default has nothing to
  // say.
  virtual std::optional<Error> remark(std::string_view line) const;
  // The same with the writer's process, for files that show it. The default ignores the process.
  virtual Result<void> write_by(pid_t writer, std::string_view text, Moment now);
  // An open with O_TRUNC, or truncate(2), which fails if this does. The default does nothing: a
  // truncated definition is one about to be written, not one to be cleared.
  virtual Result<void> truncate(Moment now);
};

class Directory {
 public:
  virtual ~Directory() = default;

  // A look-up or a listing begins: entries that are made on demand may be entered now. The default
  // does nothing.
  virtual void entered(Moment now);
  // mkdir in it. The default refuses (kNotPermitted).
  virtual Result<void> make_directory(std::string_view name, Moment now);
  // rmdir of a directory in it. The default refuses (kNotPermitted).
  virtual Result<void> remove_directory(std::string_view name, Moment now);
  // unlink of a file in it. The default refuses (kNotPermitted).
  virtual Result<void> remove_file(std::string_view name, Moment now);
};

}  // namespace tallyfs
