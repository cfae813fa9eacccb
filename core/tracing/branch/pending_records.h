// Records that are pending until earlier records have arrived. They come out in the order of their
// times; records of the same time come out in the order in which they were put in. Each source's
// records are kept in a row, which is usually in order and then costs nothing to sort. A record
// that is older than the last of its row begins another row; there are kRowsMax rows for all. A
// record that fits into no row goes into a heap. So a source with many records, or with times that
// go back, costs no more than the heap does. The contents of records lie in chunks, one behind the
// other.
//
// Confined to its owner's lock. bytes() is its memory; the owner keeps to a bound.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/model/record.h"
#include "core/tracing/format/program.h"

namespace tallyfs::tracing {

class EventSource;
struct TracingInstance;

class PendingRecords {
 public:
  static constexpr std::size_t kRowsMax = 64;
  static constexpr std::size_t kChunkBytes = 64 * 1024;

  // A record of a source, or a marker of an instance.
  struct Pending {
    EventSource* source = nullptr;
    std::uint32_t use = 0;
    const TracingInstance* marked = nullptr;
    EventRecord record = {};
  };

  // Copies the bytes that the record views.
  void put(const Pending& pending);
  // The oldest record, if it is of that time or before; valid until the next call. pop() then
  // removes it.
  const Pending* front(std::uint64_t until_ns);
  void pop();
  void drop_markers(const TracingInstance& instance);

  bool is_empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  // The time of the oldest record; the end of time if there is none.
  std::uint64_t first_ns() const;
  std::size_t bytes() const { return chunk_bytes_ + count_ * sizeof(Entry); }

 private:
  // Stands before the contents of a record, which are its stack, bytes and name.
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
    std::uint32_t records = 0;  // that are not popped yet
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
  // Entries in order; those before next_ were popped.
  class Row {
   public:
    explicit Row(const EventSource* source) : source_(source) {}

    const EventSource* source() const { return source_; }
    void begin(const EventSource* source) { source_ = source; }
    bool is_empty() const { return next_ == entries_.size(); }
    const Entry& front() const { return entries_[next_]; }
    const Entry& back() const { return entries_.back(); }
    // The entry must not be before the last one.
    void put(const Entry& entry) { entries_.push_back(entry); }
    void pop();
    template <typename Goes>
    std::size_t erase_if(const Goes& goes);

   private:
    const EventSource* source_;
    std::vector<Entry> entries_;
    std::size_t next_ = 0;
  };
  // Entries of any source, with the first of them in front.
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
  // nullptr: all rows are taken.
  Row* row_for(const EventSource* source, std::uint64_t time_ns);
  // The row with the oldest record of all rows; nullptr: all rows are empty.
  Row* first_row();
  // row: the result of first_row().
  bool is_heap_first(const Row* row) const;

  std::vector<Row> rows_;
  Heap heap_;  // records that fit into no row
  std::vector<Chunk> chunks_;
  std::vector<std::uint32_t> free_;  // of chunks_
  std::uint32_t filling_ = kNoChunk;
  std::size_t count_ = 0;
  std::size_t chunk_bytes_ = 0;  // of chunks that are not empty
  std::uint64_t serial_ = 0;
  // The row that first_row() found last, and the first entry of any other row. The row stays first
  // until it has reached that entry, as long as no other row got a record.
  Row* first_ = nullptr;
  std::optional<Entry> second_;
  Pending shown_;  // front()
  std::array<std::uint64_t, kStackDepthMax> frames_{};
};

}  // namespace tallyfs::tracing
