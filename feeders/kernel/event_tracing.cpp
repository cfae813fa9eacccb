#include "feeders/kernel/event_tracing.h"

#include "core/tracing/format/format.h"
#include "feeders/kernel/kernel_filter.h"
#include "feeders/kernel/own_filter.h"
#include "feeders/kernel/probe_faults.h"
#include "feeders/tracefs/tracefs.h"

namespace tallyfs {

namespace {

tracing::TaskFields tasks_of(const CatalogueEvent& event, const tracing::EventFormat& format) {
  if (!event.probe) return tracing::TaskFields::of(event.system, format);
  return *event.probe == tracing::ProbeTarget::kProgram ? tracing::TaskFields::of_uprobe(format)
                                                        : tracing::TaskFields::of_kprobe(format);
}

}  // namespace

Result<void> EventTracing::change(const std::vector<wire::WatchedEvent>& events) {
  Result<void> first;
  bool stopped = false;
  for (const wire::WatchedEvent& event : events) {
    const auto found = watched_.find(event.id);
    if (event.on || found == watched_.end()) continue;
    stop(found->second);
    stopped = true;
  }
  // A drain still wants the records from before.
  if (stopped) (void)running_->drain(shipper_);
  for (const wire::WatchedEvent& event : events) {
    if (!event.on) watched_.erase(event.id);
    const auto done = event.on ? start(event) : Result<void>();
    if (!done && first) first = refusal(event.id, done.error());
  }
  tell_shipper();
  expect_stacks();
  if (watched_.empty()) end();
  return first;
}

// Users know neither the group nor the event that the kernel names.
Error EventTracing::refusal(std::uint32_t id, const Error& error) const {
  const CatalogueEvent* const known = catalogue_.find(id);
  const bool is_of_program = known && known->probe == tracing::ProbeTarget::kProgram;
  if (!is_of_program || error.code != ErrorCode::kInvalid) return tracing_refusal(error);
  const auto tracefs = open_tracefs(options_.owner.tracefs);
  std::vector<std::string> places;
  for (RealProbe& each : tracefs ? read_real_probes(tracefs.value()) : std::vector<RealProbe>()) {
    const bool is_it = each.group == known->system && each.event == known->name;
    if (is_it) places.push_back(std::move(each.text));
  }
  return {ErrorCode::kInvalid, why_not_on(places, error)};
}

Result<void> EventTracing::start(const wire::WatchedEvent& event) {
  const CatalogueEvent* const known = catalogue_.find(event.id);
  if (!known) return Error{ErrorCode::kNotFound, "this kernel has no event of that id"};
  if (!running_) {
    if (auto begun = begin(); !begun) return begun;
  }
  const auto [at, is_new] = watched_.try_emplace(
      event.id,
      Watched{.event = {.system = known->system, .name = known->name}, .as = {.id = event.id}});
  if (is_new) {
    if (const auto format = tracing::parse_event_format(known->format)) {
      at->second.tasks = tasks_of(*known, format.value());
    }
    were_on_.insert(event.id);
    // A predecessor may have had it with stacks, in addition to which the kernel takes none.
    if (running_->instance().is_inherited()) {
      (void)running_->instance().stop_stacks(at->second.event);
    }
  }
  auto done = record_as(at->second, event);
  // What comes before the shipper is told is not wanted yet.
  if (done && is_new) done = running_->instance().start(at->second.event);
  if (!done && is_new) {
    stop(at->second);
    watched_.erase(at);
  }
  return done;
}

Result<void> EventTracing::record_as(Watched& watched, const wire::WatchedEvent& event) {
  TracefsInstance& instance = running_->instance();
  const std::string text =
      both_filters(kernel_filter(event.filter), filter_without(watched.tasks, left_out_));
  const bool other_filter = watched.asked_filter != text;
  if (watched.as.stack && (!event.stack || other_filter)) {
    (void)instance.stop_stacks(watched.event);
    watched.as.stack = false;
  }
  if (event.comm && followed_.empty()) follow_names();
  if (other_filter) filter(watched, text);
  if (event.stack && !watched.as.stack) {
    shipper_.prepare_for_stacks();
    if (auto done = instance.start_stacks(watched.event); !done) return done;
  }
  watched.as = event;
  return {};
}

// An event that tells what tasks are called is recorded whole. Of a filter that the kernel refuses
// the part that leaves out threads may be taken.
void EventTracing::filter(Watched& watched, const std::string& text) {
  watched.asked_filter = text;
  if (names_tasks(watched.as.id)) {
    (void)set_filter(watched, "");
    return;
  }
  if (set_filter(watched, text)) return;
  (void)set_filter(watched, filter_without(watched.tasks, left_out_));
}

bool EventTracing::set_filter(Watched& watched, const std::string& text) {
  watched.event.filter = text;
  if (running_->instance().filter(watched.event)) return true;
  watched.event.filter.clear();
  return false;
}

void EventTracing::stop(Watched& watched) {
  TracefsInstance& instance = running_->instance();
  if (!names_tasks(watched.as.id)) (void)instance.stop(watched.event);
  if (watched.as.stack) (void)instance.stop_stacks(watched.event);
  // An event that is off may keep its filter: taking one off waits for all CPUs, and the next start
  // sets another.
  if (names_tasks(watched.as.id)) (void)set_filter(watched, "");
}

bool EventTracing::forget(std::uint32_t id) {
  if (watched_.contains(id)) (void)change({{.id = id}});
  const bool was_on = were_on_.erase(id) != 0 || is_taken_over_;
  return running_ && was_on;
}

void EventTracing::drop_leftovers() {
  const bool is_left = options_.owner.predecessor == TracefsInstance::Predecessor::kMayHaveLeftOne;
  if (!running_ && is_left && begin()) return end();
  if (!running_ || !running_->instance().is_inherited()) return;
  std::vector<TracefsInstance::Event> wanted = followed_;
  for (const auto& [id, watched] : watched_) wanted.push_back(watched.event);
  running_->instance().stop_others(wanted);
}

void EventTracing::tell_shipper() {
  for (const CatalogueEvent& event : catalogue_.events()) {
    auto& shipping = shipper_.shipping(event.id);
    const auto found = watched_.find(event.id);
    shipping.wanted = found != watched_.end();
    shipping.with_name = shipping.wanted && found->second.as.comm;
  }
}

void EventTracing::expect_stacks() {
  if (!running_) return;
  stacks_.with_stack.assign(Catalogue::kIdsEnd, false);
  bool any = false;
  for (const auto& [id, watched] : watched_) {
    stacks_.with_stack[id] = watched.as.stack;
    any = any || watched.as.stack;
  }
  MergedReader::Stacks stacks = stacks_;
  if (!any) stacks.type = 0;
  running_->expect_stacks(std::move(stacks));
}

bool EventTracing::names_tasks(std::uint32_t id) const {
  return shipper_.shipping(static_cast<std::uint16_t>(id)).names_name_at != 0;
}

void EventTracing::follow_names() {
  shipper_.forget_names();
  follow_names_of("task_newtask", "comm");
  follow_names_of("task_rename", "newcomm");
}

// Without them names are as old as their first use.
void EventTracing::follow_names_of(const char* name, const char* name_field) {
  const CatalogueEvent* const event = catalogue_.find("task", name);
  if (!event) return;
  const auto format = tracing::parse_event_format(event->format);
  const auto pid = format ? format.value().field("pid") : format.error();
  const auto task = format ? format.value().field(name_field) : format.error();
  if (!pid || !task || pid.value().size != sizeof(std::int32_t) ||
      task.value().size < TaskNames::kNameBytes) {
    return;
  }
  TracefsInstance::Event followed{.system = event->system, .name = event->name};
  (void)running_->instance().filter(followed);
  // A predecessor's; of one that is watched they are wanted.
  if (!watched_.contains(event->id)) (void)running_->instance().stop_stacks(followed);
  if (!running_->instance().start(followed)) return;
  auto& shipping = shipper_.shipping(event->id);
  shipping.names_pid_at = pid.value().offset;
  shipping.names_name_at = task.value().offset;
  followed_.push_back(std::move(followed));
}

void EventTracing::leave_out(std::vector<pid_t> threads) {
  if (threads == left_out_) return;
  left_out_ = std::move(threads);
  for (auto& [id, watched] : watched_) {
    const wire::WatchedEvent as = watched.as;
    (void)record_as(watched, as);
  }
}

Result<void> EventTracing::begin() {
  auto recording =
      Recording::create({.name = "events",
                         .events = {},
                         .buffer_kib_per_cpu = options_.buffer_kib_per_cpu,
                         .owner = options_.owner.instance,
                         .predecessor = std::exchange(options_.owner.predecessor,
                                                      TracefsInstance::Predecessor::kNone),
                         .tracefs = options_.owner.tracefs},
                        clock_);
  if (!recording) return recording.error();
  TracefsInstance& instance = recording.value().instance();
  stacks_ = {};
  const auto stacks = instance.format({.system = "ftrace", .name = "kernel_stack"});
  if (stacks) {
    const auto frames = stacks.value().field("caller");
    stacks_.type = frames ? stacks.value().id : std::uint16_t{0};
    stacks_.pid_offset = kPidAt;
    stacks_.frames_offset = frames ? frames.value().offset : 0;
  }
  shipper_.begin(instance.cpus());
  is_taken_over_ = instance.is_inherited();
  running_.emplace(std::move(recording.value()));
  return {};
}

void EventTracing::end() {
  if (!running_) return;
  for (auto& [id, watched] : watched_) stop(watched);
  for (const auto& event : followed_) (void)running_->instance().stop(event);
  running_->finish(shipper_);
  for (const auto& event : followed_) {
    const CatalogueEvent* const known = catalogue_.find(event.system, event.name);
    if (known) shipper_.shipping(known->id).names_name_at = 0;
  }
  followed_.clear();
  watched_.clear();
  tell_shipper();
  running_.reset();
  were_on_.clear();
}

}  // namespace tallyfs
