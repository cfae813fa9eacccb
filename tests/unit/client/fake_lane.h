// A lane as a daemon makes it (core/lane/FORMAT.md): shapes, the file, the page of tails; and how
// the daemon reads the rings in it. Confined to the calling thread.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/base/fd.h"
#include "core/lane/layout.h"
#include "core/lane/ring_reader.h"

namespace tallyfs {

class SealedMemory {
 public:
  explicit SealedMemory(std::size_t bytes)
      : bytes_(bytes), fd_(::memfd_create("lane", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    EXPECT_EQ(::ftruncate(fd_.get(), static_cast<off_t>(bytes)), 0);
    address_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
    EXPECT_NE(address_, MAP_FAILED);
    EXPECT_EQ(::fcntl(fd_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
  }
  ~SealedMemory() { ::munmap(address_, bytes_); }
  SealedMemory(const SealedMemory&) = delete;
  SealedMemory& operator=(const SealedMemory&) = delete;

  const Fd& fd() const { return fd_; }
  std::size_t bytes() const { return bytes_; }
  template <typename As>
  As* as() const {
    return static_cast<As*>(address_);
  }

 private:
  std::size_t bytes_;
  Fd fd_;
  void* address_ = nullptr;
};

class FakeLane {
 public:
  static constexpr std::uint64_t kNumber = 12;

  // The daemon makes the file.
  void make_file(std::size_t bytes) {
    file = std::make_unique<SealedMemory>(bytes);
    auto& header = *file->as<LaneHeader>();
    header.magic = kLaneMagic;
    header.bytes = bytes;
  }
  LaneEntry& entry(std::size_t thread = 0) {
    return reinterpret_cast<LaneEntry*>(file->as<std::byte>() + kLaneEntriesAt)[thread];
  }
  LaneTails& page() { return *tails.as<LaneTails>(); }
  // What is in the ring of a thread, up to so many.
  std::vector<RingRecord> take(std::size_t most = SIZE_MAX, std::size_t thread = 0) {
    std::vector<RingRecord> all;
    LaneTail& tail = page().tails[thread];
    auto reader = RingReader::open({file->as<std::byte>(), file->bytes()}, entry(thread).ring,
                                   tail.position);
    if (!reader) return all;
    const std::uint64_t head = entry(thread).head;
    EXPECT_TRUE(reader->accept(head));
    RingRecord record;
    while (all.size() < most && reader->take(head, {&record, 1}).records != 0) {
      all.push_back(record);
    }
    tail.samples += all.size();
    tail.position = reader->position();
    return all;
  }

  SealedMemory shapes{64 * 1024};
  SealedMemory tails{32 * 1024};
  std::unique_ptr<SealedMemory> file;
  std::map<std::uint32_t, std::uint64_t> bound;  // numbers by the feeder's ids
};

}  // namespace tallyfs
