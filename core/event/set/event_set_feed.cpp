// The way of a record: its event's triggers in turn, their actions, and synthetic events in turn.
#include <algorithm>
#include <cstring>
#include <utility>

#include "core/event/set/event_set_state.h"

namespace tallyfs {
namespace {

void put_number(char* at, std::uint32_t size, std::uint64_t value) {
  std::memcpy(at, &value, std::min<std::uint32_t>(size, 8));
}

// What is as long as it is goes behind the fixed fields, and its place into its field.
void put_located(std::string& bytes, const TracePart& part, std::string_view text) {
  const std::size_t at = bytes.size();
  bytes.append(text);
  if (part.kind == FieldKind::kLocated) bytes.push_back('\0');
  bytes.resize((bytes.size() + 7) / 8 * 8);
  const std::size_t size = text.size() + (part.kind == FieldKind::kLocated ? 1 : 0);
  put_number(bytes.data() + part.offset, 4, at | size << 16);
}

bool takes_from(TriggerKind kind, bool tracing) {
  return kind == TriggerKind::kTraceOn ? !tracing : tracing;
}

}  // namespace

void EventSet::State::feed(const EventRecord& record, std::size_t depth) {
  counts.records += 1;
  if (record.event >= events.size() || !events[record.event]->defined) {
    counts.records_unknown += 1;
    return;
  }
  DefinedEvent& event = *events[record.event];
  if (record.bytes.size() < event.fixed_bytes) {
    counts.records_short += 1;
    return;
  }
  if (tracing && event.is_on() && (!event.filter || event.filter->matches(record))) {
    if (is_traced(record)) {
      trace.add(TraceBuffer::Kind::kRecord, record, event.generation);
    } else {
      counts.records_of_others += 1;
    }
  }
  for (const auto& trigger : event.triggers) {
    if (trigger->paused || (trigger->filter && !trigger->filter->matches(record))) continue;
    if (trigger->kind != TriggerKind::kHist) {
      act(*trigger, record, depth);
    } else if (levels[depth].update.run(*trigger->plan, *trigger->table, record) &&
               !trigger->plan->actions.empty()) {
      run_actions(*trigger, record, depth);
    }
  }
}

bool EventSet::State::is_traced(const EventRecord& record) const {
  if (!pids.empty() && !std::ranges::binary_search(pids, record.pid)) return false;
  if (!notrace_pids.empty() && std::ranges::binary_search(notrace_pids, record.pid)) return false;
  return record.cpu >= left_out_cpus.size() || !left_out_cpus[record.cpu];
}

void EventSet::State::act(Trigger& trigger, const EventRecord& record, std::size_t) {
  if (trigger.left == 0) return;
  const bool on =
      trigger.kind == TriggerKind::kEnableEvent || trigger.kind == TriggerKind::kEnableHist;
  switch (trigger.kind) {
    case TriggerKind::kHist:
      return;
    case TriggerKind::kTraceOn:
    case TriggerKind::kTraceOff:
      // What is so already does not count.
      if (!takes_from(trigger.kind, tracing)) return;
      tracing = trigger.kind == TriggerKind::kTraceOn;
      break;
    case TriggerKind::kStacktrace:
      trace.add(TraceBuffer::Kind::kStack, record, at(record.event).generation);
      break;
    case TriggerKind::kSnapshot:
      take_snapshot();
      break;
    case TriggerKind::kEnableEvent:
    case TriggerKind::kDisableEvent:
      if (at(trigger.target).soft_enabled == on) return;
      at(trigger.target).soft_enabled = on;
      break;
    case TriggerKind::kEnableHist:
    case TriggerKind::kDisableHist:
      for (const auto& other : at(trigger.target).triggers) {
        if (other->kind == TriggerKind::kHist) other->paused = !on;
      }
      break;
  }
  if (trigger.left > 0) trigger.left -= 1;
}

void EventSet::State::run_actions(const Trigger& trigger, const EventRecord& record,
                                  std::size_t depth) {
  for (const Action& action : trigger.plan->actions) run_action(action, trigger, record, depth);
}

void EventSet::State::run_action(const Action& action, const Trigger& trigger,
                                 const EventRecord& record, std::size_t depth) {
  const HistUpdate& update = levels[depth].update;
  if (action.handler != Handler::kOnMatch) {
    const std::uint64_t value = update.references()[action.tracked];
    std::uint64_t& tracked = update.values()[action.track_word];
    const bool fires = action.handler == Handler::kOnMax ? value > tracked : value != tracked;
    if (!fires) return;
    tracked = value;
    if (action.kind == ActionKind::kSnapshot) {
      HistTable::Snapshot& taken = trigger.table->snapshots[action.snapshot];
      const bool more =
          action.handler == Handler::kOnMax ? value > taken.value : value != taken.value;
      if (!more) return;
      taken.taken = true;
      taken.value = value;
      taken.key.assign(update.key(), update.key() + trigger.plan->shape.key_words);
      taken.comm = record.comm;
      return take_snapshot();
    }
  }
  if (action.kind == ActionKind::kTrace) return trace_synthetic(action, record, depth);
  for (const SavedField& saved : trigger.plan->saved) {
    std::uint64_t* const words = update.values() + saved.word;
    if (saved.value.is_number()) {
      *words = saved.value.program.run(record, update.references());
      continue;
    }
    const std::string_view text = saved.value.source.read(record, update.references());
    const std::size_t bytes = (std::min(saved.value.type.size, kTextBytesMax) + 7) / 8 * 8;
    std::memset(words, 0, bytes);
    text.copy(reinterpret_cast<char*>(words), bytes);
  }
}

void EventSet::State::trace_synthetic(const Action& action, const EventRecord& record,
                                      std::size_t depth) {
  if (depth + 1 >= levels.size()) {
    counts.synthetic_cut += 1;
    return;
  }
  counts.synthetic += 1;
  const std::uint64_t* const references = levels[depth].update.references();
  std::string& bytes = levels[depth].bytes;
  bytes.assign(action.synthetic_bytes, '\0');
  put_number(bytes.data(), 2, at(action.synthetic).format.id);
  // It happens where its cause does: common_flags and common_preempt_count.
  if (record.bytes.size() >= 4) std::copy_n(record.bytes.data() + 2, 2, bytes.data() + 2);
  put_number(bytes.data() + 4, 4, static_cast<std::uint32_t>(record.pid));
  for (const TracePart& part : action.parts) {
    if (part.kind == FieldKind::kNumber) {
      put_number(bytes.data() + part.offset, part.size, part.value.program.run(record, references));
      continue;
    }
    const std::string_view text = part.value.source.read(record, references);
    if (part.kind == FieldKind::kText) {
      std::copy_n(text.data(), std::min<std::size_t>(text.size(), part.size),
                  bytes.data() + part.offset);
    } else {
      put_located(bytes, part, text);
    }
  }
  EventRecord made = record;
  made.event = action.synthetic;
  made.bytes = bytes;
  feed(made, depth + 1);
}

// What was traced so far becomes the snapshot, and tracing goes on with nothing: as in the kernel,
// buffers change places, so that a trigger may do it for every record.
void EventSet::State::take_snapshot() {
  make_snapshot();
  std::swap(trace, *snapshot);
  trace.clear();
}

void EventSet::State::make_snapshot() {
  if (!snapshot) snapshot.emplace(trace.bytes_max());
}

}  // namespace tallyfs
