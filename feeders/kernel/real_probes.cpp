#include "feeders/kernel/real_probes.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <set>
#include <utility>

#include "core/base/text.h"
#include "core/tracing/format/format.h"
#include "feeders/kernel/probe_faults.h"
#include "feeders/tracefs/tracefs.h"
#include "program/log.h"

namespace tallyfs {
namespace {

constexpr std::size_t kNameBytes = 63;

std::string real_event(const std::string& event, std::uint64_t serial, unsigned nth) {
  const std::string end =
      "_" + std::to_string(serial) + (nth > 1 ? "x" + std::to_string(nth) : std::string());
  return event.substr(0, kNameBytes - std::min(end.size(), kNameBytes)) + end;
}

// Of EVENT_SERIAL, and of EVENT_SERIALxN.
std::optional<std::uint64_t> serial_of(std::string_view event) {
  const std::size_t before = event.rfind('_');
  if (before == event.npos) return std::nullopt;
  event.remove_prefix(before + 1);
  return parse_unsigned(event.substr(0, event.find('x')));
}

// Of EVENT_SERIAL: EVENT.
std::string shown_event(const std::string& event) { return event.substr(0, event.rfind('_')); }

// The format with the name that users see.
std::string renamed(const std::string& format, const std::string& event) {
  constexpr std::string_view kName = "name: ";
  if (!format.starts_with(kName)) return format;
  const std::size_t end = std::min(format.find('\n'), format.size());
  return std::string(kName) + event + format.substr(end);
}

// What is fetched, without the names and types, which are the same in all places of an event.
std::vector<std::string_view> fetched_in(std::string_view text) {
  std::vector<std::string_view> all;
  Tokens words(text);
  (void)words.next();
  while (const auto word = words.next()) {
    const std::string_view fetched = word->text.substr(word->text.find('=') + 1);
    all.push_back(fetched.substr(0, fetched.rfind(':')));
  }
  return all;
}

// Places of one event. The kernel writes their numbers in its own way.
bool is_same_place(std::string_view one, std::string_view other) {
  const auto parts = [](std::string_view text) {
    const std::string_view word = text.substr(0, text.find(' '));
    const std::size_t colon = std::min(word.rfind(':'), word.size() - 1);
    const std::string_view offset = word.substr(colon + 1);
    return std::pair(word.substr(0, colon), parse_unsigned(offset.substr(0, offset.find('('))));
  };
  return parts(one) == parts(other) && parts(one).second && fetched_in(one) == fetched_in(other);
}

// The place of that text, or else the same in the kernel's words. end: it is not among them.
template <typename Found>
Found find_place(Found begin, Found end, std::string_view text) {
  const auto is_text = [&](const auto& each) { return each.second == text; };
  const auto exact = std::find_if(begin, end, is_text);
  if (exact != end) return exact;
  const auto is_same = [&](const auto& each) { return is_same_place(each.second, text); };
  return std::find_if(begin, end, is_same);
}

// An event's probe without its filter, and ` if FILTER`, which the kernel does not repeat.
std::pair<std::string_view, std::string_view> split_filter(const wire::ProbeOrder& order) {
  constexpr std::string_view kIf = " if ";
  const std::string_view text = order.text;
  const std::size_t end = order.kind == 'e' ? text.find(kIf) : text.npos;
  return {text.substr(0, end), text.substr(std::min(end, text.size()))};
}

// As many as the reply may have.
wire::Profiled profile_from(const wire::ProfileOrder& order, const RealProbes::Profile& places) {
  wire::Profiled reply{.number = order.number};
  for (auto each = places.lower_bound(order.serial); each != places.end(); ++each) {
    const std::size_t known = each->first == order.serial ? order.place : 0;
    for (std::size_t i = known; i < each->second.size(); ++i) {
      if (reply.places.size() == wire::kProfiledPlacesMax) return reply;
      reply.places.push_back(each->second[i]);
      wire::PlaceHits& place = reply.places.back();
      if (place.leaving.empty()) place.file = file_of(place.place).value_or("?");
    }
  }
  return reply;
}

}  // namespace

RealProbes::RealProbes(const Owner& owner, Catalogue& catalogue, EventTracing& events,
                       const Clock& clock)
    : tracefs_(owner.tracefs),
      group_(owner.tracefs && owner.group ? owner.group->name() : std::string()),
      catalogue_(catalogue),
      events_(events),
      clock_(clock) {
  if (!group_.empty()) read_found();
}

// The kernel lists them in the order in which they were made: of two with the same serial the first
// was leaving.
void RealProbes::read_found() {
  for (RealProbe& probe : read_real_probes(*tracefs_)) {
    const auto serial = probe.group == group_ ? serial_of(probe.event) : std::nullopt;
    if (!serial) continue;
    const bool is_of_program = probe.is_of_program();
    found_.emplace(probe.event, std::move(probe.text));
    Made& made = made_[*serial];
    if (made.event == probe.event) continue;
    if (!made.event.empty()) {
      catalogue_.remove(made.id);
      // Not before the instance of the predecessor, which it would empty, was taken over.
      const auto now = clock_.now().monotonic;
      leaving_.add(made.event, now, now + LeavingProbes::kTryAgain);
    }
    made = {.event = std::move(probe.event), .is_of_program = is_of_program};
    (void)enter(made);
  }
}

Result<std::string> RealProbes::enter(Made& made) {
  auto format = read_text(*tracefs_, "events/" + group_ + "/" + made.event + "/format");
  if (!format) return format.error();
  const auto parsed = tracing::parse_event_format(format.value());
  if (!parsed) return parsed.error();
  made.id = parsed.value().id;
  catalogue_.add({.id = parsed.value().id,
                  .system = group_,
                  .name = made.event,
                  .format = format.value(),
                  .probe = made.is_of_program ? tracing::ProbeTarget::kProgram
                                              : tracing::ProbeTarget::kKernel});
  return format;
}

std::string RealProbes::line_of(const wire::ProbeOrder& order, const std::string& event) const {
  const std::string number = order.instances > 0 ? std::to_string(order.instances) : "";
  return std::string(1, order.kind) + number + ":" + group_ + "/" + event + " " + order.text;
}

// The kernel counts the caret in the line that it was given, with our names.
Error RealProbes::refusal(const wire::ProbeOrder& order, const std::string& line,
                          const Error& error) const {
  const auto log = read_text(*tracefs_, "error_log");
  auto said = log ? find_refusal(log.value(), line) : std::nullopt;
  if (!said) {
    const bool may_differ = error.code == ErrorCode::kInvalid && order.text.starts_with('/');
    const auto fault =
        may_differ ? counter_fault(order.text, read_real_probes(*tracefs_)) : std::nullopt;
    if (fault) return {.code = error.code, .reason = *fault, .token_at = 0};
    return {.code = error.code, .reason = "the kernel refuses it: " + error.reason};
  }
  said->code = error.code;
  const std::size_t begin = line.size() - order.text.size();
  const bool is_in_text = said->token_at != Error::kNoToken && said->token_at >= begin;
  said->token_at = is_in_text ? said->token_at - begin : Error::kNoToken;
  return std::move(*said);
}

std::optional<std::string> RealProbes::find_text(const std::string& event) const {
  std::optional<std::string> found;
  for (RealProbe& probe : read_real_probes(*tracefs_)) {
    if (probe.group == group_ && probe.event == event) found = std::move(probe.text);
  }
  return found;
}

Result<void> RealProbes::may_define() const {
  if (!group_.empty()) return {};
  if (!tracefs_)
    return Error{ErrorCode::kNoDevice,
                 "no tracefs can be reached here: mount -t tracefs nodev /sys/kernel/tracing "
                 "before tallyfs starts"};
  if (auto has = check_probes(*tracefs_); !has) return has;
  return Error{ErrorCode::kNoDevice, "this tallyfs has no lock for probes: restart it"};
}

// A new probe must not become another place of one that is leaving.
std::string RealProbes::free_name(const wire::ProbeOrder& order) const {
  for (unsigned nth = 1;; ++nth) {
    std::string name = real_event(order.event, order.serial, nth);
    if (!leaving_.has(name)) return name;
  }
}

// The README of a kernel names e: also where it has none: one is made and removed.
Result<void> RealProbes::may_make(char kind) {
  if (kind == 'p' || kind == 'r') return {};
  struct Kind {
    const char *name, *option, *place;
  };
  const Kind other = kind == 'e'   ? Kind{"eprobes", "EPROBE_EVENTS", "sched.sched_switch"}
                     : kind == 'f' ? Kind{"fprobes", "FPROBE_EVENTS", "vfs_read"}
                                   : Kind{"tprobes", "FPROBE_EVENTS", "sched_switch"};
  if (const auto known = other_kinds_.find(kind); known != other_kinds_.end()) return known->second;
  const std::string event = ":" + group_ + "/trial";
  const auto done = append_probe_lines(*tracefs_, kind + event + " " + other.place + "\n");
  // Linux 6.12 takes one probe alone at a tracepoint.
  const bool is_there = done || done.error().code == ErrorCode::kExists;
  if (!is_there && done.error().code != ErrorCode::kInvalid) return done.error();
  Result<void>& may = other_kinds_[kind];
  if (is_there) {
    (void)append_probe_lines(*tracefs_, "-" + event + "\n");
  } else {
    may =
        invalid(std::string("this kernel has no ") + other.name + " (CONFIG_" + other.option + ")");
  }
  return may;
}

// Its owner could not remove the event, as long as a probe of ours is set on it.
Result<void> RealProbes::check_event(const wire::ProbeOrder& order) const {
  const std::string_view text = order.text;
  const auto named = tracing::parse_named_event(text.substr(0, text.find(' ')));
  if (order.kind != 'e' || !named) return {};
  const auto is_it = [&](const RealProbe& each) {
    return each.group == named->system && each.event == named->event;
  };
  if (std::ranges::none_of(read_dynamic_events(*tracefs_), is_it)) return {};
  return Error{ErrorCode::kInvalid, "another tool has made this event: it could not remove it"};
}

Result<wire::Probed> RealProbes::define(const wire::ProbeOrder& order) {
  if (auto may = may_define(); !may) return may.error();
  if (auto may = may_make(order.kind); !may) return may.error();
  const auto known = made_.find(order.serial);
  const bool is_there = known != made_.end();
  const std::string event = is_there ? known->second.event : free_name(order);
  if (order.is_known && is_there) {
    const auto [begin, end] = found_.equal_range(event);
    const auto [text, filter] = split_filter(order);
    const auto place = find_place(begin, end, text);
    if (place != end) {
      return describe(order, known->second, place->second + std::string(filter), "-");
    }
  }
  if (auto may = check_event(order); !may) return may.error();
  const std::string line = line_of(order, event);
  if (line.size() > kRealLineBytesMax) {
    const std::size_t most = kRealLineBytesMax - (line.size() - order.text.size());
    return Error{ErrorCode::kTooBig,
                 "a place and its arguments have at most " + std::to_string(most) + " bytes here"};
  }
  if (const auto done = append_probe_lines(*tracefs_, line + "\n"); !done) {
    return refusal(order, line, done.error());
  }
  // Whatever fails from here on, it is there for remove().
  Made& made = made_.try_emplace(order.serial, Made{.event = event}).first->second;
  made.is_of_program = order.text.starts_with('/');
  auto text = find_text(event);
  if (!text) return Error{ErrorCode::kInvalid, "the kernel has made nothing of it"};
  std::string file = file_of(*text).value_or("-");
  return describe(order, made, text->append(split_filter(order).second), std::move(file));
}

Result<wire::Probed> RealProbes::describe(const wire::ProbeOrder& order, Made& made,
                                          std::string text, std::string file) {
  const auto format = enter(made);
  if (!format) return format.error();
  return wire::Probed{.number = order.number,
                      .serial = order.serial,
                      .id = made.id,
                      .file = std::move(file),
                      .text = std::move(text),
                      .format = renamed(format.value(), order.event)};
}

void RealProbes::remove(const std::vector<std::uint64_t>& serials) {
  for (const std::uint64_t serial : serials) {
    const auto found = made_.find(serial);
    if (found == made_.end()) continue;
    const bool was_on = events_.forget(found->second.id);
    catalogue_.remove(found->second.id);
    std::string event = std::move(found->second.event);
    made_.erase(found);
    if (!was_on) {
      (void)remove_now(std::move(event));
    } else {
      leaving_.add(std::move(event), clock_.now().monotonic);
      if (auto oldest = leaving_.take_surplus(clock_.now().monotonic)) {
        remove_leaving(*std::move(oldest));
      }
    }
  }
}

void RealProbes::keep(const std::vector<std::uint64_t>& serials) {
  const std::set<std::uint64_t> kept(serials.begin(), serials.end());
  std::vector<std::uint64_t> others;
  for (const auto& [serial, made] : made_) {
    if (!kept.contains(serial)) others.push_back(serial);
  }
  remove(others);
  found_.clear();
}

// What has our group and is not among made_ is leaving.
Result<RealProbes::Profile> RealProbes::read_profile() const {
  constexpr int kTries = 8;
  for (int tries = 0; tries < kTries; ++tries) {
    const auto probes = read_real_probes(*tracefs_);
    const auto hits = read_probe_hits(*tracefs_, probes);
    if (!hits && hits.error().code != ErrorCode::kBusy) return hits.error();
    if (!hits) continue;
    Profile places;
    for (std::size_t i = 0; i < probes.size(); ++i) {
      const auto serial = probes[i].group == group_ ? serial_of(probes[i].event) : std::nullopt;
      if (!serial || !probes[i].has_profile()) continue;
      const auto made = made_.find(*serial);
      const bool is_made = made != made_.end() && made->second.event == probes[i].event;
      places[*serial].push_back(
          {.serial = *serial,
           .hits = hits.value()[i].hits,
           .missed = hits.value()[i].missed,
           .place = probes[i].text.substr(0, probes[i].text.find(' ')),
           .leaving = is_made ? std::string() : shown_event(probes[i].event)});
    }
    return places;
  }
  return Error{ErrorCode::kBusy, "the kernel's probes come and go all the time"};
}

// What a reader asks for after its first places is of that moment, or of another reader's: the
// kernel's two files have all probes of the machine, and reading them takes long.
Result<wire::Profiled> RealProbes::profile(const wire::ProfileOrder& order) {
  if (auto may = may_define(); !may) return may.error();
  const bool is_first = order.serial == 0 && order.place == 0;
  if (is_first || profile_.empty()) {
    auto read = read_profile();
    if (!read) return read.error();
    profile_ = std::move(read.value());
  }
  auto reply = profile_from(order, profile_);
  if (reply.places.empty()) profile_.clear();
  return reply;
}

LeavingProbes::Activity RealProbes::activity() const {
  using enum LeavingProbes::Activity;
  return events_.recording() ? kRecording : kIdle;
}

std::optional<std::chrono::milliseconds> RealProbes::due() const {
  const auto next = leaving_.next(activity());
  if (!next) return std::nullopt;
  const auto left = *next - clock_.now().monotonic;
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(left), std::chrono::milliseconds(0));
}

void RealProbes::tidy() {
  const auto from = clock_.now().monotonic;
  for (auto now = from; now < from + kTidyMax; now = clock_.now().monotonic) {
    auto event = leaving_.take_due(from, activity());
    if (!event) return;
    remove_leaving(*std::move(event));
  }
}

void RealProbes::remove_leaving(std::string event) {
  Recording* const recording = events_.recording();
  if (recording) (void)recording->drain(events_.sink());
  const bool is_gone = remove_now(std::move(event));
  if (!recording) return;
  leaving_.note_removal(clock_.now().monotonic);
  if (!is_gone) return;
  events_.sink().lost(0, 1);
  events_.sink().flush();
}

bool RealProbes::remove_now(std::string event) {
  const auto done = append_probe_lines(*tracefs_, "-:" + group_ + "/" + event + "\n");
  if (done || done.error().code == ErrorCode::kNotFound) return true;
  log_warning("the probe " + event + " is not removed yet: " + done.error().reason);
  leaving_.put_back(std::move(event), clock_.now().monotonic);
  return false;
}

}  // namespace tallyfs
