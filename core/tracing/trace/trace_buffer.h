// The records of enabled events, for the files trace and snapshot: whole records, of which the
// oldest give way to new ones. Rendered in the kernel's wording where the print format is
// understood (see PrintFormat), else as `field=value`.
//
// Programs take the records out as text, or as pages of the kernel's ring buffer (see PageWriter):
// the oldest first, or the oldest of one CPU. Records that were taken out of the middle keep their
// room until all older records are gone.
//
// Confined to the EventSet's lock. Holds at most bytes_max bytes, records of at most kRecordMax.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/model/record.h"
#include "core/model/symbols.h"
#include "core/tracing/format/format.h"
#include "core/tracing/format/program.h"
#include "core/tracing/print/print_format.h"
#include "core/tracing/trace/page_writer.h"
#include "core/tracing/trace/task_names.h"

namespace tallyfs::tracing {

class PageCopy;

class TraceBuffer {
 public:
  static constexpr std::size_t kRecordMax = 64 * 1024;

  explicit TraceBuffer(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // kind: the record itself; or only the stack that a stacktrace trigger asked for; or a gap, where
  // an unknown number of records of its CPU is missing. generation tells a number's event from the
  // earlier events of that number.
  enum class Kind : std::uint8_t { kRecord, kStack, kGap };
  void add(Kind kind, const EventRecord& record, std::uint32_t generation);
  // Whether the oldest records give way to new ones. If not, new ones are dropped and counted.
  void set_overwrites(bool on) { overwrites_ = on; }
  void clear();
  // Removes the records of this CPU.
  void clear(std::uint32_t cpu);

  // How a record is shown: as an event, or as what a program wrote into
  // trace_marker or trace_marker_raw.
  enum class Style : std::uint8_t { kFields, kMarker, kRawMarker };
  struct Shown {
    const EventFormat* format = nullptr;  // nullptr: the event is gone
    Style style = Style::kFields;
    const PrintFormat* print = nullptr;  // the kernel's wording; nullptr: it is not known
  };
  // The event of that number and generation.
  using Formats = std::function<Shown(EventNumber, std::uint32_t)>;
  // The processes of threads, by their ids; 0: it is not known.
  using Groups = std::map<std::int32_t, std::int32_t>;
  // Which records are shown, and whether the kernel's header stands above them. cpus: their number.
  struct View {
    bool header = true;
    std::uint32_t cpus = 1;
    std::optional<std::uint32_t> only_cpu = {};
    bool fields = false;                    // `field=value`, even if the kernel's wording is known
    bool context = true;                    // task, CPU and time before each record
    bool irq_info = true;                   // and the flags, such as `d..2.`
    const PointerHash* pointers = nullptr;  // as of PrintFormat::append()
    std::shared_ptr<const Groups> groups = nullptr;  // nullptr: without the column TGID
  };
  std::string render(const Formats& formats, const Symbols& symbols, const View& view) const;
  // The text of per_cpu/cpuN/stats: `entries: N` and so on.
  std::string render_stats(std::uint32_t cpu, std::uint64_t now_ns) const;

  // Number and generation of the events that have records here, each once.
  std::vector<std::pair<EventNumber, std::uint32_t>> events() const;

  // A copy to be rendered: the records, without the free room of the buffer.
  TraceBuffer copy() const;
  std::size_t kept_bytes() const;
  // Takes out the oldest records, of this CPU alone if one is given, into a buffer of their own,
  // to be rendered: at most bytes_max bytes together, or one record alone.
  TraceBuffer take(std::size_t bytes_max);
  TraceBuffer take(std::size_t bytes_max, std::uint32_t cpu);
  // Takes out the oldest records of a CPU for one page, which is empty before, and stays so if
  // there is none. The page begins with what is missing since the CPU's last page: records that
  // gave way to others, records that no page has room for, and gaps. The records' tasks are noted
  // in `names`.
  void take_page(std::uint32_t cpu, PageCopy& page, const Formats& formats, TaskNames& names);
  // Whether the CPU has records to take.
  bool has_records(std::uint32_t cpu) const;
  // The newest records that fit stay.
  void resize(std::size_t bytes_max);
  // Calls use with the arguments of each add(); views last until the next add().
  template <typename Use>  // void(Kind, const EventRecord&, std::uint32_t generation)
  void each(const Use& use) const {
    std::size_t at = first_;
    for (std::uint64_t left = count_; left > 0;) {
      const Head head = head_at(at);
      if (head.bytes != 0) {
        std::uint64_t frames[kStackDepthMax];
        if (!head.taken) use(head.kind, record_of(at, head, frames), head.generation);
        left -= 1;
      }
      at = head.bytes == 0 ? 0 : at + sizeof(Head) + head.bytes;
    }
  }

  // Saves the records and the counts of the CPUs for a successor.
  void save(ByteWriter& out) const;
  // Into an empty buffer. event_of gives number and generation of the event that was saved with
  // these. False: save() writes no such bytes, and the buffer has what was read before.
  using EventOf =
      std::function<std::pair<EventNumber, std::uint32_t>(EventNumber, std::uint32_t generation)>;
  bool load(ByteReader& in, const EventOf& event_of);

  bool is_empty() const { return count_ == taken_; }
  std::size_t bytes_max() const { return bytes_max_; }
  std::uint64_t overwritten() const { return overwritten_; }

 private:
  // A record, by its number among all that were ever added, and where it lies.
  struct Place {
    std::uint64_t number = 0;
    std::size_t at = 0;
  };
  // Counts of a CPU since the last clear(), without gaps: records in the buffer, records that gave
  // way to others, records that were taken, and records for which the buffer or a page
  // had no room. missing: what
  // the CPU's next page tells. next: where the search for records to take begins.
  struct CpuCounts {
    std::uint64_t entries = 0, overwritten = 0, taken = 0, dropped = 0;
    PageRoom::Missing missing = {};
    Place next = {};
  };
  // The numbers of CPUs come with the records: those beyond count as one CPU.
  static constexpr std::uint32_t kCpusMax = 4096;

  struct Head {
    std::uint32_t bytes;  // of all that follows, padded to 8; 0: go on at the start
    std::uint32_t generation;
    EventNumber event;
    std::uint32_t cpu;
    std::uint64_t time_ns;
    std::int32_t pid;
    std::uint32_t record_bytes;
    std::uint32_t comm_bytes;
    std::uint16_t frames;
    Kind kind;
    bool taken;  // it is in the buffer no more
  };

  void load_record(ByteReader& in, const EventOf& event_of);
  // Keeps the same records, in a buffer of that size, as far as they stay and fit.
  template <typename Stays>
  void rebuild(std::size_t bytes_max, const Stays& stays);
  void restart_at(std::size_t place);
  // Whether that many bytes, with their head, go in without removing a record.
  bool has_room(std::size_t bytes) const;
  void make_room(std::size_t bytes);
  void drop_oldest();
  void drop_taken();
  // Take is bool(std::size_t at, const Head&); false: neither this one is taken nor later ones.
  template <typename Take>
  void take_each(std::uint32_t cpu, const Take& take);
  void mark_taken(std::size_t at, const Head& head);
  // Copies a record of another buffer behind its own, into a buffer to which nothing is added.
  void append(const TraceBuffer& from, std::size_t at);
  bool move_to_page(PageCopy& page, std::size_t at, const Head& head, const Formats& formats,
                    TaskNames& names);
  Head head_at(std::size_t at) const {
    if (at + sizeof(Head) > bytes_.size()) return {};
    return read_raw<Head>(bytes_.data() + at);
  }
  // frames: the memory for its stack, of kStackDepthMax.
  EventRecord record_of(std::size_t at, const Head& head, std::uint64_t* frames) const {
    const char* const body = bytes_.data() + at + sizeof(Head);
    if (head.frames > 0) std::memcpy(frames, body, head.frames * std::size_t{8});
    const char* const payload = body + head.frames * std::size_t{8};
    return {head.event,
            head.time_ns,
            head.cpu,
            head.pid,
            {payload, head.record_bytes},
            {payload + head.record_bytes, head.comm_bytes},
            {frames, head.frames}};
  }
  CpuCounts& counts_of(std::uint32_t cpu);
  CpuCounts counts_in(const View& view) const;

  std::size_t bytes_max_;
  std::vector<char> bytes_;         // grows up to bytes_max_, then is a ring
  std::size_t first_ = 0;           // the oldest record
  std::size_t end_ = 0;             // where the next one goes
  std::size_t turn_ = 0;            // where records go on at the start, while first_ is behind end_
  std::uint64_t count_ = 0;         // records that have room, those that were taken included
  std::uint64_t taken_ = 0;         // of these
  std::uint64_t first_number_ = 0;  // the number of the oldest record
  std::uint64_t overwritten_ = 0;   // ever
  bool overwrites_ = true;
  std::vector<CpuCounts> by_cpu_;
};

}  // namespace tallyfs::tracing
