#include "fs/waiting_readers.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "fs/request_cancellation.h"

namespace tallyfs {

namespace {

std::optional<std::string> cut_piece(OpenFile& open, const Stream& stream, std::size_t bytes)
    REQUIRES(open.reading) {
  std::string& rest = open.stream_rest;
  if (rest.empty()) {
    if (open.is_read && stream.is_over()) return std::string();
    return std::nullopt;
  }
  open.is_read = true;
  std::size_t size = std::min(bytes, rest.size());
  const bool is_whole = size == rest.size() || stream.page_bytes() > 0;
  const std::size_t line_end = is_whole ? rest.npos : rest.rfind('\n', size - 1);
  if (line_end != rest.npos) size = line_end + 1;
  std::string piece = rest.substr(0, size);
  rest.erase(0, size);
  return piece;
}

}  // namespace

std::optional<std::string> next_piece(OpenFile& open, Stream& stream, std::size_t bytes,
                                      const CallContext& call) {
  {
    const MutexLock lock(open.reading);
    if (open.is_taking) return std::nullopt;
    if (!open.stream_rest.empty()) return cut_piece(open, stream, bytes);
    open.is_taking = true;
  }
  std::string taken = stream.next(call);
  const MutexLock lock(open.reading);
  open.is_taking = false;
  open.stream_rest = std::move(taken);
  return cut_piece(open, stream, bytes);
}

void WaitingReaders::start() {
  const MutexLock lock(mutex_);
  start_thread();
}

void WaitingReaders::start_thread() {
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
}

void WaitingReaders::add_poller(fuse_pollhandle* handle, HandleFile file,
                                std::uint64_t seen) {
  Poller poller{.handle = Handle(handle), .file = std::move(file), .seen = seen};
  {
    const MutexLock lock(mutex_);
    if (ending_) return;
    if (readers_.pollers.size() + passing_pollers_ < kPollersMax) {
      readers_.pollers.push_back(std::move(poller));
      start_thread();
    }
  }
  changed_.notify_one();
  if (poller.handle) fuse_lowlevel_notify_poll(poller.handle.get());
}

void WaitingReaders::add_read(fuse_req_t request, std::shared_ptr<OpenFile> open, std::size_t bytes,
                              Until until) {
  using SteadyClock = std::chrono::steady_clock;
  const auto deadline =
      until == Until::kSoon ? SteadyClock::now() + kSoonPeriod : SteadyClock::time_point::max();
  {
    const MutexLock lock(mutex_);
    if (!ending_ && readers_.reads.size() + passing_reads_ < kReadsMax) {
      readers_.reads.push_back({request, std::move(open), bytes, deadline});
      request = nullptr;
      start_thread();
    }
  }
  if (request) fuse_reply_err(request, EAGAIN);
  changed_.notify_one();
}

// All readers that wait, when the thread has ended.
WaitingReaders::Readers WaitingReaders::end() {
  {
    const MutexLock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
  const MutexLock lock(mutex_);
  return std::exchange(readers_, {});
}

void WaitingReaders::stop() {
  cancelling_ = true;
  const Readers left = end();
  for (const Read& read : left.reads) fuse_reply_err(read.request, ENODEV);
}

void WaitingReaders::leave(Kernel kernel) {
  const Readers left = end();
  if (kernel == Kernel::kResends) return;
  for (const Read& read : left.reads) fuse_reply_err(read.request, EINTR);
}

// Waits for the first reader, and kPeriod longer, so that one pass serves all readers that came.
WaitingReaders::Readers WaitingReaders::take_all() {
  const MutexLock lock(mutex_);
  while (!ending_ && readers_.empty()) changed_.wait(mutex_);
  const auto until = std::chrono::steady_clock::now() + kPeriod;
  while (!ending_ && changed_.wait_until(mutex_, until) != std::cv_status::timeout) {
  }
  if (ending_) return {};
  passing_pollers_ = readers_.pollers.size();
  passing_reads_ = readers_.reads.size();
  return std::exchange(readers_, {});
}

void WaitingReaders::put_back(Readers readers) {
  const MutexLock lock(mutex_);
  passing_pollers_ = passing_reads_ = 0;
  std::ranges::move(readers.pollers, std::back_inserter(readers_.pollers));
  std::ranges::move(readers.reads, std::back_inserter(readers_.reads));
}

bool WaitingReaders::notify(const Poller& poller) {
  if (news_of(*poller.file.current(), clock_.now()) == poller.seen) return false;
  fuse_lowlevel_notify_poll(poller.handle.get());
  return true;
}

CancellationToken WaitingReaders::cancellation_of(const Read& read) const {
  return CancellationToken([this, of_request = tallyfs::cancellation_of(read.request)] {
    return cancelling_ || of_request.is_cancelled();
  });
}

bool WaitingReaders::reply(const Read& read) {
  if (fuse_req_interrupted(read.request)) {
    fuse_reply_err(read.request, EINTR);
    return true;
  }
  const auto file = read.open->file.current();
  Stream* const stream = file->stream();
  const CallContext call(clock_.now(), cancellation_of(read));
  const auto piece = stream ? next_piece(*read.open, *stream, read.bytes, call) : std::string();
  if (!piece) {
    if (std::chrono::steady_clock::now() < read.deadline) return false;
    fuse_reply_err(read.request, EAGAIN);
    return true;
  }
  fuse_reply_buf(read.request, piece->data(), piece->size());
  return true;
}

void WaitingReaders::run() {
  for (;;) {
    Readers readers = take_all();
    if (readers.empty()) return;
    std::erase_if(readers.pollers, [this](const Poller& each) { return notify(each); });
    std::erase_if(readers.reads, [this](const Read& each) { return reply(each); });
    put_back(std::move(readers));
  }
}

}  // namespace tallyfs
