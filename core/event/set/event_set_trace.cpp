// The files that say what is traced, and those that show it: set_event_pid, tracing_cpumask, trace,
// snapshot.
#include <algorithm>
#include <cctype>
#include <functional>
#include <map>

#include "core/base/text.h"
#include "core/event/set/event_set_state.h"

namespace tallyfs {
namespace {

constexpr std::size_t kMaskCpusMax = 8192;
// Linux gives out none beyond: proc(5), kernel/pid_max.
constexpr std::uint64_t kPidMax = (1u << 22) - 1;

constexpr std::string_view kSnapshotHead = "# tracer: nop\n#\n#\n# * Snapshot is ";
constexpr std::string_view kSnapshotCommands =
    " *\n#\n# Snapshot commands:\n"
    "# echo 0 > snapshot : Clears and frees snapshot buffer\n"
    "# echo 1 > snapshot : Allocates snapshot buffer, if not already allocated.\n"
    "#                      Takes a snapshot of the main buffer.\n"
    "# echo 2 > snapshot : Clears snapshot buffer (but does not allocate or free)\n"
    "#                      (Doesn't have to be '2' works with any number that\n"
    "#                       is not a '0' or '1')\n";

char to_lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

std::string pids_text(const std::vector<std::int32_t>& pids) {
  std::string text;
  for (const std::int32_t pid : pids) text.append(std::to_string(pid)).append("\n");
  return text;
}

// Adds them to those there are.
Result<void> add_pids(std::vector<std::int32_t>& to, std::size_t pids_max, std::string_view file,
                     std::string_view text) {
  std::vector<std::int32_t> pids = to;
  Tokens tokens(text);
  while (const auto token = tokens.next()) {
    const auto pid = parse_unsigned(token->text);
    if (!pid || *pid > kPidMax) {
      return refused({fault::kBadPid, std::string(token->text)}, file, text);
    }
    const auto number = static_cast<std::int32_t>(*pid);
    const auto at = std::ranges::lower_bound(pids, number);
    if (at == pids.end() || *at != number) pids.insert(at, number);
    if (pids.size() > pids_max) {
      return refused({fault::kTooManyPids, std::string(token->text), ErrorCode::kNoSpace}, file,
                     text);
    }
  }
  to = std::move(pids);
  return {};
}

// The last 32 CPUs come last; nothing: it is no such mask.
std::optional<std::vector<bool>> parse_mask(std::string_view text) {
  std::vector<bool> cpus;
  unsigned digits = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    if (text[i] == ',' && digits > 0 && digits <= 8) {
      cpus.resize((cpus.size() + 31) / 32 * 32);
      digits = 0;
      continue;
    }
    const std::size_t value = std::string_view("0123456789abcdef").find(to_lower(text[i]));
    if (value == std::string_view::npos || ++digits > 8 || cpus.size() > kMaskCpusMax) return {};
    for (unsigned bit = 0; bit < 4; ++bit) cpus.push_back((value >> bit & 1) != 0);
  }
  if (digits == 0) return std::nullopt;
  return cpus;
}

}  // namespace

std::string EventSet::render_set_event_pid() const { return pids_text(state_->pids); }
Result<void> EventSet::write_set_event_pid(std::string_view text) {
  return add_pids(state_->pids, state_->limits.pids_max, "set_event_pid", text);
}
void EventSet::truncate_set_event_pid() { state_->pids.clear(); }

std::string EventSet::render_set_event_notrace_pid() const {
  return pids_text(state_->notrace_pids);
}
Result<void> EventSet::write_set_event_notrace_pid(std::string_view text) {
  return add_pids(state_->notrace_pids, state_->limits.pids_max, "set_event_notrace_pid", text);
}
void EventSet::truncate_set_event_notrace_pid() { state_->notrace_pids.clear(); }

std::string EventSet::render_tracing_cpumask(std::uint32_t cpus) const {
  std::string text;
  const std::uint32_t digits = (cpus + 3) / 4;
  for (std::uint32_t digit = digits; digit-- > 0;) {
    unsigned value = 0;
    for (std::uint32_t bit = 0; bit < 4; ++bit) {
      const std::uint32_t cpu = 4 * digit + bit;
      const auto& out = state_->left_out_cpus;
      if (cpu < cpus && (cpu >= out.size() || !out[cpu])) value |= 1u << bit;
    }
    text.push_back("0123456789abcdef"[value]);
    if (digit > 0 && digit % 8 == 0) text.push_back(',');
  }
  return text + "\n";
}

