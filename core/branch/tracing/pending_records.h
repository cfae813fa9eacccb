// Records that wait for those that happened before them, and come out in the order of their times;
// of the same time, in the order in which they were put in. Each source's wait in a row of their
// own, which is in order as a rule and then costs nothing to keep so; a record that is behind the
// last one of a row begins another row, of kRowsMax for all. One that fits into none goes into a
// heap: whose times go back, or are many, costs no more than that. What records consist of lies in
// chunks, one behind the other.
//
// Confined to its owner's lock. bytes() says what it takes; the owner sees to a bound.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/event/format/program.h"
#include "core/model/record.h"

namespace tallyfs {

class EventSource;
struct TracingInstance;

class PendingRecords {
 public:
  static constexpr std::size_t kRowsMax = 64;
  static constexpr std::size_t kChunkBytes = 64 * 1024;

  // A source's, or a marker of an instance.
  struct Pending {
    EventSource* source = nullptr;
    std::uint32_t use = 0;
    const TracingInstance* marked = nullptr;
    EventRecord record = {};
  };

  // Copies what the record views.
  void put(const Pending& pending);
  // The oldest, if it is of that time or before, until the next call; then pop() takes it out.
  const Pending* front(std::uint64_t until_ns);
  void pop();
  void drop_markers(const TracingInstance& instance);

  bool is_empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  // Of the oldest; the end of time if there is none.
  std::uint64_t first_ns() const;
  std::size_t bytes() const { return chunk_bytes_ + count_ * sizeof(Entry); }

 private:
  // In front of what a record consists of: stack, bytes, name.
  struct Head {
    EventSource* source;
    const TracingInstance* marked;
    std::uint64_t time_ns;
    std::uint32_t use;
    EventNumber event;
    std::uint32_t cpu;
    std::int32_t pid;
    std::uint32_t record_bytes;
    std::uint16_t comm_bytes;
    std::uint16_t frames;
  };
  struct Chunk {
    std::unique_ptr<char[]> bytes;
    std::size_t size = 0, filled = 0;
    std::uint32_t records = 0;  // that are still there
  };
  struct Entry {
    std::uint64_t time_ns;
    std::uint64_t serial;
    std::uint32_t chunk;
    std::uint32_t offset;

    bool is_before(const Entry& other) const {
      return time_ns != other.time_ns ? time_ns < other.time_ns : serial < other.serial;
    }
  };
  // Entries in order; those before next_ have gone.
  class Row {
   public:
    explicit Row(const EventSource* source) : source_(source) {}

    const EventSource* source() const { return source_; }
    void begin(const EventSource* source) { source_ = source; }
    bool is_empty() const { return next_ == entries_.size(); }
    const Entry& front() const { return entries_[next_]; }
    const Entry& back() const { return entries_.back(); }
    // Not before the last one.
    void put(const Entry& entry) { entries_.push_back(entry); }
    void pop();
    template <typename Goes>
    std::size_t erase_if(const Goes& goes);

   private:
    const EventSource* source_;
    std::vector<Entry> entries_;
    std::size_t next_ = 0;
  };
  // Entries of any source, the first of them in front.
  class Heap {
   public:
    bool is_empty() const { return entries_.empty(); }
    const Entry& front() const { return entries_.front(); }
    void put(const Entry& entry);
    void pop();
    template <typename Goes>
    std::size_t erase_if(const Goes& goes);

   private:
    static bool is_behind(const Entry& a, const Entry& b);
    std::vector<Entry> entries_;
  };

  static constexpr std::uint32_t kNoChunk = ~0u;

  Entry store(const Pending& pending);
  std::uint32_t chunk_with(std::size_t bytes);
  void let_go(std::uint32_t chunk);
  void give_back(std::uint32_t chunk);
  Head head_at(const Entry& entry) const;
  void show(const Entry& entry);
  // nullptr: they are all taken.
  Row* row_for(const EventSource* source, std::uint64_t time_ns);
  // With the oldest of all rows; nullptr: there is none.
  Row* first_row();
  // row: what first_row() says.
  bool is_heap_first(const Row* row) const;

  std::vector<Row> rows_;
  Heap heap_;  // what fits into none of them
  std::vector<Chunk> chunks_;
  std::vector<std::uint32_t> free_;  // of chunks_
  std::uint32_t filling_ = kNoChunk;
  std::size_t count_ = 0;
  std::size_t chunk_bytes_ = 0;  // of those that something is in
  std::uint64_t serial_ = 0;
  // The row that first_row() found last, and the first entry of any other: as long as no row
  // has got any, the row is first until it has come to that.
  Row* first_ = nullptr;
  std::optional<Entry> second_;
  Pending shown_;  // front()
  std::array<std::uint64_t, kStackDepthMax> frames_{};
};

}  // namespace tallyfs
