// What was traced up to one moment, taken under the EventSet's lock and rendered outside of it. A
// value; rendering is const, so any thread may.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/event/trace/trace_buffer.h"

namespace tallyfs {

class TraceCopy {
 public:
  explicit TraceCopy(TraceBuffer records) : records_(std::move(records)) {}
  // There are no records, but something to say.
  explicit TraceCopy(std::string text) : records_(0), text_(std::move(text)) {}

  bool is_empty() const { return text_.empty() && records_.is_empty(); }
  std::string render_stats(std::uint32_t cpu, std::uint64_t now_ns) const {
    return records_.render_stats(cpu, now_ns);
  }
  void add(EventNumber event, std::uint32_t generation, EventFormat format,
           TraceBuffer::Style style, std::shared_ptr<const PrintFormat> print) {
    formats_.insert_or_assign({event, generation},
                              Kept{std::move(format), style, std::move(print)});
  }
  std::string render(const Symbols& symbols, const TraceBuffer::View& view = {}) const {
    if (!text_.empty()) return text_;
    return records_.render(
        [this](EventNumber event, std::uint32_t generation) -> TraceBuffer::Shown {
          const auto found = formats_.find({event, generation});
          if (found == formats_.end()) return {};
          const Kept& kept = found->second;
          return {&kept.format, kept.style, kept.print.get()};
        },
        symbols, view);
  }

 private:
  struct Kept {
    EventFormat format;
    TraceBuffer::Style style;
    std::shared_ptr<const PrintFormat> print;  // shared with the event
  };

  TraceBuffer records_;
  std::map<std::pair<EventNumber, std::uint32_t>, Kept> formats_;
  std::string text_;
};

}  // namespace tallyfs
