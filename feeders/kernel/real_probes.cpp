#include "feeders/kernel/real_probes.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "core/tracing/format/format.h"
#include "feeders/tracefs/tracefs.h"
#include "program/log.h"

namespace tallyfs {
namespace {

constexpr std::size_t kNameBytes = 63;

std::string real_event(const std::string& event, std::uint64_t serial) {
  const std::string end = "_" + std::to_string(serial);
  return event.substr(0, kNameBytes - std::min(end.size(), kNameBytes)) + end;
}

std::optional<std::uint64_t> serial_of(std::string_view event) {
  const std::size_t before = event.rfind('_');
  return before == event.npos ? std::nullopt : parse_unsigned(event.substr(before + 1));
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
  if (group_.empty()) return;
  for (const RealProbe& probe : read_real_probes(*tracefs_)) {
    const auto serial = probe.group == group_ ? serial_of(probe.event) : std::nullopt;
    if (!serial || made_.contains(*serial)) continue;
    (void)enter(made_[*serial] = {.event = probe.event});
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

std::optional<std::string> RealProbes::find_text(const std::string& event,
                                                 const std::string& text) const {
  std::optional<std::string> found;
  for (RealProbe& probe : read_real_probes(*tracefs_)) {
    const bool is_meant = probe.group == group_ && probe.event == event;
    if (is_meant && (text.empty() || probe.text == text)) found = std::move(probe.text);
  }
  return found;
}

Result<wire::Probed> RealProbes::define(const wire::ProbeOrder& order) {
  if (group_.empty()) {
    return Error{ErrorCode::kNoDevice, "this kernel has no uprobes (CONFIG_UPROBE_EVENTS)"};
  }
  const auto known = made_.find(order.serial);
  const bool is_there = known != made_.end();
  const std::string event = is_there ? known->second.event : real_event(order.event, order.serial);
  if (order.is_known && is_there) {
    if (auto text = find_text(event, order.text)) {
      return describe(order, known->second, std::move(*text));
    }
  }
  const std::string line = line_of(order, event);
  if (const auto done = append_probe_lines(*tracefs_, line + "\n"); !done) {
    return refusal(order, line, done.error());
  }
  auto text = find_text(event, {});
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
  std::vector<std::string> unused;
  for (const std::uint64_t serial : serials) {
    const auto found = made_.find(serial);
    if (found == made_.end()) continue;
    const Made& made = found->second;
    const bool was_on = events_.forget(made.id);
    catalogue_.remove(made.id);
    if (was_on && leaving_.empty()) tidy_at_ = clock_.now().monotonic + kLeavingTime;
    (was_on ? leaving_ : unused).push_back(made.event);
    if (was_on && leaving_.size() == kLeavingMax) tidy_at_ = clock_.now().monotonic;
    made_.erase(found);
  }
  remove_now(unused);
}

void RealProbes::keep(const std::vector<std::uint64_t>& serials) {
  std::vector<std::uint64_t> others;
  for (const auto& [serial, made] : made_) {
    if (std::ranges::find(serials, serial) == serials.end()) others.push_back(serial);
  }
  remove(others);
}

std::optional<std::chrono::milliseconds> RealProbes::due() const {
  if (leaving_.empty()) return std::nullopt;
  const auto left = tidy_at_ - clock_.now().monotonic;
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(left), std::chrono::milliseconds(0));
}

void RealProbes::tidy() {
  if (leaving_.empty()) return;
  Recording* const recording = events_.recording();
  if (recording && clock_.now().monotonic < tidy_at_) return;
  if (recording) (void)recording->drain(events_.sink());
  remove_now(std::exchange(leaving_, {}));
  if (!recording) return;
  events_.sink().lost(0, 1);
  events_.sink().flush();
}

// One after the other: of a write with several lines the kernel would not say which one it refused.
void RealProbes::remove_now(const std::vector<std::string>& events) {
  const bool was_empty = leaving_.empty();
  for (const std::string& event : events) {
    const auto done = append_probe_lines(*tracefs_, "-:" + group_ + "/" + event + "\n");
    if (done || done.error().code == ErrorCode::kNotFound) continue;
    log_warning("the probe " + event + " is not removed yet: " + done.error().reason);
    leaving_.push_back(event);
    if (was_empty) tidy_at_ = clock_.now().monotonic + kTryAgain;
  }
}

}  // namespace tallyfs
