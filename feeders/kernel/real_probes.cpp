#include "feeders/kernel/real_probes.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/text.h"
#include "core/tracing/format/format.h"
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

// The format with the name that users see.
std::string renamed(const std::string& format, const std::string& event) {
  constexpr std::string_view kName = "name: ";
  if (!format.starts_with(kName)) return format;
  const std::size_t end = std::min(format.find('\n'), format.size());
  return std::string(kName) + event + format.substr(end);
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
    found_.emplace(probe.event, std::move(probe.text));
    Made& made = made_[*serial];
    if (made.event == probe.event) continue;
    if (!made.event.empty()) {
      catalogue_.remove(made.id);
      // Not before the instance of the predecessor, which it would empty, was taken over.
      const Time now = clock_.now().monotonic;
      leaving_.push_back({made.event, now + kLeavingTime, now + kTryAgain});
    }
    made = {.event = std::move(probe.event)};
    (void)enter(made);
  }
}

Result<std::string> RealProbes::enter(Made& made) {
  auto format = read_text(*tracefs_, "events/" + group_ + "/" + made.event + "/format");
  if (!format) return format.error();
  const auto parsed = parse_event_format(format.value());
  if (!parsed) return parsed.error();
  made.id = parsed.value().id;
  catalogue_.add({.id = parsed.value().id,
                  .system = group_,
                  .name = made.event,
                  .format = format.value(),
                  .is_uprobe = true});
  return format;
}

std::string RealProbes::line_of(const wire::ProbeOrder& order, const std::string& event) const {
  return std::string(1, order.kind) + ":" + group_ + "/" + event + " " + order.text;
}

// The kernel counts the caret in the line that it was given, with our names.
Error RealProbes::refusal(const wire::ProbeOrder& order, const std::string& line,
                          const Error& error) const {
  const auto log = read_text(*tracefs_, "error_log");
  auto said = log ? find_refusal(log.value(), line) : std::nullopt;
  if (!said) return {.code = error.code, .reason = "the kernel refuses it: " + error.reason};
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

Error RealProbes::no_probes() const {
  const bool has_uprobes = tracefs_ && read_text(*tracefs_, "uprobe_events");
  return {ErrorCode::kNoDevice, has_uprobes
                                    ? "this tallyfs has no lock for probes: restart it"
                                    : "this kernel has no uprobes (CONFIG_UPROBE_EVENTS)"};
}

// A new probe must not become another place of one that is leaving.
std::string RealProbes::free_name(const wire::ProbeOrder& order) const {
  for (unsigned nth = 1;; ++nth) {
    std::string name = real_event(order.event, order.serial, nth);
    if (std::ranges::find(leaving_, name, &Leaving::event) == leaving_.end()) return name;
  }
}

Result<wire::Probed> RealProbes::define(const wire::ProbeOrder& order) {
  if (group_.empty()) return no_probes();
  const auto known = made_.find(order.serial);
  const bool is_there = known != made_.end();
  const std::string event = is_there ? known->second.event : free_name(order);
  if (order.is_known && is_there) {
    const auto [begin, end] = found_.equal_range(event);
    const bool has_place = std::any_of(begin, end, [&](const auto& each) {
      return each.second == order.text;
    });
    if (has_place) return describe(order, known->second, order.text);
  }
  const std::string line = line_of(order, event);
  if (line.size() > kRealLineBytesMax) {
    const std::size_t most = kRealLineBytesMax - (line.size() - order.text.size());
    return Error{ErrorCode::kTooBig, "a place and its arguments have at most " +
                                         std::to_string(most) + " bytes here"};
  }
  if (const auto done = append_probe_lines(*tracefs_, line + "\n"); !done) {
    return refusal(order, line, done.error());
  }
  auto text = find_text(event);
  if (!text) return Error{ErrorCode::kInvalid, "the kernel has made nothing of it"};
  return describe(order, made_.try_emplace(order.serial, Made{.event = event}).first->second,
                  std::move(*text));
}

Result<wire::Probed> RealProbes::describe(const wire::ProbeOrder& order, Made& made,
                                          std::string text) {
  const auto format = enter(made);
  if (!format) return format.error();
  return wire::Probed{.number = order.number,
                      .serial = order.serial,
                      .id = made.id,
                      .text = std::move(text),
                      .format = renamed(format.value(), order.event)};
}

void RealProbes::remove(const std::vector<std::uint64_t>& serials) {
  for (const std::uint64_t serial : serials) {
    const auto found = made_.find(serial);
    if (found == made_.end()) continue;
    const bool was_on = events_.forget(found->second.id);
    catalogue_.remove(found->second.id);
    Leaving leaving{.event = std::move(found->second.event),
                    .not_before = clock_.now().monotonic + kLeavingTime};
    made_.erase(found);
    if (!was_on) {
      (void)remove_now(std::move(leaving));
    } else {
      leaving_.push_back(std::move(leaving));
      if (leaving_.size() > kLeavingMax) leaving_.front().not_before = {};
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

RealProbes::Time RealProbes::when(const Leaving& each) const {
  if (!events_.recording()) return each.next_try_from;
  return std::max({each.next_try_from, each.not_before, next_removal_from_});
}

std::optional<std::chrono::milliseconds> RealProbes::due() const {
  if (leaving_.empty()) return std::nullopt;
  Time first = Time::max();
  for (const Leaving& each : leaving_) first = std::min(first, when(each));
  const Time left = first - clock_.now().monotonic;
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(left), std::chrono::milliseconds(0));
}

void RealProbes::tidy() {
  const Time now = clock_.now().monotonic;
  Recording* const recording = events_.recording();
  for (std::size_t left = leaving_.size(); left > 0; --left) {
    Leaving each = std::move(leaving_.front());
    leaving_.pop_front();
    if (when(each) > now) {
      leaving_.push_back(std::move(each));
      continue;
    }
    if (recording) (void)recording->drain(events_.sink());
    const bool is_gone = remove_now(std::move(each));
    if (!recording) continue;
    next_removal_from_ = clock_.now().monotonic + kApart;
    if (!is_gone) continue;
    events_.sink().lost(0, 1);
    events_.sink().flush();
  }
}

bool RealProbes::remove_now(Leaving leaving) {
  const auto done = append_probe_lines(*tracefs_, "-:" + group_ + "/" + leaving.event + "\n");
  if (done || done.error().code == ErrorCode::kNotFound) return true;
  log_warning("the probe " + leaving.event + " is not removed yet: " + done.error().reason);
  leaving.next_try_from = clock_.now().monotonic + kTryAgain;
  leaving_.push_back(std::move(leaving));
  return false;
}

}  // namespace tallyfs
