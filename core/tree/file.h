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
#include "core/tree/subject.h"

namespace tallyfs {

// A file as it was when it was looked at.
struct FileState {
  std::optional<std::uint64_t> version;  // see File::version()
  Moment last_change;
};

class File {
 public:
  // What a file is opened for.
  enum class Access { kRead, kWrite, kReadWrite };
  // What write_line() is given: lines, wherever writes cut them; what one write(2) wrote, as it is,
  // when it is; or the same with those before it that ended in a backslash and a newline, since
  // shells write a text of several lines line by line. kMarker: as kWrite, and what is written is a
  // sample and sets nothing.
  enum class WriteUnit { kLine, kWrite, kCommand, kMarker };

  virtual ~File() = default;

  // The samples that its text is made of, and that count before a line is written into it, are of
  // this one alone. The default is nullptr: of anything.
  virtual Subject subject() const;
  // The whole text as of this moment. kNoSpace if it would be longer than bytes_max; no more than
  // about that is ever built.
  virtual Result<std::string> render(const CallContext& call, std::size_t bytes_max) const = 0;
  // How many bytes render_seen() would give right behind look(), with less memory where that is
  // possible; fails as it does.
  virtual Result<std::size_t> text_length(const CallContext& call, std::size_t bytes_max) const;
  // Of a text that takes long to make, as it shows all: how long it was last, which is what stat(2)
  // says to users. Nothing, the default: that is found out.
  virtual std::optional<std::size_t> last_length() const;
  // A number that is another one whenever the text is another one; nothing: there is no such
  // number.
  virtual std::optional<std::uint64_t> version(Moment now) const;
  // render() right behind version() or look(), which gave a version: of that moment or later. The
  // default is render(); a file for which a look costs much does not look again.
  virtual Result<std::string> render_seen(const CallContext& call, std::size_t bytes_max) const;
  // An open for reading of a file that its readers use up: the text, which is the caller's from now
  // on. Nothing, the default: reading changes nothing. A failure has changed nothing either.
  virtual std::optional<Result<std::string>> take(const CallContext& call, std::size_t bytes_max);
  // When the text last changed.
  virtual Moment last_change(Moment now) const = 0;
  // version() and last_change() by one look.
  virtual FileState look(Moment now) const;

  // Called when the file is opened, before its text is rendered or a line is written: has the
  // file's feeder send what it has not sent yet. Bounded in time. The default does nothing.
  virtual void opened(const CallContext& call);
  // What each open keeps until it is closed, so that the file's owner knows that it is open, and
  // can refuse to remove what the file belongs to. Called after opened(). The object is destroyed
  // when the kernel reports the last close(2), and no lock is held then.
  // kStale: the file is gone and cannot be opened. The default is nullptr.
  virtual Result<std::shared_ptr<const void>> hold(Access access, Moment now) const;
  // opened() waits for what it has asked for; the default does not.
  virtual bool waits() const;
  // How often there was news for readers that wait with poll(2); nothing, now as ever: the file is
  // readable always. The text of a file that counts news is rendered anew by each read from its
  // start.
  virtual std::optional<std::uint64_t> news(Moment now) const;
  // Of a file that counts news: whether poll(2) also shows POLLPRI, for news since the last open,
  // read or poll(2) that showed it. The default shows none.
  virtual bool has_priority_news() const;
  // Whether it is read like a pipe: each byte is read once, and a read waits until there are bytes.
  // render() then has no text, and news() is 0 while there is nothing to read.
  virtual bool is_stream() const;
  // Of a stream: some of what there is to read, taken out of it; empty: nothing now.
  // May wait for the names in the text; the call's token ends that.
  virtual std::string next(const CallContext& call);
  // Of a stream: the size of a page, if next() gives one page at a time. A read then gets at most
  // the rest of a page. 0, the default: it gives lines.
  virtual std::size_t page_bytes() const;
  // Of a stream: no text comes at present. A reader that has read something is at the end.
  virtual bool is_over() const;
  virtual WriteUnit write_unit() const;
  // Of a file that takes whole writes: how many bytes of one it takes, as write(2) then returns.
  // The default takes all.
  virtual std::size_t write_bytes_max() const;
  // One complete line, without its newline; or a write, see WriteUnit. A function of the state and
  // the text alone, so that it can be replayed. The default refuses (kNoAccess): the file is for
  // reading.
  virtual Result<void> write_line(std::string_view line, const CallContext& call);
  // A line of a write was refused, by write_line() or before it, as too long or at a wrong offset.
  // The default does nothing.
  virtual void note_refused_line();
  // A warning about a line that was taken, for the error log. The default
  // has none.
  virtual std::optional<Error> remark(std::string_view line) const;
  // write_line() for files that show their writer. The default ignores the writer.
  virtual Result<void> write_by(pid_t writer, std::string_view text, const CallContext& call);
  // An open with O_TRUNC, or truncate(2), which fails if this does. The default does nothing: a
  // truncated definition is one about to be written, not one to be cleared.
  virtual Result<void> truncate(const CallContext& call);
};

class Directory {
 public:
  virtual ~Directory() = default;

  // Called before a name in it is looked up, or it is listed: entries that are made on demand are
  // entered now. The default does nothing.
  virtual void entered(Moment now);
  // mkdir in it. The default refuses (kNotPermitted).
  virtual Result<void> make_directory(std::string_view name, Moment now);
  // rmdir of a directory in it. The default refuses (kNotPermitted).
  virtual Result<void> remove_directory(std::string_view name, Moment now);
  // unlink of a file in it. The default refuses (kNotPermitted).
  virtual Result<void> remove_file(std::string_view name, Moment now);
  // What an open file below it keeps while that file has yet to be entered again after a reload,
  // for the same purpose as File::hold(). The default is nullptr.
  virtual std::shared_ptr<const void> hold() const;
};

}  // namespace tallyfs
