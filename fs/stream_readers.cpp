#include "fs/stream_readers.h"

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

void StreamReaders::add(fuse_req_t request, std::shared_ptr<OpenFile> open, std::size_t bytes) {
  {
    const MutexLock lock(mutex_);
    if (!stopping_ && readers_.size() < kReadersMax) {
      readers_.push_back({request, std::move(open), bytes});
      request = nullptr;
      if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    }
  }
  if (request) fuse_reply_err(request, EAGAIN);
  changed_.notify_one();
}

void StreamReaders::stop() {
  std::vector<Reader> left;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
  {
    const MutexLock lock(mutex_);
    left = std::exchange(readers_, {});
  }
  for (const Reader& reader : left) fuse_reply_err(reader.request, ENODEV);
}

std::vector<StreamReaders::Reader> StreamReaders::take_all() {
  const MutexLock lock(mutex_);
  while (!stopping_ && readers_.empty()) changed_.wait(mutex_);
  const auto until = std::chrono::steady_clock::now() + kPeriod;
  while (!stopping_ && changed_.wait_until(mutex_, until) != std::cv_status::timeout) {
  }
  return stopping_ ? std::vector<Reader>() : std::exchange(readers_, {});
}

bool StreamReaders::serve(const Reader& reader) {
  if (fuse_req_interrupted(reader.request)) {
    fuse_reply_err(reader.request, EINTR);
    return true;
  }
  const auto piece = next_piece(*reader.open, reader.bytes, clock_.now());
  if (!piece) return false;
  fuse_reply_buf(reader.request, piece->data(), piece->size());
  return true;
}

void StreamReaders::run() {
  for (;;) {
    std::vector<Reader> waiting = take_all();
    if (waiting.empty()) return;
    std::erase_if(waiting, [this](const Reader& reader) { return serve(reader); });
    const MutexLock lock(mutex_);
    std::move(waiting.begin(), waiting.end(), std::back_inserter(readers_));
  }
}

}  // namespace tallyfs
