// The requests on open files: reads, writes, polls.
#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "fs/operations.h"
#include "fs/replies.h"
#include "fs/request_cancellation.h"

namespace tallyfs {
namespace {

// The most bytes of files that are written at once. The kernel cuts longer writes, and a piece may
// be shorter than the most by nearly one page.
constexpr std::size_t kWholeWriteBytesMax = protocol::kMaxWriteBytes - 4096;
// The memory of shorter texts stays in the C library and is soon used again.
constexpr std::size_t kLongTextBytes = 1 << 19;
constexpr unsigned kNews = POLLIN | POLLRDNORM;
constexpr unsigned kAlways = kNews | POLLOUT | POLLWRNORM;

// The events of a file that counts news, of which `asked` are asked for.
unsigned events_of(OpenFile& open, std::uint64_t news, unsigned asked) {
  const MutexLock lock(open.reading);
  unsigned events = !open.stream_rest.empty() || news != open.seen ? kNews : 0;
  if ((asked & POLLPRI) && news != open.shown && open.file->has_priority_news()) {
    open.shown = news;
    events |= POLLPRI;
  }
  return events;
}

// As long as a splice may take that ends with a drain.
constexpr std::chrono::milliseconds kJustDrained{5};

bool was_just_drained(OpenFile& open, Moment now) {
  const MutexLock lock(open.reading);
  return open.drained >= now.monotonic - kJustDrained;
}
void note_drained(OpenFile& open, Moment now) {
  const MutexLock lock(open.reading);
  open.drained = now.monotonic;
}

}  // namespace

void Operations::read(fuse_req_t request, std::size_t size, off_t offset,
                      const fuse_file_info& info) {
  const auto open = handles_.find(info.fh);
  if (!open) return reply_error(request, gone());
  if (open->file->is_stream()) return read_stream(request, open, size, info);
  const auto later = text_with_news(info.fh, *open, offset, cancellation_of(request));
  if (!later) {
    note_refused_open(later.error(), open->uid, parts_.clock.now());
    return reply_error(request, later.error());
  }
  const std::string& text = later.value() ? *later.value() : open->text;
  const auto start = std::min(static_cast<std::size_t>(offset), text.size());
  fuse_reply_buf(request, text.data() + start, std::min(size, text.size() - start));
}

// Samples that were sent before are read here; a read that finds nothing waits in WaitingReaders.
//
// A splice(2) of pages reads one after the other until a read fails, and gives what it has. A drain
// takes more than a millisecond. So pages that are there are served without one, and one drain at
// the end of a splice is enough.
void Operations::read_stream(fuse_req_t request, std::shared_ptr<OpenFile> open, std::size_t size,
                             const fuse_file_info& info) {
  promote_follower();
  const CancellationToken cancel = cancellation_of(request);
  // A read(2) has an owner, a splice(2) has none.
  const bool is_splice = info.lock_owner == 0;
  std::optional<std::string> piece;
  if (open->file->page_bytes() > 0) piece = next_piece(*open, size, context(cancel));
  const bool may_end = is_splice && (info.flags & O_NONBLOCK) == 0;
  if (!piece && may_end && was_just_drained(*open, parts_.clock.now())) {
    fuse_reply_err(request, EAGAIN);
    return;
  }
  if (!piece) {
    open->file->opened(context(cancel));
    settle();
    note_drained(*open, parts_.clock.now());
    piece = next_piece(*open, size, context(cancel));
  }
  if (piece) {
    fuse_reply_buf(request, piece->data(), piece->size());
  } else if (info.flags & O_NONBLOCK) {
    fuse_reply_err(request, EAGAIN);
  } else {
    waiting_.add_read(request, std::move(open), size,
                      is_splice ? WaitingReaders::Until::kSoon : WaitingReaders::Until::kNews);
  }
}

// In a file that has news, a read from the start renders the text anew. Nullptr: the text of the
// open is served.
Result<std::shared_ptr<const std::string>> Operations::text_with_news(
    std::uint64_t handle, OpenFile& open, off_t offset, const CancellationToken& cancel) {
  const auto news = open.may_have_news ? open.file->news(parts_.clock.now()) : std::nullopt;
  if (!news) return std::shared_ptr<const std::string>();
  bool is_again = false;
  {
    const MutexLock lock(open.reading);
    is_again = offset == 0 && open.is_read && *news != open.news;
    if (offset == 0) open.is_read = true;
    if (!is_again) {
      open.seen = open.shown = open.news;
      return open.later_text;
    }
  }
  promote_follower();
  auto text = open.file->render(context(cancel), handles_.bytes_left(open.uid));
  if (!text) return Error{ErrorCode::kTooManyFiles, text.error().reason};
  text.value().shrink_to_fit();
  const MutexLock lock(open.reading);
  if (auto counted = handles_.replace_later(handle, text.value().size()); !counted) {
    return counted.error();
  }
  open.later_text = std::make_shared<const std::string>(std::move(text.value()));
  open.news = open.seen = open.shown = *news;
  return open.later_text;
}

void Operations::poll(fuse_req_t request, const fuse_file_info& info, fuse_pollhandle* handle) {
  const auto open = handles_.find(info.fh);
  const auto news = open ? open->file->news(parts_.clock.now()) : std::nullopt;
  // A kernel that does not tell the events asks for all.
  const unsigned asked = info.poll_events ? info.poll_events : kAlways | POLLPRI;
  unsigned events = kAlways;
  if (news) {
    events = events_of(*open, *news, asked);
    if (handle && (events & asked) == 0) {
      waiting_.add_poller(std::exchange(handle, nullptr), open->file, *news);
    }
  }
  if (handle) fuse_pollhandle_destroy(handle);
  fuse_reply_poll(request, events);
}

LineSink Operations::sink(const OpenFile& open, const CancellationToken& cancel) {
  return {.apply = [this, &open, cancel](std::string_view line) -> Result<void> {
            if (!parts_.tree.info(open.node.id)) return gone();
            const CallContext call = context(cancel, open.uid);
            const auto done = open.file->write_line(line, call);
            if (!done) return done;
            if (const auto remark = open.file->remark(line)) {
              parts_.errors.warn({ErrorLog::Source::kMount, open.uid}, open.location, line, *remark,
                                 call.now);
            }
            return {};
          },
          .report =
              [this, &open](std::string_view text, const Error& error) {
                open.file->note_refused_line();
                report(open, text, error);
              }};
}

void Operations::report(const OpenFile& open, std::string_view text, const Error& error) {
  const Moment now = parts_.clock.now();
  parts_.errors.report({ErrorLog::Source::kMount, open.uid}, open.location, text, error, now);
  parts_.counters.count(DaemonCounter::kRejects, 1, now);
}

// The offset of the write does not matter: the kernel's own files of this kind have no offsets.
Result<void> Operations::write_whole(OpenFile& open, pid_t writer, std::string_view text,
                                     const CancellationToken& cancel) {
  std::string whole = std::exchange(open.begun, {});
  whole.append(text);
  if (whole.size() > kWholeWriteBytesMax) {
    const Error error{ErrorCode::kTooBig, "more than can be written at once"};
    report(open, text, error);
    return error;
  }
  if (open.file->write_unit() == File::WriteUnit::kCommand && whole.ends_with("\\\n")) {
    open.begun = std::move(whole);
    return {};
  }
  const CallContext call = context(cancel, open.uid);
  Result<void> done =
      parts_.tree.info(open.node.id) ? open.file->write_by(writer, whole, call) : gone();
  if (done) return done;
  if (whole.ends_with('\n')) whole.pop_back();
  report(open, whole, done.error());
  return done;
}

// A command that was continued is complete: no more text follows.
Result<void> Operations::finish(OpenFile& open, pid_t writer) {
  if (open.begun.empty()) return open.transaction.finish(sink(open, {}));
  open.begun.resize(open.begun.size() - 2);
  return write_whole(open, writer, {}, {});
}

void Operations::write(fuse_req_t request, std::string_view text, off_t offset,
                       const fuse_file_info& info) {
  const auto open = handles_.find(info.fh);
  if (!open) return reply_error(request, gone());
  promote_follower();
  const Placement placement{static_cast<std::uint64_t>(offset), open->append};
  const auto unit = open->file->write_unit();
  const bool by_lines = unit == File::WriteUnit::kLine;
  const CancellationToken cancel = cancellation_of(request);
  if (!by_lines) text = text.substr(0, open->file->write_bytes_max());
  // Samples that were sent before count under the old settings, however long the file has been
  // open.
  const bool is_whole = unit == File::WriteUnit::kWrite || unit == File::WriteUnit::kMarker;
  if (!is_whole) settle(open->file->subject());
  Result<void> done;
  {
    const MutexLock lock(open->writing);
    done = by_lines ? open->transaction.write(text, placement, sink(*open, cancel))
                    : write_whole(*open, fuse_req_ctx(request)->pid, text, cancel);
  }
  // Of a write that fails, some lines may have been carried out.
  if (unit != File::WriteUnit::kMarker) tell_of_change(open->node.id);
  if (!done) return reply_error(request, done.error());
  if (notifier_) notifier_->settle();
  fuse_reply_write(request, text.size());
}

// Is never cancelled: a process that is killed has its flush interrupted, and gets no error.
void Operations::flush(fuse_req_t request, const fuse_file_info& info) {
  const auto open = handles_.find(info.fh);
  if (!open) return reply_done(request, {});
  promote_follower();
  Result<void> done;
  {
    const MutexLock lock(open->writing);
    done = finish(*open, fuse_req_ctx(request)->pid);
  }
  if (open->file->write_unit() != File::WriteUnit::kMarker) tell_of_change(open->node.id);
  if (notifier_) notifier_->settle();
  reply_done(request, done);
}

void Operations::release(fuse_req_t request, const fuse_file_info& info) {
  if (handles_.remove(info.fh) >= kLongTextBytes) closed_long_ = true;
  fuse_reply_err(request, 0);
}

}  // namespace tallyfs
