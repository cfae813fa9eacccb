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
// PageRoom is the arithmetic of a page without its bytes: records are chosen by it under a lock,
// and written by PageWriter outside of it.
//
// Confined to their thread. A record has 1 to kRecordBytesMax bytes, and is padded with zeros to
// whole words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace tallyfs::tracing {

class PageRoom {
 public:
  static constexpr std::size_t kPageBytes = 4096;
  static constexpr std::size_t kHeadBytes = 16;

  // Records that are missing before the page's first record.
  struct Missing {
    std::uint64_t number = 0;
    bool is_at_least = false;  // it is unknown how many more there are

    bool any() const { return number > 0 || is_at_least; }
  };

  // The form in which a record is written.
  struct Entry {
    std::size_t words = 0;
    std::uint64_t delta_ns = 0;  // since the record before
    bool is_first = false;
    bool goes_back = false;  // to a time before that of the record before
    bool has_time_entry = false;
    bool has_size = false;
  };

  void miss(const Missing& missing) { missing_ = missing; }
  const Missing& missing() const { return missing_; }
  // Takes the room of a record of that size. nullopt: there is none, and nothing has changed.
  std::optional<Entry> add(std::uint64_t time_ns, std::size_t bytes);
  bool is_empty() const { return used_bytes_ == 0; }
  // Whether the number of missing records stands behind the records.
  bool has_number_of_missing() const;

 private:
  std::size_t used_bytes_ = 0;  // behind the head
  std::uint64_t last_ns_ = 0;
  Missing missing_;
};

class PageWriter {
 public:
  static constexpr std::size_t kPageBytes = PageRoom::kPageBytes;
  static constexpr std::size_t kHeadBytes = PageRoom::kHeadBytes;
  static constexpr std::size_t kRecordBytesMax = kPageBytes - kHeadBytes - 8;

  PageWriter();

  void miss(const PageRoom::Missing& missing) { room_.miss(missing); }
  // The place of a record of that size, filled with zeros, which the caller fills in. nullptr: the
  // page has no room for it, and is as before.
  char* add(std::uint64_t time_ns, std::size_t bytes);
  // The page, of kPageBytes. Nothing can be added afterwards.
  std::string finish();

 private:
  void put(std::uint32_t word);
  void put_entry(std::uint32_t type_len, std::uint64_t time);

  PageRoom room_;
  std::string page_;
  std::size_t used_bytes_ = 0;  // behind the head
};

}  // namespace tallyfs::tracing
