// The file of --positions: where each followed file continues, in memory that is shared with that
// file. What is stored there survives a kill of the feeder, as the file does.
//
// A record keeps device and inode, the offset behind the last line that was counted, and a
// checkpoint: an earlier offset with a hash of the 256 bytes before it, by which the file is known
// again. One store moves the offset; a checkpoint is written beside the one that counts.
// Bounds: 256 records. The file belongs to one feeder at a time. Confined to one thread.
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
// Of the bytes before `offset`. Nothing: the file has not so many, or cannot be read.
std::optional<Checkpoint> read_checkpoint(int fd, std::uint64_t offset);

// In the file, as this machine has numbers.
class PositionRecord {
 public:
  static constexpr std::size_t kPathMax = 415;

  bool is_used() const { return used_.load(std::memory_order_acquire) != 0; }
  FileIdentity identity() const { return {device_, inode_}; }
  std::string_view path() const { return {path_, path_bytes_}; }
  std::uint64_t offset() const { return offset_.load(std::memory_order_relaxed); }
  Checkpoint checkpoint() const;

  void begin(const FileIdentity& identity, std::string_view path, const Checkpoint& checkpoint);
  void store(std::uint64_t offset) { offset_.store(offset, std::memory_order_release); }
  void store(const Checkpoint& checkpoint);
  void end() { used_.store(0, std::memory_order_release); }
  // Whether the file has what it had at the checkpoint, and reaches to the offset.
  bool is_of(int fd) const;

 private:
  std::atomic<std::uint32_t> used_;
  std::atomic<std::uint32_t> current_;  // of the checkpoints
  std::uint64_t device_;
  std::uint64_t inode_;
  std::atomic<std::uint64_t> offset_;
  std::array<Checkpoint, 2> checkpoints_;
  std::uint32_t path_bytes_;
  char path_[kPathMax + 1];
};

class Positions {
 public:
  // Made if it is not there. kInvalid: it is no such file; kBusy: another feeder has it.
  static Result<Positions> open(const std::string& path);
  Positions(Positions&& other) noexcept;
  Positions& operator=(Positions&&) = delete;
  ~Positions();

  bool was_made() const { return was_made_; }
  // nullptr: there is none.
  PositionRecord* find(const FileIdentity& identity);
  // nullptr: there are 256.
  PositionRecord* add(const FileIdentity& identity, std::string_view path,
                      const Checkpoint& checkpoint);
  template <typename Visit>
  void each(Visit visit);

  // Lines that were counted, and whose position is not stored yet: after a kill so many count
  // twice. The line under way, which may count twice as well, is not among them.
  std::uint64_t lines_ahead() const;
  void set_lines_ahead(std::uint64_t lines);

  // When names were looked for last, by CLOCK_REALTIME; 0: never.
  std::chrono::nanoseconds scanned() const;
  void set_scanned(std::chrono::nanoseconds time);

  // Of the journal: where it continues. One store makes the new one count.
  std::string cursor() const;
  void store_cursor(std::string_view cursor);

  // Returns when it is on the disk.
  void sync();

 private:
  struct Content;
  Positions(Fd fd, Content* content, bool was_made)
      : fd_(std::move(fd)), content_(content), was_made_(was_made) {}
  PositionRecord* records();

  Fd fd_;
  Content* content_;
  bool was_made_;
};

template <typename Visit>
void Positions::each(Visit visit) {
  for (std::size_t i = 0; i < kFilesMax; ++i) {
    if (records()[i].is_used()) visit(records()[i]);
  }
}

}  // namespace tallyfs::logs
