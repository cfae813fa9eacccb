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
#include <ctime>
#include <new>
#include <utility>

#include "core/base/clock.h"

namespace tallyfs::logs {

namespace {

constexpr std::uint64_t kMagic = 0x33676f6c796c6174;  // "talylog3"
constexpr std::size_t kCursorMax = 500;
// Linux has a file on the disk so long after it was written (dirty_expire_centisecs).
constexpr std::chrono::seconds kAgePeriod{60};

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
  std::int64_t boot_s;
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

Checkpoint checkpoint_of(std::string_view bytes, std::uint64_t offset) {
  const std::size_t hashed = std::min<std::uint64_t>(offset, kHashedBytes);
  return {offset, ::XXH3_64bits(bytes.data() + bytes.size() - hashed, hashed)};
}

Checkpoint first_checkpoint() { return {0, ::XXH3_64bits("", 0)}; }

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
  checkpoints_.fill(checkpoint);
  older_.fill(checkpoint);
  before_offset_ = 0;
  head_.bytes = 0;
  current_.store(0, std::memory_order_relaxed);
  offset_.store(checkpoint.offset, std::memory_order_relaxed);
  follow();
}

void PositionRecord::store(const Checkpoint& checkpoint) {
  const std::uint32_t next = (current_.load(std::memory_order_relaxed) + 1) & 1;
  checkpoints_[next] = checkpoint;
  current_.store(next, std::memory_order_release);
}

void PositionRecord::Head::store(std::string_view head) {
  bytes = static_cast<std::uint32_t>(head.copy(text, kHeadBytes));
}

std::string PositionRecord::Head::get() const {
  return std::string(text, std::min<std::size_t>(bytes, kHeadBytes));
}

CountedPart PositionRecord::counted() const {
  // A kill may have come while the position began again: the offset is smaller then.
  const Checkpoint known = checkpoint();
  return {known, std::max(offset(), known.offset), head_.get()};
}

CountedPart PositionRecord::before_cut() const {
  return {before_checkpoint_, before_offset_, before_head_.get()};
}

void PositionRecord::begin_again(const CountedPart& before) {
  if (before.checkpoint.offset != 0 && older_[0] != before.checkpoint) {
    older_[1] = older_[0];
    older_[0] = before.checkpoint;
  }
  before_offset_.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  before_checkpoint_ = before.checkpoint;
  before_head_.store(before.head);
  before_offset_.store(before.offset, std::memory_order_release);
  head_.bytes = 0;
  store(0);
  store(first_checkpoint());
}

void PositionRecord::age_checkpoint() {
  if (older_[0] == checkpoint()) return;
  older_[1] = older_[0];
  older_[0] = checkpoint();
}

bool PositionRecord::fits(int fd, std::uint64_t size) const {
  const Checkpoint known = checkpoint();
  return size >= offset() && known.offset <= offset() && read_checkpoint(fd, known.offset) == known;
}

std::optional<Checkpoint> PositionRecord::last_common(int fd, std::uint64_t size) const {
  std::optional<Checkpoint> last;
  for (const auto& known : {checkpoints_[0], checkpoints_[1], older_[0], older_[1]}) {
    const bool is_later = known.offset > (last ? last->offset : 0) && known.offset <= size;
    if (is_later && read_checkpoint(fd, known.offset) == known) last = known;
  }
  return last;
}

// ---- the file

Result<Positions> Positions::open(const std::string& path, std::chrono::seconds boot) {
  bool was_made = false;
  auto fd = open_file(path, sizeof(Content), was_made);
  if (!fd) return fd.error();
  void* const at =
      ::mmap(nullptr, sizeof(Content), PROT_READ | PROT_WRITE, MAP_SHARED, fd.value().get(), 0);
  if (at == MAP_FAILED) return refused_file(path, std::strerror(errno));
  Positions positions(std::move(fd.value()), static_cast<Content*>(at));
  positions.was_made_ = was_made;
  positions.begin(boot);
  if (positions.content_->magic != kMagic) {
    return refused_file(path, "this is no file of positions, or of another version");
  }
  return positions;
}

// A file of zero bytes alone was left by a crash of the machine, or by a kill before the first
// store.
void Positions::begin(std::chrono::seconds boot) {
  const auto* const bytes = reinterpret_cast<const char*>(content_);
  const std::string_view all(bytes, sizeof *content_);
  if (all.find_first_not_of('\0') == all.npos) {
    was_blank_ = !std::exchange(was_made_, true);
    content_->magic = kMagic;
    content_->boot_s = boot.count();
  }
  boot_ = boot;
  // Clocks are set while a machine runs, and no crash is suspected where none was.
  constexpr std::chrono::seconds kTolerance{10};
  was_booted_ = std::chrono::abs(std::chrono::seconds(content_->boot_s) - boot) > kTolerance;
}

Positions Positions::in_memory() {
  void* const at = ::mmap(nullptr, sizeof(Content), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  Positions positions(Fd(), static_cast<Content*>(at));
  positions.begin(std::chrono::seconds(0));
  return positions;
}

// The unit hides /proc/sys, which has an id of the boot.
std::chrono::seconds Positions::boot_time() {
  timespec booted{};
  ::clock_gettime(CLOCK_BOOTTIME, &booted);
  const auto now = std::chrono::floor<std::chrono::seconds>(SystemClock::realtime());
  return now - std::chrono::seconds(booted.tv_sec);
}

void Positions::accept_boot() { content_->boot_s = boot_.count(); }

Positions::Positions(Positions&& other) noexcept
    : fd_(std::move(other.fd_)),
      content_(std::exchange(other.content_, nullptr)),
      boot_(other.boot_),
      was_made_(other.was_made_),
      was_blank_(other.was_blank_),
      was_booted_(other.was_booted_) {}

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
  PositionRecord* const place = &*std::ranges::min_element(
      content_->records, {}, [](const PositionRecord& record) {
        return record.is_followed() ? UINT32_MAX : record.let_go_order();
      });
  if (place->is_followed()) return nullptr;
  place->begin(identity, path, checkpoint);
  return place;
}

void Positions::let_go(PositionRecord& record) {
  std::uint32_t last = 1;
  each([&](const PositionRecord& other) { last = std::max(last, other.let_go_order()); });
  record.let_go(last);
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

// One that is cut would be none.
void Positions::store_cursor(std::string_view cursor) {
  if (cursor.size() > kCursorMax) return;
  const std::uint32_t next = (content_->current_cursor.load(std::memory_order_relaxed) + 1) & 1;
  Content::CursorText& place = content_->cursors[next];
  place.bytes = static_cast<std::uint32_t>(cursor.size());
  cursor.copy(place.text, place.bytes);
  content_->current_cursor.store(next, std::memory_order_release);
}

void Positions::sync(std::chrono::nanoseconds now) {
  if (aged_.count() == 0) aged_ = now;
  if (now - aged_ >= kAgePeriod) {
    aged_ = now;
    each([](PositionRecord& record) { record.age_checkpoint(); });
  }
  ::msync(content_, sizeof *content_, MS_SYNC);
}

}  // namespace tallyfs::logs
