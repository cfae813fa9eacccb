#include "core/tracing/branch/event_offers.h"

#include <algorithm>
#include <optional>

#include "core/tracing/format/synthetic.h"

namespace tallyfs::tracing {
namespace {

Result<void> define_in(TracingInstance& instance, std::string_view system,
                       const SharedFormat& format) {
  const auto defined = instance.set.events.define_event(system, format);
  return defined ? Result<void>() : defined.error();
}

Result<void> define_in(TracingInstance& instance, std::string_view system,
                       std::string_view fields) {
  const auto defined = instance.set.events.define_fields(system, fields);
  return defined ? Result<void>() : defined.error();
}

// Whether the event is defined as in the offer, which has the same form.
bool is_same(const EventTable& events, EventNumber event, const EventOffer& offer) {
  if (offer.form == EventOffer::Form::kKernelFormat) {
    return *events.format_text(event) == offer.text;
  }
  const auto fields = FieldsDefinition::parse(offer.text);
  return fields && fields.value() == *events.fields(event);
}

// probe: of its probe, if it has one.
TaskFields tasks_of(const EventPath& path, std::optional<ProbeTarget> probe,
                    const EventFormat& format) {
  if (!probe) return TaskFields::of(path.first, format);
  return *probe == ProbeTarget::kProgram ? TaskFields::of_uprobe(format)
                                         : TaskFields::of_kprobe(format);
}

}  // namespace

// An offer, read once for all instances.
struct EventOffers::Read {
  EventPath path;
  SharedFormat format{};  // nullptr: it was defined by its fields
};

std::uint32_t EventOffers::id_of(const Read& offer) {
  return offer.format.format ? offer.format.format->id : 0;
}

Result<EventOffers::Read> EventOffers::read(const EventOffer& offer) {
  if (offer.form == Form::kKernelFormat) {
    auto format = SharedFormat::parse(offer.text);
    if (!format) return format.error();
    const std::string& name = format.value().format->name;
    return Read{EventPath(offer.system, name), std::move(format.value())};
  }
  auto fields = FieldsDefinition::parse(offer.text);
  if (fields) return Read{EventPath(offer.system, std::move(fields.value().name))};
  return fields.error().in(std::string(offer.system), std::string(offer.text));
}

Result<EventPath> EventOffers::take(EventSource& source, const EventOffer& offer, Timestamp now,
                                    std::vector<TakenOver>& taken) {
  if (offer.source_id >= Tracing::kSourceIdsMax) {
    return Error{ErrorCode::kNoSpace, "an id too large"};
  }
  if (offer.system == kMarkerSystem) {
    return Error{ErrorCode::kExists, "events of the system ftrace are the tracing directory's own"};
  }
  const auto read_offer = read(offer);
  if (!read_offer) return read_offer.error();
  const EventPath& path = read_offer.value().path;
  adopt(path, offer, now);
  if (const auto may = may_take(source, offer, path); !may) return may.error();
  const OfferedEvent* const known = find(path);
  if (known && known->form != offer.form) take_over(path, offer, now, taken);
  if (const auto defined = define(offer, read_offer.value(), now); !defined) {
    if (!known) remove(path);
    return defined.error();
  }
  const OfferedEvent made{offer.form, &source, offer.source_id, offer.use};
  if (is_expected(path)) forget_other_id(source, offer, path);
  if (&source == expected_from_) ids_.insert_or_assign(offer.source_id, path);
  offered_.insert_or_assign(path, made);
  undelivered_.erase(path);
  connect(path, made, source);
  return path;
}

Result<void> EventOffers::may_take(EventSource& source, const EventOffer& offer,
                                   const EventPath& path) {
  const OfferedEvent* const known = find(path);
  if (!known) return {};
  const bool is_kernels = offer.form == Form::kKernelFormat;
  const bool was_kernels = known->form == Form::kKernelFormat;
  if (is_kernels && !was_kernels) return {};
  if (was_kernels && !is_kernels) return Error{ErrorCode::kExists, "it is an event of the kernel"};
  if (known->source && known->source != &source) {
    return Error{ErrorCode::kExists, "another source delivers this event"};
  }
  Result<void> may;
  instances_.each([&](const TracingInstance& instance) {
    const auto number = instance.find(path);
    if (!number || !instance.set.events.in_use(*number)) return;
    if (!is_same(instance.set.events, *number, offer)) {
      may = Error{ErrorCode::kExists, "the event is there with other fields, and in use"};
    }
  });
  return may;
}

Result<void> EventOffers::define(const EventOffer& offer, const Read& as, Timestamp now) {
  Result<void> done;
  instances_.each([&](TracingInstance& instance) {
    if (!done) return;
    done = as.format.format ? define_in(instance, offer.system, as.format)
                            : define_in(instance, offer.system, offer.text);
    instance.touch(now);
  });
  return done;
}

void EventOffers::take_over(const EventPath& path, const EventOffer& offer, Timestamp now,
                            std::vector<TakenOver>& taken) {
  const OfferedEvent before = *find(path);
  instances_.each([&](TracingInstance& instance) {
    (void)instance.set.take_over_event(offer.system, offer.text);
    (void)instance.hold_memory();  // less than before
  });
  if (before.source) {
    (void)routes_.renew(*before.source, before.source_id);
    routes_.note_asked();
    taken.push_back({before.source, path});
  }
  report(path,
         {ErrorCode::kExists, "the kernel's event takes its place; what was set on it is gone"},
         now);
}

void EventOffers::report(const EventPath& path, const Error& error, Timestamp now) {
  if (!options_.error_log) return;
  options_.error_log->warn(ErrorLog::kDaemon, "event:" + path.first + ":" + path.second,
                           path.first + "/" + path.second, error, now);
}

void EventOffers::adopt(const EventPath& path, const EventOffer& offer, Timestamp now) {
  const OfferedEvent* const known = find(path);
  if (!known || !known->is_restored || offer.form != Form::kKernelFormat) return;
  instances_.each([&](TracingInstance& instance) {
    const auto number = instance.find(path);
    if (!number || is_same(instance.set.events, *number, offer)) return;
    const auto redefined = instance.set.redefine_event(offer.system, offer.text);
    if (!redefined) return;
    for (const Error& error : redefined.value()) report(path, error, now);
    (void)instance.hold_memory();  // not more than before
    instance.touch(now);
  });
}

Result<EventPath> EventOffers::restore(const EventOffer& offer, Timestamp now) {
  const auto read_offer = read(offer);
  if (!read_offer) return read_offer.error();
  const EventPath& path = read_offer.value().path;
  if (offer.system == kMarkerSystem || find(path)) {
    return Error{ErrorCode::kExists, "there is an event of that name already"};
  }
  if (const auto defined = define(offer, read_offer.value(), now); !defined) {
    remove(path);
    return defined.error();
  }
  const OfferedEvent made{
      .form = offer.form, .source_id = id_of(read_offer.value()), .is_restored = true};
  offered_[path] = made;
  undelivered_.insert(path);
  // If two events have the same id, the first is the one that was delivered (kernel_events()).
  if (is_expected(path) && ids_.try_emplace(made.source_id, path).second) {
    connect(path, made, *expected_from_);
  }
  return path;
}

// Forgets the ids of expected events that were not offered.
void EventOffers::end_expecting() {
  for (const EventPath& path : undelivered_) {
    if (is_expected(path)) forget_id(path, find(path)->source_id);
  }
  expected_from_ = nullptr;
  ids_.clear();
}

// A module that was loaded anew has its events under other ids.
void EventOffers::forget_other_id(const EventSource& source, const EventOffer& offer,
                                  const EventPath& path) {
  const std::uint32_t known = find(path)->source_id;
  if (expected_from_ == &source && known != offer.source_id) forget_id(path, known);
}

void EventOffers::forget_id(const EventPath& path, std::uint32_t source_id) {
  if (!has_id(path, source_id)) return;
  (void)routes_.renew(*expected_from_, source_id);
  ids_.erase(source_id);
}

bool EventOffers::has_id(const EventPath& path, std::uint32_t source_id) const {
  const auto found = ids_.find(source_id);
  return found != ids_.end() && found->second == path;
}

bool EventOffers::is_expected(const EventPath& path) const {
  const OfferedEvent* const offered = expected_from_ ? find(path) : nullptr;
  return offered && offered->is_restored && offered->form == Form::kKernelFormat;
}

bool EventOffers::misses_expected() const {
  return std::ranges::any_of(
      undelivered_, [this](const auto& path) { return is_expected(path) && !probes_.has(path); });
}

bool EventOffers::is_delivered(const EventPath& path) const {
  const OfferedEvent* const offered = find(path);
  return offered && offered->source;
}

std::vector<EventPath> EventOffers::kernel_events() const {
  std::vector<EventPath> found;
  for (const auto& [path, offered] : offered_) {
    if (offered.form == Form::kKernelFormat) found.push_back(path);
  }
  std::stable_partition(found.begin(), found.end(), [this](const EventPath& path) {
    return is_delivered(path) || has_id(path, find(path)->source_id);
  });
  return found;
}

std::vector<EventPath> EventOffers::kernel_events_set() const {
  std::vector<EventPath> found;
  for (const EventPath& path : kernel_events()) {
    bool is_set = in_use(path);
    instances_.each([&](const TracingInstance& instance) {
      const auto number = instance.find(path);
      is_set |= number && !instance.set.events.at(*number).filter_text.empty();
    });
    if (is_set) found.push_back(path);
  }
  return found;
}

void EventOffers::connect(const EventPath& path, const OfferedEvent& offered, EventSource& source) {
  EventRoute& route = routes_.renew(source, offered.source_id);
  route.use = offered.use;
  instances_.each([&](TracingInstance& instance) {
    const auto number = instance.find(path);
    if (!number) return;
    if (offered.form == Form::kKernelFormat) {
      const EventFormat& format = instance.set.events.format(*number);
      route.tasks = tasks_of(path, probes_.target_of(path), format);
    }
    if (instance.set.demands.of(*number).on) route.targets.push_back({&instance, *number});
  });
  if (!route.targets.empty()) routes_.note_asked();
}

Result<void> EventOffers::define_all(TracingInstance& instance) {
  const EventTable& from = instances_.top()->set.events;
  for (const auto& event : from.names()) {
    if (event.system == kMarkerSystem) continue;
    const auto fields = from.fields(event.number);
    if (event.system == kSyntheticSystem) {
      (void)instance.set.synthetic.add(fields, event.name);
      continue;
    }
    Result<void> defined;
    if (fields) {
      const auto made = instance.set.events.define(event.system, fields, event.name);
      if (!made) defined = made.error();
    } else {
      defined = define_in(instance, event.system, from.shared_format(event.number));
    }
    if (!defined) return defined;
  }
  return {};
}

void EventOffers::withdraw(EventSource& source) {
  std::vector<EventPath> gone;
  for (auto& [path, each] : offered_) {
    if (each.source != &source) continue;
    each.source = nullptr;
    undelivered_.insert(path);
    if (!in_use(path)) gone.push_back(path);
  }
  for (const auto& path : gone) remove(path);
}

void EventOffers::detach(const EventPath& path) {
  const auto found = offered_.find(path);
  if (found == offered_.end() || !found->second.source) return;
  (void)routes_.renew(*found->second.source, found->second.source_id);
  routes_.note_asked();
  found->second.source = nullptr;
  found->second.is_restored = true;
  undelivered_.insert(path);
}

Result<EventPath> EventOffers::withdraw(EventSource& source, std::uint32_t source_id) {
  const auto found = std::ranges::find_if(offered_, [&](const auto& each) {
    return each.second.source == &source && each.second.source_id == source_id;
  });
  if (found == offered_.end()) return Error{ErrorCode::kNotFound, "no such event"};
  const EventPath path = found->first;
  if (in_use(path)) {
    return Error{ErrorCode::kBusy, "the event is in use: a trigger or enable is set on it"};
  }
  remove(path);
  (void)routes_.renew(source, source_id);
  return path;
}

std::vector<EventPath> EventOffers::remove_unused() {
  std::vector<EventPath> gone;
  for (const EventPath& path : undelivered_) {
    if (!is_expected(path) && !in_use(path)) gone.push_back(path);
  }
  for (const EventPath& path : gone) remove(path);
  return gone;
}

const OfferedEvent* EventOffers::find(const EventPath& path) const {
  const auto found = offered_.find(path);
  return found == offered_.end() ? nullptr : &found->second;
}

bool EventOffers::has_kernel_events() const {
  return std::ranges::any_of(offered_, [this](const auto& entry) {
    const OfferedEvent& offered = entry.second;
    const bool is_expected = expected_from_ && offered.is_restored;
    return offered.form == Form::kKernelFormat && (offered.source || is_expected);
  });
}

bool EventOffers::in_use(const EventPath& path) const {
  bool used = false;
  instances_.each([&](TracingInstance& instance) {
    const auto number = instance.find(path);
    used |= number && instance.set.events.in_use(*number);
  });
  return used;
}

void EventOffers::remove(const EventPath& path) {
  instances_.each([&](TracingInstance& instance) {
    if (const auto number = instance.find(path)) (void)instance.set.events.remove(*number);
  });
  offered_.erase(path);
  undelivered_.erase(path);
}

}  // namespace tallyfs::tracing
