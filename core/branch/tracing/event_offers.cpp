#include "core/branch/tracing/event_offers.h"

#include <algorithm>
#include <optional>

#include "core/event/format/synthetic.h"

namespace tallyfs {
namespace {

Result<std::string> name_of(const EventOffer& offer) {
  if (offer.form == EventOffer::Form::kKernelFormat) {
    auto format = parse_event_format(offer.text);
    if (!format) return format.error();
    return std::move(format.value().name);
  }
  auto fields = FieldsDefinition::parse(offer.text);
  if (fields) return std::move(fields.value().name);
  return fields.error().in(std::string(offer.system), std::string(offer.text));
}

// Whether the event is defined as in the offer, which has the same form.
bool is_same(const EventTable& events, EventNumber event, const EventOffer& offer) {
  if (offer.form == EventOffer::Form::kKernelFormat) {
    return *events.format_text(event) == offer.text;
  }
  const auto fields = FieldsDefinition::parse(offer.text);
  return fields && fields.value() == *events.fields(event);
}

Result<void> define_in(TracingInstance& instance, std::string_view system, EventOffer::Form form,
                       std::string_view text) {
  EventTable& events = instance.set.events;
  if (form == EventOffer::Form::kKernelFormat) {
    const auto defined = events.define_event(system, text);
    return defined ? Result<void>() : defined.error();
  }
  const auto defined = events.define_fields(system, text);
  return defined ? Result<void>() : defined.error();
}

}  // namespace

Result<EventPath> EventOffers::take(EventSource& source, const EventOffer& offer, Moment now,
                                    std::vector<TakenOver>& taken) {
  if (offer.source_id >= Tracing::kSourceIdsMax) {
    return Error{ErrorCode::kNoSpace, "an id too large"};
  }
  if (offer.system == kMarkerSystem) {
    return Error{ErrorCode::kExists, "events of the system ftrace are the tracing directory's own"};
  }
  const auto name = name_of(offer);
  if (!name) return name.error();
  const EventPath path(offer.system, name.value());
  adopt(path, offer, now);
  if (const auto may = may_take(source, offer, path); !may) return may.error();
  const OfferedEvent* const known = find(path);
  if (known && known->form != offer.form) take_over(path, offer, now, taken);
  if (const auto defined = define(offer, now); !defined) {
    if (!known) remove(path);
    return defined.error();
  }
  const OfferedEvent made{offer.form, &source, offer.source_id, offer.use};
  offered_.insert_or_assign(path, made);
  undelivered_.erase(path);
  connect(path, made);
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

Result<void> EventOffers::define(const EventOffer& offer, Moment now) {
  Result<void> done;
  instances_.each([&](TracingInstance& instance) {
    if (!done) return;
    done = define_in(instance, offer.system, offer.form, offer.text);
    instance.touch(now);
  });
  return done;
}

void EventOffers::take_over(const EventPath& path, const EventOffer& offer, Moment now,
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

void EventOffers::report(const EventPath& path, const Error& error, Moment now) {
  if (!options_.error_log) return;
  options_.error_log->warn(ErrorLog::Source::kMount, "event:" + path.first + ":" + path.second,
                           path.first + "/" + path.second, error, now);
}

void EventOffers::adopt(const EventPath& path, const EventOffer& offer, Moment now) {
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

Result<void> EventOffers::restore(const EventOffer& offer, Moment now) {
  const auto name = name_of(offer);
  if (!name) return name.error();
  const EventPath path(offer.system, name.value());
  if (offer.system == kMarkerSystem || find(path)) {
    return Error{ErrorCode::kExists, "there is an event of that name already"};
  }
  if (const auto defined = define(offer, now); !defined) {
    remove(path);
    return defined.error();
  }
  offered_[path] = {.form = offer.form, .is_restored = true};
  undelivered_.insert(path);
  return {};
}

std::vector<EventPath> EventOffers::kernel_events_set() const {
  std::vector<EventPath> found;
  for (const auto& offered : offered_) {
    if (offered.second.form != Form::kKernelFormat) continue;
    const EventPath& path = offered.first;
    bool is_set = in_use(path);
    instances_.each([&](const TracingInstance& instance) {
      const auto number = instance.find(path);
      is_set |= number && !instance.set.events.at(*number).filter_text.empty();
    });
    if (is_set) found.push_back(path);
  }
  return found;
}

void EventOffers::connect(const EventPath& path, const OfferedEvent& offered) {
  EventRoute& route = routes_.renew(*offered.source, offered.source_id);
  route.use = offered.use;
  instances_.each([&](TracingInstance& instance) {
    const auto number = instance.find(path);
    if (!number) return;
    if (offered.form == Form::kKernelFormat) {
      route.tasks = TaskFields::of(path.first, instance.set.events.format(*number));
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
      defined =
          define_in(instance, event.system, Form::kKernelFormat, *from.format_text(event.number));
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

Result<EventPath> EventOffers::withdraw(EventSource& source, std::uint32_t source_id) {
  const auto found = std::ranges::find_if(offered_, [&](const auto& each) {
    return each.second.source == &source && each.second.source_id == source_id;
  });
  if (found == offered_.end()) return Error{ErrorCode::kNotFound, "no such event"};
  const EventPath path = found->first;
  if (in_use(path)) return Error{ErrorCode::kBusy, "something is set on this event"};
  remove(path);
  (void)routes_.renew(source, source_id);
  return path;
}

std::vector<EventPath> EventOffers::remove_unused() {
  std::vector<EventPath> gone;
  for (const EventPath& path : undelivered_) {
    if (!in_use(path)) gone.push_back(path);
  }
  for (const EventPath& path : gone) remove(path);
  return gone;
}

const OfferedEvent* EventOffers::find(const EventPath& path) const {
  const auto found = offered_.find(path);
  return found == offered_.end() ? nullptr : &found->second;
}

bool EventOffers::has_kernel_events() const {
  return std::ranges::any_of(offered_, [](const auto& entry) {
    return entry.second.form == Form::kKernelFormat && entry.second.source;
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

}  // namespace tallyfs
