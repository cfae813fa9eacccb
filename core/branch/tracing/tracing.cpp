#include "core/branch/tracing/tracing.h"

#include <algorithm>

#include "core/branch/tracing/tracing_state.h"
#include "core/event/format/synthetic.h"

namespace tallyfs {
namespace {

// As the kernel has it, whose id it bears too.
constexpr std::string_view kMarkerFormat =
    "name: print\nID: 5\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
    "\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n\n"
    "print fmt: \"%ps: %s\", (void *)REC->ip, REC->buf\n";

// What formats and the nodes of their files take, beside the records.
constexpr std::uint64_t kInstanceBytes = 16u << 20;

Result<std::string> name_of(const EventOffer& offer) {
  if (offer.form == EventOffer::Form::kKernelFormat) {
    auto format = parse_event_format(offer.text);
    if (!format) return format.error();
    return std::move(format.value().name);
  }
  auto fields = FieldsDefinition::parse(offer.text);
  if (!fields) return fields.error().in(std::string(offer.system), std::string(offer.text));
  return std::move(fields.value().name);
}

// Whether the event is defined as the offer has it, which is of the same form.
bool is_same(const EventSet& set, EventNumber event, const EventOffer& offer) {
  if (offer.form == EventOffer::Form::kKernelFormat) return set.render_format(event) == offer.text;
  const auto fields = FieldsDefinition::parse(offer.text);
  return fields && fields.value().text() == set.fields_text(event);
}

std::uint32_t subject_of(std::string_view system, const EventFormat& format) {
  const auto number = [&](std::string_view name) -> std::optional<std::uint32_t> {
    const auto field = format.field(name);
    if (!field || field.value().size != sizeof(pid_t)) return std::nullopt;
    return field.value().offset;
  };
  // Whom it wakes or switches to rather than who happened to run then.
  if (const auto next = number("next_pid")) return *next;
  const auto pid = system == "sched" ? number("pid") : std::nullopt;
  if (pid) return *pid;
  return number("common_pid").value_or(Tracing::State::kNoSubject);
}

}  // namespace

Symbols::Place SourceSymbols::place(std::uint64_t address) const {
  for (const auto& source : sources_) {
    if (auto found = source->place(address); !found.name.empty()) return found;
  }
  return {};
}

std::string SourceSymbols::syscall(std::uint64_t number) const {
  for (const auto& source : sources_) {
    if (auto found = source->syscall(number); !found.empty()) return found;
  }
  return {};
}

// The top, which is always there, stands in the ledger with its histograms only.
Result<Tracing::State::Instance> Tracing::State::create_instance(std::string name, Moment now) {
  Holdings takes;
  if (!name.empty()) {
    takes = {.interfaces = 1, .bytes = kInstanceBytes + 2 * options.set.trace_bytes_max};
  }
  auto share = Reservation::create(ledger, options.owner, takes);
  if (!share) return share.error();
  auto made =
      std::make_shared<TracingInstance>(std::move(name), options.set, std::move(share.value()));
  made->last_change = now;
  made->marker = made->set.define_built_in(kMarkerSystem, kMarkerFormat).value();
  return made;
}

Result<void> Tracing::State::define_all(TracingInstance& instance) {
  for (const auto& event : top->set.events()) {
    if (event.system == kMarkerSystem) continue;
    if (event.system == kSyntheticSystem) {
      (void)instance.set.write_synthetic_events(top->set.fields_text(event.number));
      continue;
    }
    const auto& each = offered.find({std::string(event.system), std::string(event.name)})->second;
    const std::string text = each.form == EventOffer::Form::kKernelFormat
                                 ? top->set.render_format(event.number)
                                 : top->set.fields_text(event.number);
    const auto defined = define(instance, event.system, each.form, text);
    if (!defined) return defined.error();
  }
  return {};
}

Result<EventNumber> Tracing::State::define(TracingInstance& instance, std::string_view system,
                                           EventOffer::Form form, std::string_view text) {
  if (form == EventOffer::Form::kKernelFormat) return instance.set.define_event(system, text);
  const auto defined = instance.set.define_fields(system, text);
  if (!defined) return defined.error();
  return defined.value();
}

Result<void> Tracing::State::take_offer(EventSource& source, const EventOffer& offer, Moment now,
                                        std::vector<TakenOver>& taken) {
  if (offer.source_id >= kSourceIdsMax) return Error{ErrorCode::kNoSpace, "an id too large"};
  if (offer.system == kMarkerSystem) {
    return Error{ErrorCode::kExists, "events of the system ftrace are the tracing directory's own"};
  }
  const auto name = name_of(offer);
  if (!name) return name.error();
  const EventPath path(offer.system, name.value());
  if (const auto may = may_offer(source, offer, path); !may) return may;
  const auto known = offered.find(path);
  const bool is_taken_over = known != offered.end() && known->second.form != offer.form;
  if (is_taken_over) take_over(path, offer, now, taken);
  Result<void> done;
  each_instance([&](TracingInstance& instance) {
    if (!done) return;
    const auto defined = define(instance, offer.system, offer.form, offer.text);
    if (!defined) done = defined.error();
    touch(instance, now);
  });
  if (!done) {
    if (known == offered.end()) forget(path);
    return done;
  }
  offered.insert_or_assign(path, Offered{offer.form, &source, offer.source_id, offer.use});
  undelivered.erase(path);
  connect(path, offered.find(path)->second);
  return done;
}

Result<void> Tracing::State::may_offer(EventSource& source, const EventOffer& offer,
                                       const EventPath& path) {
  const auto known = offered.find(path);
  if (known == offered.end()) return {};
  const bool is_kernels = offer.form == EventOffer::Form::kKernelFormat;
  const bool was_kernels = known->second.form == EventOffer::Form::kKernelFormat;
  if (is_kernels && !was_kernels) return {};
  if (was_kernels && !is_kernels) return Error{ErrorCode::kExists, "it is an event of the kernel"};
  if (known->second.source && known->second.source != &source) {
    return Error{ErrorCode::kExists, "somebody else delivers this event"};
  }
  Result<void> may;
  each_instance([&](const TracingInstance& instance) {
    const auto number = instance.set.find(path.first, path.second);
    if (!number || !instance.set.in_use(*number)) return;
    if (!is_same(instance.set, *number, offer)) {
      may = Error{ErrorCode::kExists, "the event is there with other fields, and in use"};
    }
  });
  return may;
}

// Somebody defined an event by its fields that turns out to be one of the kernel's.
void Tracing::State::take_over(const EventPath& path, const EventOffer& offer, Moment now,
                               std::vector<TakenOver>& taken) {
  const Offered before = offered.find(path)->second;
  each_instance([&](TracingInstance& instance) {
    (void)instance.set.take_over_event(offer.system, offer.text);
  });
  // It is less than before.
  (void)hold_memory(*top);
  for (const auto& [name, instance] : instances) (void)hold_memory(*instance);
  if (before.source) {
    routes[before.source][before.source_id] = {};
    note_what_is_asked();
    taken.push_back({before.source, path});
  }
  const Error error{ErrorCode::kExists,
                    "the kernel's event takes its place; what was set on it is gone"};
  if (options.error_log) {
    options.error_log->warn(ErrorLog::Source::kMount, "event:" + path.first + ":" + path.second,
                            path.first + "/" + path.second, error, now);
  }
}

// Its records come under this number from now on.
void Tracing::State::connect(const EventPath& path, const Offered& each) {
  Routes& by_id = routes[each.source];
  if (std::ranges::find(sources, each.source) == sources.end()) sources.push_back(each.source);
  if (by_id.size() <= each.source_id) by_id.resize(each.source_id + std::size_t{1});
  Route& route = by_id[each.source_id];
  route = {.use = each.use};
  each_instance([&](TracingInstance& instance) {
    const auto number = instance.set.find(path.first, path.second);
    if (!number) return;
    if (each.form == EventOffer::Form::kKernelFormat) {
      route.subject_at = subject_of(path.first, instance.set.format(*number));
    }
    if (instance.set.demand(*number).on) route.targets.push_back({&instance, *number});
  });
  if (!route.targets.empty()) note_what_is_asked();
}

bool Tracing::State::in_use(const EventPath& path) {
  bool used = false;
  each_instance([&](TracingInstance& instance) {
    const auto number = instance.set.find(path.first, path.second);
    used |= number && instance.set.in_use(*number);
  });
  return used;
}

// Nothing is set on it.
void Tracing::State::forget(const EventPath& path) {
  each_instance([&](TracingInstance& instance) {
    const auto number = instance.set.find(path.first, path.second);
    if (number) (void)instance.set.remove_event(*number);
  });
  offered.erase(path);
  undelivered.erase(path);
}

void Tracing::State::forget_unused(Moment now) {
  std::vector<EventPath> gone;
  for (const EventPath& path : undelivered) {
    if (!in_use(path)) gone.push_back(path);
  }
  for (const EventPath& path : gone) {
    forget(path);
    update_all_directories(path, now);
  }
}

// The instance goes.
void Tracing::State::drop_targets(const TracingInstance& instance) {
  for (auto& [source, by_id] : routes) {
    for (Route& route : by_id) {
      std::erase_if(route.targets, [&](const Target& each) { return each.instance == &instance; });
    }
  }
}

std::vector<WantedEvent> Tracing::State::wanted(EventSource& source) {
  const MutexLock lock(mutex);
  std::vector<WantedEvent> all;
  const auto found = routes.find(&source);
  if (found == routes.end()) return all;
  const Routes& by_id = found->second;
  for (std::uint32_t id = 0; id < by_id.size(); ++id) {
    const auto& targets = by_id[id].targets;
    if (targets.empty()) continue;
    WantedEvent event{id, targets.front().instance->set.demand(targets.front().number)};
    for (const auto& [instance, number] : targets) {
      const Demand also = instance->set.demand(number);
      event.demand.stack |= also.stack;
      event.demand.comm |= also.comm;
      if (also.filter != event.demand.filter) event.demand.filter.clear();
    }
    all.push_back(std::move(event));
  }
  return all;
}

void Tracing::State::update_routes(TracingInstance& instance, Orders& orders) {
  for (const EventNumber number : instance.set.take_changed_demands()) {
    const bool on = instance.set.demand(number).on;
    const auto name = instance.set.name(number);
    const auto found = offered.find({std::string(name.system), std::string(name.name)});
    if (found == offered.end() || !found->second.source) {
      orders.undelivered |= on;
      continue;
    }
    EventSource* const source = found->second.source;
    auto& targets = routes[source][found->second.source_id].targets;
    std::erase_if(targets, [&](const Target& each) { return each.instance == &instance; });
    if (on) targets.push_back({&instance, number});
    orders.asks |= on;
    if (std::ranges::find(orders.sources, source) == orders.sources.end()) {
      orders.sources.push_back(source);
    }
  }
  note_what_is_asked();
  if (!late_is_asked) release(UINT64_MAX);
}

Result<void> Tracing::State::give(const Orders& orders, const CancellationToken& cancel) {
  Result<void> all;
  for (EventSource* const source : orders.sources) {
    auto done = source->want([this, source] { return wanted(*source); }, cancel);
    if (!done && all) all = std::move(done);
  }
  if (orders.undelivered && all) {
    return Error{ErrorCode::kNoDevice, "nobody delivers this event at present"};
  }
  return all;
}

// Something of what it offers is asked for already.
Tracing::State::Orders Tracing::State::orders_of(EventSource& source) {
  const auto found = routes.find(&source);
  const bool some =
      found != routes.end() &&
      std::ranges::any_of(found->second, [](const Route& route) { return !route.targets.empty(); });
  return some ? Orders{.sources = {&source}} : Orders{};
}

Tracing::Tracing(Tree& tree, NodeId directory, Ledger& ledger, const Options& options, Moment now)
    : state_(std::make_shared<State>(tree, ledger, options)) {
  const MutexLock lock(state_->mutex);
  state_->top = state_->create_instance("", now).value();
  state_->top->directory = directory;
  state_->enter_files(state_->top, now);
}

Tracing::~Tracing() = default;

Result<void> Tracing::offer(EventSource& source, const EventOffer& offer, Moment now) {
  State::Orders orders;
  std::vector<State::TakenOver> taken_over;
  {
    const MutexLock lock(state_->mutex);
    if (auto taken = state_->take_offer(source, offer, now, taken_over); !taken) return taken;
    // It is valid, hence it has a name.
    state_->update_all_directories({std::string(offer.system), name_of(offer).value()}, now);
    orders = state_->orders_of(source);
  }
  for (const auto& [from, path] : taken_over) from->taken_over(path.first, path.second, now);
  return state_->give(orders, {});
}

std::size_t Tracing::offer(EventSource& source, std::span<const EventOffer> offers, Moment now) {
  std::size_t taken = 0;
  State::Orders orders;
  std::vector<State::TakenOver> taken_over;
  {
    const MutexLock lock(state_->mutex);
    for (const EventOffer& each : offers) {
      taken += state_->take_offer(source, each, now, taken_over) ? 1 : 0;
    }
    state_->update_all_directories(now);
    orders = state_->orders_of(source);
  }
  for (const auto& [from, path] : taken_over) from->taken_over(path.first, path.second, now);
  (void)state_->give(orders, {});
  return taken;
}

void Tracing::withdraw(EventSource& source, Moment now) {
  const MutexLock lock(state_->mutex);
  std::vector<State::EventPath> gone;
  for (auto& [path, each] : state_->offered) {
    if (each.source != &source) continue;
    each.source = nullptr;
    state_->undelivered.insert(path);
    if (!state_->in_use(path)) gone.push_back(path);
  }
  for (const auto& path : gone) state_->forget(path);
  state_->release(UINT64_MAX);
  state_->routes.erase(&source);
  std::erase(state_->sources, &source);
  state_->note_what_is_asked();
  state_->update_all_directories(now);
}

Result<void> Tracing::withdraw(EventSource& source, std::uint32_t source_id, Moment now) {
  const MutexLock lock(state_->mutex);
  const auto is_it = [&](const auto& each) {
    return each.second.source == &source && each.second.source_id == source_id;
  };
  const auto found = std::ranges::find_if(state_->offered, is_it);
  if (found == state_->offered.end()) return Error{ErrorCode::kNotFound, "no such event"};
  const State::EventPath path = found->first;
  if (state_->in_use(path)) return Error{ErrorCode::kBusy, "something is set on this event"};
  state_->forget(path);
  state_->routes[&source][source_id] = {};
  state_->update_all_directories(path, now);
  return {};
}

std::vector<WantedEvent> Tracing::wanted(EventSource& source) const {
  return state_->wanted(source);
}

}  // namespace tallyfs
