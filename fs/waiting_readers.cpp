#include "fs/waiting_readers.h"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

namespace tallyfs {

std::optional<std::string> next_piece(OpenFile& open, std::size_t bytes, Moment now) {
  const MutexLock lock(open.reading);
  std::string& rest = open.stream_rest;
  if (rest.empty()) rest = open.file->next(now);
  if (rest.empty()) {
    if (open.is_read && open.file->is_over()) return std::string();
    return std::nullopt;
  }
  open.is_read = true;
  std::size_t size = std::min(bytes, rest.size());
  const std::size_t line_end = size == rest.size() ? rest.npos : rest.rfind('\n', size - 1);
  if (line_end != rest.npos) size = line_end + 1;
  std::string piece = rest.substr(0, size);
  rest.erase(0, size);
  return piece;
}

void WaitingReaders::start() {
  const MutexLock lock(mutex_);
  start_thread();
}

void WaitingReaders::start_thread() {
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
}

void WaitingReaders::add_poller(fuse_pollhandle* handle, std::shared_ptr<const File> file,
                                std::uint64_t seen) {
  Poller poller{.handle = Handle(handle), .file = std::move(file), .seen = seen};
  {
    const MutexLock lock(mutex_);
    if (stopping_) return;
    if (readers_.pollers.size() < kPollersMax) {
      readers_.pollers.push_back(std::move(poller));
      start_thread();
    }
  }
  changed_.notify_one();
  if (poller.handle) fuse_lowlevel_notify_poll(poller.handle.get());
}

void WaitingReaders::add_read(fuse_req_t request, std::shared_ptr<OpenFile> open,
                              std::size_t bytes) {
  {
    const MutexLock lock(mutex_);
    if (!stopping_ && readers_.reads.size() < kReadsMax) {
      readers_.reads.push_back({request, std::move(open), bytes});
      request = nullptr;
      start_thread();
    }
  }
  if (request) fuse_reply_err(request, EAGAIN);
  changed_.notify_one();
}

void WaitingReaders::stop() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
  Readers left;
  {
    const MutexLock lock(mutex_);
    left = std::exchange(readers_, {});
  }
  for (const Read& read : left.reads) fuse_reply_err(read.request, ENODEV);
}

// Waits for the first reader, and kPeriod longer, so that one pass serves all readers that came.
WaitingReaders::Readers WaitingReaders::take_all() {
  const MutexLock lock(mutex_);
  while (!stopping_ && readers_.empty()) changed_.wait(mutex_);
  const auto until = std::chrono::steady_clock::now() + kPeriod;
  while (!stopping_ && changed_.wait_until(mutex_, until) != std::cv_status::timeout) {
  }
  return stopping_ ? Readers() : std::exchange(readers_, {});
}

void WaitingReaders::put_back(Readers readers) {
  const MutexLock lock(mutex_);
  std::ranges::move(readers.pollers, std::back_inserter(readers_.pollers));
  std::ranges::move(readers.reads, std::back_inserter(readers_.reads));
}

bool WaitingReaders::notify(const Poller& poller) {
  if (poller.file->news(clock_.now()) == poller.seen) return false;
  fuse_lowlevel_notify_poll(poller.handle.get());
  return true;
}

bool WaitingReaders::reply(const Read& read) {
  if (fuse_req_interrupted(read.request)) {
    fuse_reply_err(read.request, EINTR);
    return true;
  }
  const auto piece = next_piece(*read.open, read.bytes, clock_.now());
  if (!piece) return false;
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
