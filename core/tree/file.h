// The two interfaces that a name in the tree may have. A File answers reads and writes as text; a
// Directory decides which names may be made or removed in it. They know nothing of FUSE, handles or
// offsets.
//
// Both are called from several threads at once and without any lock of the tree held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/call_context.h"
#include "core/base/result.h"
#include "core/tree/line_reviewer.h"
#include "core/tree/marker.h"
#include "core/tree/observed.h"
#include "core/tree/stream.h"
#include "core/tree/subject.h"

namespace tallyfs {

class File {
 public:
  // The purpose of an open.
  enum class Access { kRead, kWrite, kReadWrite };
  // The text of one call of write_line(). kLine: a line, wherever writes cut it. kWrite: the text
  // of one write(2), unchanged and at once. kCommand: the text of one write(2) after those of
  // earlier writes that ended in a backslash and a newline, since shells write a text of several
  // lines line by line.
  enum class WriteUnit { kLine, kWrite, kCommand };

  virtual ~File() = default;

  // The subject whose samples have to be drained before the text is rendered or a line is written.
  // The default is nullptr: the samples of all subjects.
  virtual Subject subject() const;
  // The whole text as of this moment. kNoSpace if it would be longer than bytes_max; no more than
  // about that is ever built.
  virtual Result<std::string> render(const CallContext& call, std::size_t bytes_max) const = 0;
  // The last length of a text that takes long to render; stat(2) reports it. The default is
  // nullopt: stat(2) renders the text to learn its length.
  virtual std::optional<std::size_t> last_length() const;
  // A number that changes whenever the text changes; nullopt: there is no such number.
  virtual std::optional<std::uint64_t> version(Timestamp now) const;
  // An open for reading of a file whose text a reader consumes: returns the text, which no other
  // reader gets. A failure has changed nothing. The default is nullopt: reading changes nothing.
  virtual std::optional<Result<std::string>> take(const CallContext& call, std::size_t bytes_max);
  // When the text last changed.
  virtual Timestamp last_change(Timestamp now) const = 0;
  // For a file whose state is expensive to read (observed.h). The object lives as long as the file.
  // The default is nullptr.
  virtual const Observed* observed() const;
  // version() and last_change(), by one look if observed() is not nullptr.
  FileState state(Timestamp now) const;

  // Called when the file is opened, before its text is rendered or a line is written: has the
  // file's feeder send what it has not sent yet. Bounded in time. The default does nothing.
  virtual void opened(const CallContext& call);
  // An object that each open keeps until it is closed. By it the file's owner knows that the file
  // is open, and can refuse a removal. Called after opened(). The object is destroyed when the
  // kernel reports the last close(2), while no lock is held. kStale: the file was removed and
  // cannot be opened. The default is nullptr.
  virtual Result<std::shared_ptr<const void>> hold(Access access, Timestamp now) const;
  // True if opened() waits for a feeder. The default is false.
  virtual bool waits() const;
  // The change counter for poll(2); each read from the start of such a file renders its text again.
  // nullopt, always for the same file: poll(2) finds the file readable at any time.
  virtual std::optional<std::uint64_t> news(Timestamp now) const;
  // The stream of a file that is read like a pipe; it counts no news. It lives as long as the file.
  // The default is nullptr: the file has a text.
  virtual Stream* stream();
  virtual WriteUnit write_unit() const;
  // The receiver of each write(2), in place of write_line(). It lives as long as the file. The
  // default is nullptr.
  virtual Marker* marker();
  // Carries out one complete line without its newline, or one write (WriteUnit). The result depends
  // on the state and the text alone, so that a line can be replayed. The default refuses
  // (kNoAccess): the file is for reading.
  virtual Result<void> write_line(std::string_view line, const CallContext& call);
  // Gives warnings about written lines. It lives as long as the file. The default is nullptr.
  virtual LineReviewer* reviewer();
  // An open with O_TRUNC, or truncate(2), which fails if this does. The default does nothing: a
  // truncated definition is one about to be written, not one to be cleared.
  virtual Result<void> truncate(const CallContext& call);
};

class Directory {
 public:
  virtual ~Directory() = default;

  // Called before a name in it is looked up, or it is listed: entries that are made on demand are
  // entered now. The default does nothing.
  virtual void entered(Timestamp now);
  // mkdir in it. The default refuses (kNotPermitted).
  virtual Result<void> make_directory(std::string_view name, Timestamp now);
  // rmdir of a directory in it. The default refuses (kNotPermitted).
  virtual Result<void> remove_directory(std::string_view name, Timestamp now);
  // unlink of a file in it. The default refuses (kNotPermitted).
  virtual Result<void> remove_file(std::string_view name, Timestamp now);
  // Takes the place of File::hold() for an open file below it that is not in the tree again yet
  // after a reload. The default is nullptr.
  virtual std::shared_ptr<const void> hold() const;
};

}  // namespace tallyfs
