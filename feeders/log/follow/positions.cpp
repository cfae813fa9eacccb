#include "feeders/log/follow/positions.h"

#define XXH_INLINE_ALL  // its functions are part of this file, and no library is linked
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace tallyfs::logs {

namespace {

constexpr std::uint64_t kMagic = 0x31676f6c796c6174;  // "tallylog1", as far as it fits
constexpr std::size_t kCursorMax = 500;

Error refused_file(const std::string& path, const char* what) {
  return invalid("--positions " + path + ": " + what);
}

// Locked, and of its size. was_made: it was empty.
Result<Fd> open_file(const std::string& path, std::size_t bytes, bool& was_made) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return refused_file(path, std::strerror(errno));
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    return Error{ErrorCode::kBusy, "--positions " + path + ": another feeder uses it"};
  }
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return refused_file(path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return refused_file(path, "this is no regular file");
  was_made = status.st_size == 0;
  if (!was_made && static_cast<std::size_t>(status.st_size) != bytes) {
    return refused_file(path, "this is no file of positions, or of another version");
  }
  // All of its blocks, so that no store into it fails later.
  const int full = was_made ? ::posix_fallocate(fd.get(), 0, static_cast<off_t>(bytes)) : 0;
  if (full != 0) return refused_file(path, std::strerror(full));
  return fd;
}

}  // namespace

struct Positions::Content {
  struct CursorText {
    std::uint32_t bytes;
    char text[kCursorMax];
  };

  std::uint64_t magic;
  std::atomic<std::uint64_t> lines_ahead;
  std::atomic<std::int64_t> scanned_ns;
  std::atomic<std::uint32_t> current_cursor;
  std::array<CursorText, 2> cursors;
  std::array<PositionRecord, kFilesMax> records;
};

std::optional<Checkpoint> read_checkpoint(int fd, std::uint64_t offset) {
  char bytes[kHashedBytes];
  const std::size_t wanted = std::min<std::uint64_t>(offset, kHashedBytes);
  const ssize_t read = ::pread(fd, bytes, wanted, static_cast<off_t>(offset - wanted));
  if (read != static_cast<ssize_t>(wanted)) return std::nullopt;
  return Checkpoint{offset, ::XXH3_64bits(bytes, wanted)};
}

// ---- a record

Checkpoint PositionRecord::checkpoint() const {
  return checkpoints_[current_.load(std::memory_order_acquire) & 1];
}

void PositionRecord::begin(const FileIdentity& identity, std::string_view path,
                           const Checkpoint& checkpoint) {
  device_ = identity.device;
  inode_ = identity.inode;
  path_bytes_ = static_cast<std::uint32_t>(std::min(path.size(), kPathMax));
  path.copy(path_, path_bytes_);
  checkpoints_[0] = checkpoint;
  current_.store(0, std::memory_order_relaxed);
  offset_.store(checkpoint.offset, std::memory_order_relaxed);
  used_.store(1, std::memory_order_release);
}

void PositionRecord::store(const Checkpoint& checkpoint) {
  const std::uint32_t next = (current_.load(std::memory_order_relaxed) + 1) & 1;
  checkpoints_[next] = checkpoint;
  current_.store(next, std::memory_order_release);
}

bool PositionRecord::is_of(int fd) const {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return false;
  if (FileIdentity{status.st_dev, status.st_ino} != identity()) return false;
  const Checkpoint known = checkpoint();
  const bool reaches = static_cast<std::uint64_t>(status.st_size) >= offset();
  return reaches && known.offset <= offset() && read_checkpoint(fd, known.offset) == known;
}

// ---- the file

Result<Positions> Positions::open(const std::string& path) {
  bool was_made = false;
  auto fd = open_file(path, sizeof(Content), was_made);
  if (!fd) return fd.error();
  void* const at =
      ::mmap(nullptr, sizeof(Content), PROT_READ | PROT_WRITE, MAP_SHARED, fd.value().get(), 0);
  if (at == MAP_FAILED) return refused_file(path, std::strerror(errno));
  auto* const content = static_cast<Content*>(at);
  // A feeder that was killed before this store left an empty one.
  if (was_made) content->magic = kMagic;
  Positions positions(std::move(fd.value()), content, was_made);
  if (content->magic != kMagic) return refused_file(path, "this is no file of positions");
  return positions;
}

Positions::Positions(Positions&& other) noexcept
    : fd_(std::move(other.fd_)),
      content_(std::exchange(other.content_, nullptr)),
      was_made_(other.was_made_) {}

Positions::~Positions() {
  if (content_) ::munmap(content_, sizeof *content_);
}

PositionRecord* Positions::records() { return content_->records.data(); }

PositionRecord* Positions::find(const FileIdentity& identity) {
  PositionRecord* found = nullptr;
  each([&](PositionRecord& record) {
    if (record.identity() == identity) found = &record;
  });
  return found;
}

PositionRecord* Positions::add(const FileIdentity& identity, std::string_view path,
                               const Checkpoint& checkpoint) {
  for (PositionRecord& record : content_->records) {
    if (record.is_used()) continue;
    record.begin(identity, path, checkpoint);
    return &record;
  }
  return nullptr;
}

std::uint64_t Positions::lines_ahead() const {
  return content_->lines_ahead.load(std::memory_order_relaxed);
}

void Positions::set_lines_ahead(std::uint64_t lines) {
  content_->lines_ahead.store(lines, std::memory_order_release);
}

std::chrono::nanoseconds Positions::scanned() const {
  return std::chrono::nanoseconds(content_->scanned_ns.load(std::memory_order_relaxed));
}

void Positions::set_scanned(std::chrono::nanoseconds time) {
  content_->scanned_ns.store(time.count(), std::memory_order_relaxed);
}

std::string Positions::cursor() const {
  const Content::CursorText& cursor =
      content_->cursors[content_->current_cursor.load(std::memory_order_acquire) & 1];
  return {cursor.text, std::min<std::size_t>(cursor.bytes, kCursorMax)};
}

void Positions::store_cursor(std::string_view cursor) {
  const std::uint32_t next = (content_->current_cursor.load(std::memory_order_relaxed) + 1) & 1;
  Content::CursorText& place = content_->cursors[next];
  place.bytes = static_cast<std::uint32_t>(std::min(cursor.size(), kCursorMax));
  cursor.copy(place.text, place.bytes);
  content_->current_cursor.store(next, std::memory_order_release);
}

void Positions::sync() { ::msync(content_, sizeof *content_, MS_SYNC); }

}  // namespace tallyfs::logs
