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

// The memory of shorter texts stays in the C library and is soon used again.
constexpr std::size_t kLongTextBytes = 1 << 19;
constexpr unsigned kNews = POLLIN | POLLRDNORM;
constexpr unsigned kAlways = kNews | POLLOUT | POLLWRNORM;

// The events of a file that counts news, or of a stream, of which `asked` are asked for. POLLPRI is
// for news since the last open, read or poll(2) that showed it; a stream shows none.
unsigned events_of(OpenFile& open, File& file, std::uint64_t news, unsigned asked) {
  const MutexLock lock(open.reading);
  unsigned events = !open.stream_rest.empty() || news != open.seen ? kNews : 0;
  if ((asked & POLLPRI) && news != open.shown && !file.stream()) {
    open.shown = news;
    events |= POLLPRI;
  }
  return events;
}

// The longest time of a splice that ends with a drain.
constexpr std::chrono::milliseconds kJustDrained{5};

bool was_just_drained(OpenFile& open, Timestamp now) {
  const MutexLock lock(open.reading);
  return open.drained >= now.monotonic - kJustDrained;
}
void note_drained(OpenFile& open, Timestamp now) {
  const MutexLock lock(open.reading);
  open.drained = now.monotonic;
}

}  // namespace

void Operations::read(fuse_req_t request, std::size_t size, off_t offset,
                      const fuse_file_info& info) {
  const auto open = handles_.find(info.fh);
  if (!open) return reply_error(request, gone());
  const auto file = open->file.current();
  if (Stream* const stream = file->stream()) {
    return read_stream(request, open, *file, *stream, size, info);
  }
  const auto later = text_with_news(info.fh, *open, *file, offset, cancellation_of(request));
  if (!later) {
    note_refused_open(later.error(), open->uid, dependencies_.clock.now());
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
void Operations::read_stream(fuse_req_t request, std::shared_ptr<OpenFile> open, File& file,
                             Stream& stream, std::size_t size, const fuse_file_info& info) {
  barrier_.promote_follower();
  const CancellationToken cancel = cancellation_of(request);
  // A read(2) has an owner, a splice(2) has none.
  const bool is_splice = info.lock_owner == 0;
  std::optional<std::string> piece;
  if (stream.page_bytes() > 0) piece = next_piece(*open, stream, size, context(cancel));
  const bool may_end = is_splice && (info.flags & O_NONBLOCK) == 0;
  if (!piece && may_end && was_just_drained(*open, dependencies_.clock.now())) {
    fuse_reply_err(request, EAGAIN);
    return;
  }
  if (!piece) {
    file.opened(context(cancel));
    barrier_.drain_feeders();
    note_drained(*open, dependencies_.clock.now());
    piece = next_piece(*open, stream, size, context(cancel));
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
    std::uint64_t handle, OpenFile& open, const File& file, off_t offset,
    const CancellationToken& cancel) {
  const auto news = open.may_have_news ? file.news(dependencies_.clock.now()) : std::nullopt;
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
  barrier_.promote_follower();
  auto text = file.render(context(cancel), handles_.bytes_left(open.uid));
  if (!text) return refusal_of_text(text.error());
  text.value().shrink_to_fit();
  std::shared_ptr<const std::string> later;
  {
    const MutexLock lock(open.reading);
    if (auto counted = handles_.replace_later(handle, text.value().size()); !counted) {
      return counted.error();
    }
    later = std::make_shared<const std::string>(std::move(text.value()));
    open.later_text = later;
    open.news = open.seen = open.shown = *news;
  }
  open_files_.keep(handle, open);
  return later;
}

void Operations::poll(fuse_req_t request, const fuse_file_info& info, fuse_pollhandle* handle) {
  const auto open = handles_.find(info.fh);
  const auto file = open ? open->file.current() : nullptr;
  const auto news = file ? news_of(*file, dependencies_.clock.now()) : std::nullopt;
  // A kernel that does not tell the events asks for all.
  const unsigned asked = info.poll_events ? info.poll_events : kAlways | POLLPRI;
  unsigned events = kAlways;
  if (news) {
    events = events_of(*open, *file, *news, asked);
    if (handle && (events & asked) == 0) {
      waiting_.add_poller(std::exchange(handle, nullptr), open->file, *news);
    }
  }
  if (handle) fuse_pollhandle_destroy(handle);
  fuse_reply_poll(request, events);
}

void Operations::write(fuse_req_t request, std::string_view text, off_t offset,
                       const fuse_file_info& info) {
  const auto open = handles_.find(info.fh);
  if (!open) return reply_error(request, gone());
  if (const auto error = answer_before(*open)) {
    return *error == 0 ? void(fuse_reply_write(request, text.size()))
                       : void(fuse_reply_err(request, *error));
  }
  barrier_.promote_follower();
  const Placement placement{static_cast<std::uint64_t>(offset), open->append};
  const auto file = open->file.current();
  const Marker* const marker = file->marker();
  if (marker) text = text.substr(0, marker->bytes_max());
  // Samples that were sent before count under the old settings, however long the file has been
  // open.
  if (file->write_unit() != File::WriteUnit::kWrite) barrier_.drain_feeders(file->subject());
  Result<void> done;
  {
    const MutexLock lock(open->writing);
    done = writes_.write(*open, *file, fuse_req_ctx(request)->pid, text, placement,
                         cancellation_of(request));
  }
  // A write that fails may have carried out some of its lines.
  if (!marker) keep_written(info.fh, *open, done);
  if (!done) return reply_error(request, done.error());
  if (notifier_) notifier_->wait_for_notices();
  fuse_reply_write(request, text.size());
}

// The outcome is kept with the line that was begun, as one object. Between the two saves a kill
// lets the write be carried out again.
void Operations::keep_written(std::uint64_t handle, OpenFile& open, const Result<void>& done) {
  if (tell_of_change(open.node.id)) {
    const MutexLock lock(open.writing);
    open.answered = request_in_work.number;
    open.answer = errno_of(done);
  }
  open_files_.keep(handle, open);
}

std::optional<int> Operations::answer_before(OpenFile& open) {
  const MutexLock lock(open.writing);
  if (open.answered == 0 || open.answered != request_in_work.number) return std::nullopt;
  return open.answer;
}

// Is never cancelled: a process that is killed has its flush interrupted, and gets no error.
void Operations::flush(fuse_req_t request, const fuse_file_info& info) {
  const auto open = handles_.find(info.fh);
  if (!open) return reply_done(request, {});
  if (const auto error = answer_before(*open)) return void(fuse_reply_err(request, *error));
  barrier_.promote_follower();
  const auto file = open->file.current();
  Result<void> done;
  {
    const MutexLock lock(open->writing);
    done = writes_.finish(*open, *file, fuse_req_ctx(request)->pid);
  }
  if (!file->marker()) keep_written(info.fh, *open, done);
  if (notifier_) notifier_->wait_for_notices();
  reply_done(request, done);
}

void Operations::release(fuse_req_t request, const fuse_file_info& info) {
  close(info.fh);
  fuse_reply_err(request, 0);
}

void Operations::close(std::uint64_t handle) {
  const auto open = handles_.find(handle);
  if (!open) return;
  if (handles_.remove(handle) >= kLongTextBytes) closed_long_ = true;
  open_files_.forget(handle, *open);
}

}  // namespace tallyfs
