#include "core/tracing/set/record_feed.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tallyfs::tracing {
namespace {

void put_number(char* at, std::uint32_t size, std::uint64_t value) {
  std::memcpy(at, &value, std::min<std::uint32_t>(size, 8));
}

// Appends a text of variable length behind the fixed fields, and stores its place in its field.
void put_located(std::string& bytes, const TracePart& part, std::string_view text) {
  const std::size_t at = bytes.size();
  bytes.append(text);
  if (part.kind == FieldKind::kLocated) bytes.push_back('\0');
  bytes.resize((bytes.size() + 7) / 8 * 8);
  const std::size_t size = text.size() + (part.kind == FieldKind::kLocated ? 1 : 0);
  put_number(bytes.data() + part.offset, 4, at | size << 16);
}

bool counts_in(const Trigger& trigger, SwitchSide excluded) {
  if (excluded == SwitchSide::kNone) return true;
  const SwitchSide side = trigger.plan ? trigger.plan->side : SwitchSide::kNone;
  return side != SwitchSide::kNone && side != excluded;
}

}  // namespace

EventCounts RecordFeed::counts() const {
  EventCounts counts = counts_;
  counts.trace_overwritten = trace_.overwritten();
  return counts;
}

void RecordFeed::feed(const EventRecord& record, SwitchSide excluded, std::size_t depth) {
  counts_.records += 1;
  if (record.event >= events_.size() || !events_.at(record.event).defined) {
    counts_.records_unknown += 1;
    return;
  }
  DefinedEvent& event = events_.at(record.event);
  if (record.bytes.size() < event.fixed_bytes) {
    counts_.records_short += 1;
    return;
  }
  if (event.follows) follower_.follow(event, record);
  if (!selection_.is_on_cpu(record)) {
    counts_.records_of_others += 1;
    return;
  }
  const bool is_traced = excluded == SwitchSide::kNone && event.is_on();
  if (is_traced && (!event.filter || event.filter->matches(record))) trace(event, record);
  for (const auto& trigger : event.triggers) {
    if (trigger->paused || !counts_in(*trigger, excluded)) continue;
    if (trigger->filter && !trigger->filter->matches(record)) continue;
    if (trigger->kind != TriggerKind::kHist) {
      act(*trigger, record);
    } else if (levels_[depth].update.run(*trigger->plan, *trigger->table, record) &&
               !trigger->plan->actions.empty()) {
      run_actions(*trigger, record, depth);
    }
  }
}

void RecordFeed::trace(const DefinedEvent& event, const EventRecord& record) {
  if (!trace_.is_on()) return;
  if (!selection_.is_traced(record, event.subject_at)) {
    counts_.records_of_others += 1;
    return;
  }
  trace_.add(TraceBuffer::Kind::kRecord, record, event.generation);
}

void RecordFeed::act(Trigger& trigger, const EventRecord& record) {
  if (trigger.left == 0) return;
  const bool on =
      trigger.kind == TriggerKind::kEnableEvent || trigger.kind == TriggerKind::kEnableHist;
  switch (trigger.kind) {
    case TriggerKind::kHist:
      return;
    case TriggerKind::kTraceOn:
    case TriggerKind::kTraceOff:
      // A switch that changes nothing does not count.
      if (trace_.is_on() == (trigger.kind == TriggerKind::kTraceOn)) return;
      trace_.set_on(trigger.kind == TriggerKind::kTraceOn);
      break;
    case TriggerKind::kStacktrace:
      trace_.add(TraceBuffer::Kind::kStack, record, events_.at(record.event).generation);
      break;
    case TriggerKind::kSnapshot:
      trace_.take_snapshot();
      break;
    case TriggerKind::kEnableEvent:
    case TriggerKind::kDisableEvent:
      if (events_.at(trigger.target).soft_enabled == on) return;
      events_.at(trigger.target).soft_enabled = on;
      break;
    case TriggerKind::kEnableHist:
    case TriggerKind::kDisableHist:
      for (const auto& other : events_.at(trigger.target).triggers) {
        if (other->kind == TriggerKind::kHist) other->paused = !on;
      }
      break;
  }
  if (trigger.left > 0) trigger.left -= 1;
}

void RecordFeed::run_actions(const Trigger& trigger, const EventRecord& record, std::size_t depth) {
  for (const Action& action : trigger.plan->actions) run_action(action, trigger, record, depth);
}

bool RecordFeed::track(const Action& action, const HistUpdate& update) {
  const std::uint64_t value = update.references()[action.tracked];
  std::uint64_t& tracked = update.values()[action.track_word];
  const bool fires = action.handler == Handler::kOnMax ? value > tracked : value != tracked;
  if (fires) tracked = value;
  return fires;
}

void RecordFeed::take_snapshot(const Action& action, const Trigger& trigger,
                               const EventRecord& record, const HistUpdate& update) {
  const std::uint64_t value = update.references()[action.tracked];
  HistTable::Snapshot& taken = trigger.table->snapshots[action.snapshot];
  const bool more = action.handler == Handler::kOnMax ? value > taken.value : value != taken.value;
  if (!more) return;
  taken.taken = true;
  taken.value = value;
  taken.key.assign(update.key(), update.key() + trigger.plan->shape.key_words);
  taken.comm = record.comm;
  trace_.take_snapshot();
}

void RecordFeed::save(const Trigger& trigger, const EventRecord& record, const HistUpdate& update) {
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

void RecordFeed::run_action(const Action& action, const Trigger& trigger, const EventRecord& record,
                            std::size_t depth) {
  const HistUpdate& update = levels_[depth].update;
  if (action.handler != Handler::kOnMatch && !track(action, update)) return;
  switch (action.kind) {
    case ActionKind::kTrace:
      return trace_synthetic(action, record, depth);
    case ActionKind::kSnapshot:
      return take_snapshot(action, trigger, record, update);
    case ActionKind::kSave:
      return save(trigger, record, update);
  }
}

void RecordFeed::trace_synthetic(const Action& action, const EventRecord& record,
                                 std::size_t depth) {
  if (depth + 1 >= levels_.size()) {
    counts_.synthetic_cut += 1;
    return;
  }
  counts_.synthetic += 1;
  const std::uint64_t* const references = levels_[depth].update.references();
  std::string& bytes = levels_[depth].bytes;
  bytes.assign(action.synthetic_bytes, '\0');
  put_number(bytes.data(), 2, events_.at(action.synthetic).format->id);
  // A synthetic event has common_flags and common_preempt_count of its cause.
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
  feed(made, SwitchSide::kNone, depth + 1);
}

}  // namespace tallyfs::tracing
