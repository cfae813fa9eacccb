// The file of --positions: where each followed file continues, in memory that is shared with that
// file. What is stored there survives a kill of the feeder, as the file does.
//
// A record keeps device and inode, the offset after the last line that was counted, and
// checkpoints: earlier offsets with a hash of the 256 bytes before each, by which the file is known
// again. One store moves the offset; a checkpoint is written next to the one that counts. Two
// older ones, of a minute ago and more, are for a crash of the machine, after which a file may have
// lost its last bytes.
// A record stays when its file is no longer followed, until its place is needed: the file may
// return. Bounds: 256 records. The file belongs to one feeder at a time. Confined to one thread.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/fd.h"
#include "core/base/result.h"

namespace tallyfs::logs {

inline constexpr std::size_t kFilesMax = 256;

// Which file it is, whatever its name.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

struct Checkpoint {
  std::uint64_t offset = 0;
  std::uint64_t hash = 0;
  bool operator==(const Checkpoint&) const = default;
};
inline constexpr std::size_t kHashedBytes = 256;
// The checkpoint of the bytes before `offset`. Nothing: the file has fewer, or cannot be read.
std::optional<Checkpoint> read_checkpoint(int fd, std::uint64_t offset);
// The checkpoint of bytes that were read: `bytes` ends at `offset`, and has kHashedBytes or all.
Checkpoint checkpoint_of(std::string_view bytes, std::uint64_t offset);
// The checkpoint of offset 0, which every file has.
Checkpoint first_checkpoint();

// So many first bytes of a file are kept as they are: by them a copy is known that was made before
// the last bytes were counted.
inline constexpr std::size_t kHeadBytes = 124;

// The counted part of a file that has changed since.
struct CountedPart {
  Checkpoint checkpoint{};
  std::uint64_t offset = 0;
  std::string head{};  // its first bytes, kHeadBytes at most
};

// In the file, as this machine has numbers.
class PositionRecord {
 public:
  static constexpr std::size_t kPathMax = 415;

  bool is_used() const { return state_.load(std::memory_order_acquire) != kFree; }
  bool is_followed() const { return state_.load(std::memory_order_acquire) == kFollowed; }
  // Its place in the order in which files were let go.
  std::uint32_t let_go_order() const { return state_.load(std::memory_order_relaxed); }
  FileIdentity identity() const { return {device_, inode_}; }
  std::string_view path() const { return {path_, path_bytes_ < kPathMax ? path_bytes_ : kPathMax}; }
  std::uint64_t offset() const { return offset_.load(std::memory_order_relaxed); }
  Checkpoint checkpoint() const;

  void begin(const FileIdentity& identity, std::string_view path, const Checkpoint& checkpoint);
  void store(std::uint64_t offset) { offset_.store(offset, std::memory_order_release); }
  void store(const Checkpoint& checkpoint);
  void store_head(std::string_view head) { head_.store(head); }
  // The file was cut; `before` is what was counted before that, by which a copy is known after a
  // kill. A kill in between leaves an offset that is read from the start.
  void begin_again(const CountedPart& before);
  CountedPart counted() const;
  // The part that was counted before the file was last cut; its offset is 0 if it never was.
  CountedPart before_cut() const;
  // Devices may have other numbers after the machine was booted.
  void set_device(std::uint64_t device) { device_ = device; }
  // Makes the current checkpoint one of the older ones.
  void age_checkpoint();
  void follow() { state_.store(kFollowed, std::memory_order_release); }
  // The file is not followed any more; it was counted up to the offset. order: 1 or more.
  void let_go(std::uint32_t order) { state_.store(kFollowed + order, std::memory_order_release); }
  void end() { state_.store(kFree, std::memory_order_release); }

  // Whether the file has what it had at the checkpoint, and reaches to the offset.
  bool fits(int fd, std::uint64_t size) const;
  // The last checkpoint after the file's start at which it has what it had. Nothing: there is none.
  std::optional<Checkpoint> last_common(int fd, std::uint64_t size) const;

 private:
  struct Head {
    std::uint32_t bytes;
    char text[kHeadBytes];

    void store(std::string_view head);
    std::string get() const;
  };
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kFollowed = 1;

  std::atomic<std::uint32_t> state_;  // beyond kFollowed: let go
  std::atomic<std::uint32_t> current_;  // of the checkpoints
  std::uint64_t device_;
  std::uint64_t inode_;
  std::atomic<std::uint64_t> offset_;
  std::array<Checkpoint, 2> checkpoints_;
  std::array<Checkpoint, 2> older_;  // the younger one first
  Checkpoint before_checkpoint_;  // before the last cut, as the two that follow
  std::atomic<std::uint64_t> before_offset_;  // 0: there is none, or it is being written
  Head before_head_;
  Head head_;
  std::uint32_t path_bytes_;
  char path_[kPathMax + 1];
};

class Positions {
 public:
  // Made if it is not there. kInvalid: it is no such file; kBusy: another feeder has it. boot: when
  // the machine was booted, by CLOCK_REALTIME.
  static Result<Positions> open(const std::string& path, std::chrono::seconds boot = boot_time());
  // They last as long as the feeder, without a file.
  static Positions in_memory();
  static std::chrono::seconds boot_time();
  Positions(Positions&& other) noexcept;
  Positions& operator=(Positions&&) = delete;
  ~Positions();

  // In a file, not in this process alone.
  bool is_kept() const { return fd_.valid(); }
  bool was_made() const { return was_made_; }
  // It had zero bytes alone, as a crash of the machine may leave it, and has begun again.
  bool was_blank() const { return was_blank_; }
  // The machine was booted since it was used last: files may have lost their last bytes.
  bool was_booted() const { return was_booted_; }
  // After that was taken into account.
  void accept_boot();
  // nullptr: there is none.
  PositionRecord* find(const FileIdentity& identity);
  // In the place of the file that was let go first, if need be. nullptr: 256 are followed.
  PositionRecord* add(const FileIdentity& identity, std::string_view path,
                      const Checkpoint& checkpoint);
  template <typename Visit>
  void each(Visit visit);
  void let_go(PositionRecord& record);

  // Lines that were counted, and whose position is not stored yet: after a kill so many count
  // twice. The line under way, which may count twice as well, is not among them.
  std::uint64_t lines_ahead() const;
  void set_lines_ahead(std::uint64_t lines);

  // When names were looked for last, by CLOCK_REALTIME; 0: never.
  std::chrono::nanoseconds scanned() const;
  void set_scanned(std::chrono::nanoseconds time);

  // The place where the journal continues. One store makes the new one count.
  std::string cursor() const;
  void store_cursor(std::string_view cursor);

  // Returns when it is on the disk.
  void sync(std::chrono::nanoseconds now);

 private:
  struct Content;
  Positions(Fd fd, Content* content) : fd_(std::move(fd)), content_(content) {}
  void begin(std::chrono::seconds boot);
  PositionRecord* records();

  Fd fd_;
  Content* content_;
  std::chrono::seconds boot_{0};
  bool was_made_ = false;
  bool was_blank_ = false;
  bool was_booted_ = false;
  std::chrono::nanoseconds aged_{0};
};

template <typename Visit>
void Positions::each(Visit visit) {
  for (std::size_t i = 0; i < kFilesMax; ++i) {
    if (records()[i].is_used()) visit(records()[i]);
  }
}

}  // namespace tallyfs::logs
