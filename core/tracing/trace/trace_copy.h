// The traced records at one moment, copied under the EventSet's lock and rendered outside of it. A
// value; rendering is const, so any thread may render.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/tracing/print/wording.h"
#include "core/tracing/trace/trace_buffer.h"

namespace tallyfs::tracing {

class TraceCopy {
 public:
  // The states of a snapshot without records.
  enum class Empty { kAllocated, kFreed };

  explicit TraceCopy(TraceBuffer records) : records_(std::move(records)) {}
  explicit TraceCopy(Empty snapshot) : records_(0), empty_(snapshot) {}

  bool is_empty() const { return !empty_ && records_.is_empty(); }
  // The format and the wording of an event that has records in the copy. wording: nullptr: none.
  void add(EventNumber event, std::uint32_t generation, std::shared_ptr<const EventFormat> format,
           TraceBuffer::Style style, std::shared_ptr<const Wording> wording);

  std::string render(const Symbols& symbols, const TraceBuffer::View& view = {}) const;
  std::string render_stats(std::uint32_t cpu, std::uint64_t now_ns) const {
    return records_.render_stats(cpu, now_ns);
  }
  // `PID NAME` of the last at most names_max processes whose records are traced and give a name.
  // taken: of records that were taken out before.
  std::string render_saved_cmdlines(const std::vector<TaskNames::Named>& taken,
                                    std::size_t names_max) const;

 private:
  struct Kept {
    std::shared_ptr<const EventFormat> format;  // shared with the event
    TraceBuffer::Style style;
    std::shared_ptr<const Wording> wording;  // likewise
  };

  TraceBuffer records_;
  std::map<std::pair<EventNumber, std::uint32_t>, Kept> formats_;
  std::optional<Empty> empty_;
};

}  // namespace tallyfs::tracing
