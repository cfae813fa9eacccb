// Longer than most: a function that saves and one that loads for each kind of object.
#include "core/tracing/branch/saved_tracing.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "core/tracing/branch/saved_instance.h"
#include "core/tracing/branch/saved_probes.h"
#include "core/tracing/hist/hist_contents.h"

namespace tallyfs::tracing {
namespace {

// The version of the contents of all kinds except probes.
constexpr std::uint16_t kFormat = 1;

Error not_saved_here() { return {ErrorCode::kInvalid, "no saved object of tracing/"}; }
Error no_instance() { return {ErrorCode::kNotFound, "its tracing directory is not there"}; }
Error no_event() { return {ErrorCode::kNotFound, "its event is not there"}; }

std::string directory_of(const TracingInstance& instance) {
  std::string path = "tracing";
  if (!instance.name.empty()) path.append("/instances/").append(instance.name);
  return path;
}

std::string event_path(std::string path, std::string_view system, std::string_view event) {
  return path.append("/events/").append(system).append("/").append(event);
}

// A label is for people: which object it is stands in the contents.
std::string cut(std::string label) {
  label.resize(std::min(label.size(), kLabelBytesMax));
  return label;
}

void put_place(ByteWriter& out, const TracingInstance& instance, std::string_view system,
               std::string_view event) {
  out.put_text(instance.name);
  out.put_text(system);
  out.put_text(event);
}

}  // namespace

void SavedTracing::save(ObjectSink& sink) {
  for (Object& each : list()) {
    const bool is_long = each.kind == SavedKind::kHistogram;
    if (is_long && sink.keeps(each.kind, each.label, {.object = each.clears})) continue;
    if (is_long && !append_contents(each)) continue;
    if (!sink.put(saved_object(each.kind, each.format, each.label, each.bytes))) return;
  }
  save_error_log(sink);
}

void SavedTracing::save_error_log(ObjectSink& sink) const {
  if (!state_.options.error_log || state_.options.error_log->is_empty()) return;
  std::string bytes;
  ByteWriter out(bytes);
  state_.options.error_log->save(out);
  (void)sink.put(saved_object(SavedKind::kErrorLog, kFormat, "error_log", bytes));
}

void SavedTracing::save_records(ObjectSink& sink) {
  std::vector<SharedInstance> all;
  {
    const MutexLock lock(state_.mutex);
    state_.instances.each_shared([&](const SharedInstance& instance) { all.push_back(instance); });
  }
  for (const SharedInstance& instance : all) {
    std::string bytes;
    ByteWriter out(bytes);
    {
      const MutexLock lock(state_.mutex);
      out.put_text(instance->name);
      out.put(instance->lost);
      instance->set.trace.save(out);
    }
    const std::string label = cut(directory_of(*instance));
    if (!sink.put(saved_object(SavedKind::kTrace, kFormat, label, bytes))) return;
  }
}

SavedTracing::Objects SavedTracing::list() {
  Objects all;
  const MutexLock lock(state_.mutex);
  for (SavedProbes::Object& probe : SavedProbes::list(state_.probes)) {
    all.push_back({.kind = SavedKind::kProbe,
                   .format = probe.format,
                   .label = cut(std::move(probe.label)),
                   .bytes = std::move(probe.bytes)});
  }
  list_events(all);
  state_.instances.each([&](const TracingInstance& instance) { list_instance(instance, all); });
  state_.instances.each_shared([&](const SharedInstance& instance) {
    list_triggers(instance, all);
    list_settings(*instance, all);
  });
  return all;
}

void SavedTracing::list_events(Objects& all) {
  const EventSet& top = state_.instances.top()->set;
  const bool is_all = kernel_ == Kernel::kAll;
  const auto of_kernel = is_all ? state_.offers.kernel_events() : state_.offers.kernel_events_set();
  for (const auto& [system, event] : of_kernel) {
    const auto number = top.events.find(system, event);
    if (!number) continue;
    Object object{.kind = SavedKind::kKernelEvent,
                  .label = cut(event_path("tracing", system, event)),
                  .bytes = {}};
    ByteWriter out(object.bytes);
    out.put_text(system);
    out.put_text(*top.events.format_text(*number));
    all.push_back(std::move(object));
  }
  for (const auto& fields : top.synthetic.definitions()) {
    const auto number = top.events.find(kSyntheticSystem, fields->name);
    Object object{.kind = SavedKind::kSyntheticEvent, .label = cut(fields->name), .bytes = {}};
    ByteWriter out(object.bytes);
    out.put(number ? top.events.format(*number).id : std::uint16_t{0});
    out.put_text(fields->text());
    all.push_back(std::move(object));
  }
}

void SavedTracing::list_instance(const TracingInstance& instance, Objects& all) {
  if (instance.name.empty() && SavedInstance::is_as_first(instance)) return;
  Object object{
      .kind = SavedKind::kTracingInstance, .label = cut(directory_of(instance)), .bytes = {}};
  ByteWriter out(object.bytes);
  SavedInstance::save(instance, out);
  all.push_back(std::move(object));
}

// A histogram that several triggers share is saved with the first of them.
void SavedTracing::list_triggers(const SharedInstance& instance, Objects& all) {
  const EventSet& set = instance->set;
  std::set<const HistTable*> seen;
  const auto add_histogram = [&](const SavedTrigger& of, const std::string& label) {
    const auto number = set.events.find(of.system, of.event);
    const Trigger* const trigger = number ? set.triggers.find(*number, of.serial) : nullptr;
    if (!trigger || !trigger->table || !seen.insert(trigger->table.get()).second) return;
    Object object{.kind = SavedKind::kHistogram,
                  .label = label,
                  .bytes = {},
                  .clears = trigger->table->clears,
                  .instance = instance,
                  .event = *number,
                  .serial = of.serial};
    ByteWriter out(object.bytes);
    put_place(out, *instance, of.system, of.event);
    out.put(of.serial);
    all.push_back(std::move(object));
  };
  for (const SavedTrigger& each : set.triggers.saved()) {
    std::string label = event_path(directory_of(*instance), each.system, each.event);
    label = cut(label.append(" ").append(std::to_string(each.serial)));
    Object object{.kind = SavedKind::kTrigger, .label = label, .bytes = {}};
    ByteWriter out(object.bytes);
    out.put_text(instance->name);
    each.save(out);
    all.push_back(std::move(object));
    for (const SavedTrigger& hidden : each.hidden) add_histogram(hidden, label);
    add_histogram(each, label);
  }
}

void SavedTracing::list_settings(const TracingInstance& instance, Objects& all) {
  for (const auto& each : instance.set.events.names()) {
    const DefinedEvent& event = instance.set.events.at(each.number);
    const bool is_soft = event.waiting > 0 ? event.soft_enabled : event.enabled;
    if (!event.enabled && !is_soft && event.filter_text.empty()) continue;
    Object object{.kind = SavedKind::kEventSettings,
                  .label = cut(event_path(directory_of(instance), each.system, each.name)),
                  .bytes = {}};
    ByteWriter out(object.bytes);
    put_place(out, instance, each.system, each.name);
    out.put(std::uint8_t{event.enabled});
    out.put(std::uint8_t{is_soft});
    out.put_text(event.filter_text);
    all.push_back(std::move(object));
  }
}

// False: the trigger was removed meanwhile.
bool SavedTracing::append_contents(Object& object) {
  const auto contents = [&]() -> std::optional<HistContents> {
    const MutexLock lock(state_.mutex);
    Trigger* const trigger = object.instance->set.triggers.find(object.event, object.serial);
    if (!trigger || !trigger->table) return std::nullopt;
    return HistContents(trigger->plan, *trigger->table);
  }();
  if (!contents) return false;
  ByteWriter out(object.bytes);
  contents->encode(out);
  return true;
}

std::uint64_t SavedTracing::stamp(Timestamp now) {
  const MutexLock lock(state_.mutex);
  state_.order.release_old(now);
  std::uint64_t stamp = 0;
  state_.instances.each([&](const TracingInstance& instance) {
    stamp += spread(spread(instance.nodes.directory) + instance.changes);
  });
  stamp += spread(~state_.probes.changes());
  if (state_.options.error_log) stamp += spread(~state_.options.error_log->changes());
  return stamp;
}

Result<void> SavedTracing::load(const SavedObject& object, const Loading& loading) {
  if (is_of(object, SavedKind::kProbe)) return SavedProbes(state_).load(object, loading);
  if (object.format != kFormat) return other_format(object);
  ByteReader in(object.bytes);
  if (is_of(object, SavedKind::kKernelEvent)) return load_kernel_event(in, loading.now);
  if (is_of(object, SavedKind::kSyntheticEvent)) return load_synthetic_event(in, loading.now);
  if (is_of(object, SavedKind::kTracingInstance)) return load_instance(in, loading);
  if (is_of(object, SavedKind::kTrigger)) return load_trigger(in, loading.now);
  if (is_of(object, SavedKind::kHistogram)) return load_histogram(in, loading);
  if (is_of(object, SavedKind::kErrorLog)) return load_error_log(in, loading);
  if (is_of(object, SavedKind::kTrace)) return load_records(in, loading.now);
  return load_settings(in, loading.now);
}

Result<void> SavedTracing::load_error_log(ByteReader& in, const Loading& loading) {
  if (!state_.options.error_log) return not_saved_here();
  state_.options.error_log->load(in, loading.boot, loading.now);
  if (!in.ok()) return not_saved_here();
  return {};
}

Result<void> SavedTracing::load_records(ByteReader& in, Timestamp now) {
  const std::string_view name = in.get_text();
  const auto lost = in.get<std::uint64_t>();
  if (!in.ok()) return not_saved_here();
  const MutexLock lock(state_.mutex);
  const SharedInstance instance = state_.instances.top_or(name);
  if (!instance) return no_instance();
  TraceStore& trace = instance->set.trace;
  if (!trace.is_empty()) return Error{ErrorCode::kExists, "there are records already"};
  trace.load(in);
  instance->touch(now);
  if (in.ok() && in.left() == 0) {
    instance->count_lost(lost);
    return {};
  }
  instance->clear_trace();
  trace.clear_snapshot();
  return not_saved_here();
}

Result<void> SavedTracing::load_kernel_event(ByteReader& in, Timestamp now) {
  const std::string_view system = in.get_text();
  const std::string_view format = in.get_text();
  if (!in.ok() || in.left() != 0) return not_saved_here();
  const MutexLock lock(state_.mutex);
  const auto parsed = parse_event_format(format);
  if (parsed && state_.probes.is_refused(EventPath(system, parsed.value().name))) {
    return Error{ErrorCode::kNoDevice, "it is an event of a probe that is not here"};
  }
  const auto restored = state_.offers.restore({.system = system, .text = format}, now);
  if (!restored) return restored.error();
  state_.directories.update_all(restored.value(), now);
  return {};
}

Result<void> SavedTracing::load_synthetic_event(ByteReader& in, Timestamp now) {
  const auto id = in.get<std::uint16_t>();
  const std::string text(in.get_text());
  if (!in.ok() || in.left() != 0) return not_saved_here();
  auto parsed = FieldsDefinition::parse(text);
  if (!parsed) return parsed.error().in("synthetic_events", text);
  const auto fields = std::make_shared<const FieldsDefinition>(std::move(parsed.value()));
  EventIds::Id held;
  {
    const MutexLock lock(state_.mutex);
    held = state_.instances.ids().of(kSyntheticSystem, fields->name, id);
  }
  return state_.change_synthetic([&](EventSet& set) { return set.synthetic.add(fields, text); }, {},
                                 now);
}

Result<void> SavedTracing::load_instance(ByteReader& in, const Loading& loading) {
  SavedInstance saved =
      SavedInstance::load(in, {.cpus = state_.options.cpus, .set = state_.options.set});
  if (!in.ok() || in.left() != 0) return not_saved_here();
  if (loading.boot == Boot::kOther) saved.end_processes();
  if (!saved.name().empty()) {
    if (auto made = state_.make_instance(saved.name(), loading.now); !made) return made;
  }
  Result<void> done;
  {
    const MutexLock lock(state_.mutex);
    const SharedInstance instance = state_.instances.top_or(saved.name());
    if (!instance) return no_instance();
    done = saved.apply(*instance);
    instance->touch(loading.now);
    (void)state_.enter_demands(*instance, loading.now);
  }
  if (!done && !saved.name().empty()) (void)state_.remove_instance(saved.name(), loading.now);
  return done;
}

// The memory of histograms is that of the daemon's quota.
Result<void> SavedTracing::restore(TracingInstance& instance, const SavedTrigger& saved) {
  if (saved.first_serial() < instance.set.triggers.next_serial()) {
    return Error{ErrorCode::kExists, "it is older than the trigger before it"};
  }
  const auto made = instance.set.commands.restore(saved);
  if (!made) return Error{made.error().code, std::string(made.error().reason)};
  auto fits = instance.hold_memory();
  if (fits) return {};
  instance.set.triggers.remove(*made.value());
  (void)instance.hold_memory();
  return fits;
}

Result<void> SavedTracing::load_trigger(ByteReader& in, Timestamp now) {
  const std::string_view name = in.get_text();
  const SavedTrigger saved = SavedTrigger::load(in);
  if (!in.ok() || in.left() != 0) return not_saved_here();
  SourceRequests orders;
  {
    const MutexLock lock(state_.mutex);
    const SharedInstance instance = state_.instances.top_or(name);
    if (!instance) return no_instance();
    if (auto done = restore(*instance, saved); !done) return done;
    instance->touch(now);
    orders = state_.enter_demands(*instance, now);
  }
  (void)state_.give(orders, {});
  return {};
}

Result<void> SavedTracing::load_histogram(ByteReader& in, const Loading& loading) {
  const Place place{std::string(in.get_text()), std::string(in.get_text()),
                    std::string(in.get_text())};
  const auto serial = in.get<std::uint64_t>();
  if (!in.ok()) return not_saved_here();
  const MutexLock lock(state_.mutex);
  const SharedInstance instance = state_.instances.top_or(place.instance);
  if (!instance) return no_instance();
  const auto number = instance->set.events.find(place.system, place.event);
  if (!number) return no_event();
  const Trigger* const trigger = instance->set.triggers.find(*number, serial);
  if (!trigger || !trigger->table) {
    return Error{ErrorCode::kNotFound, "its trigger is not there"};
  }
  instance->touch(loading.now);
  const bool are_of_now = loading.boot == Boot::kThis;
  return load_hist(in, *trigger->plan, *trigger->table,
                   are_of_now ? HistVariables::kKept : HistVariables::kUnset);
}

Result<void> SavedTracing::load_settings(ByteReader& in, Timestamp now) {
  const Place place{std::string(in.get_text()), std::string(in.get_text()),
                    std::string(in.get_text())};
  const bool enabled = in.get_flag();
  const bool soft = in.get_flag();
  const std::string_view filter = in.get_text();
  if (!in.ok() || in.left() != 0) return not_saved_here();
  SourceRequests orders;
  {
    const MutexLock lock(state_.mutex);
    const SharedInstance instance = state_.instances.top_or(place.instance);
    if (!instance) return no_instance();
    EventSet& set = instance->set;
    const auto number = set.events.find(place.system, place.event);
    if (!number || !set.events.at(*number).is_listed()) return no_event();
    if (!filter.empty()) {
      if (auto done = set.filters.write(*number, filter); !done) {
        (void)set.filters.write(*number, "0");
        return done;
      }
    }
    set.events.at(*number).enabled = enabled;
    set.events.at(*number).soft_enabled = soft;
    instance->touch(now);
    orders = state_.enter_demands(*instance, now);
  }
  (void)state_.give(orders, {});
  return {};
}

void Tracing::save(ObjectSink& sink) const { SavedTracing(*state_).save(sink); }

void Tracing::save_for_successor(ObjectSink& sink) const {
  SavedTracing(*state_, SavedTracing::Kernel::kAll).save(sink);
}

void Tracing::save_records(ObjectSink& sink) const { SavedTracing(*state_).save_records(sink); }

std::uint64_t Tracing::stamp(Timestamp now) const { return SavedTracing(*state_).stamp(now); }

Result<void> Tracing::load(const SavedObject& object, const Loading& loading) {
  return SavedTracing(*state_).load(object, loading);
}

}  // namespace tallyfs::tracing
