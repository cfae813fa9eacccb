// The traced records of an EventSet on their way from one server to the next.
#include <set>

#include "core/tracing/set/trace_store.h"

namespace tallyfs::tracing {
namespace {

// No event has it.
constexpr std::uint32_t kNoGeneration = UINT32_MAX;

}  // namespace

// Saves the events that have records and still exist.
void TraceStore::save_events(ByteWriter& out) const {
  std::set<Event> all;
  for (const Event& each : trace_.events()) all.insert(each);
  if (snapshot_) {
    for (const Event& each : snapshot_->events()) all.insert(each);
  }
  std::erase_if(all, [this](const Event& each) {
    const DefinedEvent& event = events_.at(each.first);
    return !event.defined || event.generation != each.second;
  });
  out.put(static_cast<std::uint32_t>(all.size()));
  for (const Event& each : all) {
    const EventTable::EventName name = events_.name(each.first);
    out.put(each.first);
    out.put(each.second);
    out.put_text(name.system);
    out.put_text(name.name);
  }
}

std::map<TraceStore::Event, TraceStore::Event> TraceStore::load_events(ByteReader& in) const {
  std::map<Event, Event> found;
  for (auto left = in.get<std::uint32_t>(); left != 0 && in.ok(); --left) {
    const auto number = in.get<EventNumber>();
    const auto generation = in.get<std::uint32_t>();
    const std::string_view system = in.get_text();
    const auto now = events_.find(system, in.get_text());
    if (now) found[{number, generation}] = {*now, events_.at(*now).generation};
  }
  return found;
}

void TraceStore::save(ByteWriter& out) const {
  out.put(left_out_);
  save_events(out);
  trace_.save(out);
  out.put(static_cast<std::uint8_t>(has_snapshot()));
  if (snapshot_) snapshot_->save(out);
  const auto names = taken_names();
  out.put(static_cast<std::uint32_t>(names.size()));
  for (const TaskNames::Named& each : names) {
    out.put(each.pid);
    out.put_text(each.name);
  }
}

void TraceStore::load(ByteReader& in) {
  left_out_ = in.get<std::uint64_t>();
  const auto events = load_events(in);
  if (events_.size() == 0) in.fail();
  const auto event_of = [&events](EventNumber number, std::uint32_t generation) {
    const auto found = events.find({number, generation});
    return found == events.end() ? Event(0, kNoGeneration) : found->second;
  };
  bool is_whole = trace_.load(in, event_of);
  if (in.get_flag()) {
    make_snapshot();
    is_whole = snapshot_->load(in, event_of) && is_whole;
  }
  for (auto left = in.get<std::uint32_t>(); left != 0 && in.ok(); --left) {
    const auto pid = in.get<std::int32_t>();
    taken_names_.note(pid, in.get_text());
  }
  if (is_whole && in.ok()) return;
  clear();
  clear_snapshot();
}

}  // namespace tallyfs::tracing
