#include "core/tracing/trace/trace_copy.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "core/base/text.h"

namespace tallyfs::tracing {
namespace {

constexpr std::string_view kSnapshotHead = "# tracer: nop\n#\n#\n# * Snapshot is ";
constexpr std::string_view kSnapshotCommandsHead = " *\n#\n# Snapshot commands:\n";
constexpr std::string_view kSnapshotCommands =
    "# echo 0 > snapshot : Clears and frees snapshot buffer\n"
    "# echo 1 > snapshot : Allocates snapshot buffer, if not already allocated.\n"
    "#                      Takes a snapshot of the main buffer.\n"
    "# echo 2 > snapshot : Clears snapshot buffer (but does not allocate or free)\n"
    "#                      (Doesn't have to be '2' works with any number that\n"
    "#                       is not a '0' or '1')\n";
constexpr std::string_view kCpuSnapshotCommands =
    "# echo 2 > snapshot : Clears the records of this CPU in the snapshot buffer\n"
    "#                      ('0' and '1' only work in the snapshot file of all CPUs)\n";

}  // namespace

void TraceCopy::add(EventNumber event, std::uint32_t generation,
                    std::shared_ptr<const EventFormat> format, TraceBuffer::Style style,
                    std::shared_ptr<const Wording> wording) {
  formats_.insert_or_assign({event, generation},
                            Kept{std::move(format), style, std::move(wording)});
}

std::string TraceCopy::render(const Symbols& symbols, const TraceBuffer::View& view) const {
  if (empty_) {
    return std::string(kSnapshotHead)
        .append(*empty_ == Empty::kAllocated ? "allocated" : "freed")
        .append(kSnapshotCommandsHead)
        .append(view.only_cpu ? kCpuSnapshotCommands : kSnapshotCommands);
  }
  const auto shown = [this](EventNumber event, std::uint32_t generation) -> TraceBuffer::Shown {
    const auto found = formats_.find({event, generation});
    if (found == formats_.end()) return {};
    const Kept& kept = found->second;
    return {kept.format.get(), kept.style, kept.wording ? kept.wording->get() : nullptr};
  };
  return records_.render(shown, symbols, view);
}

std::string TraceCopy::render_saved_cmdlines(const std::vector<TaskNames::Named>& taken,
                                             std::size_t names_max) const {
  struct Named {
    std::string name;
    std::uint64_t last = 0;  // its last record, by number
  };
  std::map<std::int32_t, Named> names;
  std::uint64_t number = 0;
  for (const TaskNames::Named& each : taken) names[each.pid] = {each.name, ++number};
  records_.each([&](TraceBuffer::Kind, const EventRecord& record, std::uint32_t) {
    if (!record.comm.empty()) names[record.pid] = {std::string(record.comm), ++number};
  });
  std::vector<std::uint64_t> lasts;
  for (const auto& [pid, named] : names) lasts.push_back(named.last);
  std::ranges::sort(lasts, std::greater());
  const std::uint64_t oldest = lasts.size() <= names_max ? 0 : lasts[names_max - 1];
  std::string text;
  for (const auto& [pid, named] : names) {
    if (named.last < oldest) continue;
    append_number(text, std::int64_t{pid});
    text.append(" ");
    append_escaped(text, named.name, 64, 0);
    text.append("\n");
  }
  return text;
}

}  // namespace tallyfs::tracing