Result<void> EventSet::write_tracing_cpumask(std::string_view text, std::uint32_t cpus) {
  auto mask = parse_mask(without_blanks(text));
  if (mask) mask->resize(cpus);
  if (!mask || std::ranges::find(*mask, true) == mask->end()) {
    return refused({fault::kBadMask}, "tracing_cpumask", text);
  }
  mask->flip();
  state_->left_out_cpus = std::move(*mask);
  return {};
}

std::shared_ptr<const PrintFormat> EventSet::State::print_format(DefinedEvent& event) {
  if (!event.is_print_known && !event.fields && !event.built_in) {
    auto compiled = PrintFormat::compile(event.format_text, event.format);
    if (compiled) event.print = std::make_shared<const PrintFormat>(std::move(*compiled));
  }
  event.is_print_known = true;
  return event.print;
}

TraceCopy EventSet::State::copy(TraceBuffer records) const {
  const auto events_in = records.events();
  TraceCopy copy(std::move(records));
  for (const auto& [number, generation] : events_in) {
    const DefinedEvent& event = at(number);
    if (event.defined && event.generation == generation) {
      copy.add(number, generation, event.format,
               event.built_in ? TraceBuffer::Style::kMarker : TraceBuffer::Style::kFields,
               print_format(*events[number]));
    }
  }
  return copy;
}

bool EventSet::tracing_on() const { return state_->tracing; }
void EventSet::start_tracing() { state_->tracing = true; }
void EventSet::stop_tracing() { state_->tracing = false; }

TraceCopy EventSet::copy_trace() const { return state_->copy(state_->trace.copy()); }
void EventSet::trace_gap(std::uint64_t time_ns, std::uint32_t cpus) {
  for (std::uint32_t cpu = 0; cpu < cpus && state_->tracing; ++cpu) {
    state_->trace.add(TraceBuffer::Kind::kGap, {.time_ns = time_ns, .cpu = cpu}, 0);
  }
}
void EventSet::clear_trace() { state_->trace.clear(); }
void EventSet::clear_trace(std::uint32_t cpu) { state_->trace.clear(cpu); }
bool EventSet::has_trace() const { return !state_->trace.is_empty(); }
TraceCopy EventSet::take_trace(std::size_t bytes_max) {
  return state_->copy(state_->trace.take(bytes_max));
}

std::string EventSet::render_saved_cmdlines(std::size_t names_max) const {
  struct Named {
    std::string name;
    std::uint64_t last = 0;  // its last record, by number
  };
  std::map<std::int32_t, Named> names;
  std::uint64_t number = 0;
  state_->trace.each([&](TraceBuffer::Kind, const EventRecord& record, std::uint32_t) {
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

std::size_t EventSet::trace_bytes() const { return state_->trace.bytes_max(); }
std::size_t EventSet::trace_kept_bytes() const { return state_->trace.kept_bytes(); }
std::size_t EventSet::snapshot_kept_bytes() const {
  return state_->snapshot ? state_->snapshot->kept_bytes() : 0;
}

void EventSet::resize_trace(std::size_t bytes) {
  state_->trace.resize(bytes);
  if (state_->snapshot) state_->snapshot->resize(bytes);
}

TraceCopy EventSet::copy_snapshot() const {
  const auto& snapshot = state_->snapshot;
  if (snapshot && !snapshot->is_empty()) return state_->copy(snapshot->copy());
  return TraceCopy(std::string(kSnapshotHead) + (snapshot ? "allocated" : "freed") +
                   std::string(kSnapshotCommands));
}
void EventSet::take_snapshot() { state_->take_snapshot(); }
void EventSet::clear_snapshot() {
  if (state_->snapshot) state_->snapshot->clear();
}
void EventSet::free_snapshot() { state_->snapshot.reset(); }

}  // namespace tallyfs
