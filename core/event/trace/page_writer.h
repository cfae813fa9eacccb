// Writes a page of the kernel's ring buffer, as programs read it from trace_pipe_raw. The page's
// description in the kernel's words is kRingPageFormat and kRingEntryFormat;
// feeders/tracefs/ring_page.h reads such pages.
//
//   u64 time of the first record, in ns
//   u64 commit: in the lower 30 bits, the bytes of records. Bit 31: records before this page are
//       missing. Bit 30: their number stands as u64 behind the records
//   up to 4,080 bytes of records
//
// A record begins with a u32: type_len in the lower 5 bits, time_delta in the upper 27. type_len is
// the number of 4-byte words that follow; 0 says that a u32 follows, which is the number of bytes
// with itself, and then the words. A time that 27 bits do not hold has an entry of its own before
// the record: a time extend (type_len 30), or a time stamp (31) if the time goes back.
//
// Confined to its thread. A record has 1 to kRecordBytesMax bytes, and is padded with zeros to
// whole words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tallyfs {

class PageWriter {
 public:
  static constexpr std::size_t kPageBytes = 4096;
  static constexpr std::size_t kHeadBytes = 16;
  static constexpr std::size_t kRecordBytesMax = kPageBytes - kHeadBytes - 8;

  // Records that are missing before the page's first record.
  struct Missing {
    std::uint64_t number = 0;
    bool is_at_least = false;  // it is unknown how many more there are

    bool any() const { return number > 0 || is_at_least; }
  };

  PageWriter();

  void miss(const Missing& missing) { missing_ = missing; }
  // The place of a record of that size, filled with zeros, which the caller fills in. nullptr: the
  // page has no room for it, and is as before.
  char* add(std::uint64_t time_ns, std::size_t bytes);
  bool is_empty() const { return used_ == 0; }
  // The page, of kPageBytes. Nothing can be added afterwards.
  std::string finish();

 private:
  void put(std::uint32_t word);
  void put_entry(std::uint32_t type_len, std::uint64_t time);

  std::string page_;
  std::size_t used_ = 0;  // behind the head
  std::uint64_t last_ns_ = 0;
  Missing missing_;
};

}  // namespace tallyfs
