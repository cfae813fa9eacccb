// The directories of the tracing directory. Those of systems and events are many and mostly nobody
// looks into them: they, and the files in them, are entered into the tree when somebody does.
#include <algorithm>
#include <array>
#include <atomic>

#include "core/base/text.h"
#include "core/branch/tracing/tracing_buffer_files.h"
#include "core/branch/tracing/tracing_files.h"
#include "core/branch/tracing/tracing_options.h"

namespace tallyfs {
namespace {

constexpr unsigned kReadable = 0440;
constexpr unsigned kWritable = 0640;
constexpr unsigned kWriteOnly = 0220;

using State = Tracing::State;

// A directory whose entries are made when somebody looks into it.
class LazyDirectory : public Directory {
 public:
  void entered(Moment now) final {
    if (is_filled_.load(std::memory_order_acquire)) return;
    fill(now);
    is_filled_.store(true, std::memory_order_release);
  }

 protected:
  // May be called twice.
  virtual void fill(Moment now) = 0;

 private:
  std::atomic<bool> is_filled_{false};
};

// events/
class EventsDirectory final : public LazyDirectory {
 public:
  // Shared as the files are.
  EventsDirectory(TracingShared state, State::Instance instance)
      : state_(std::move(state)), instance_(std::move(instance)) {}

 private:
  void fill(Moment now) override {
    const MutexLock lock(state_->mutex);
    if (instance_->removed) return;
    instance_->filled = true;
    state_->update_directories(instance_, now);
  }
  const TracingShared state_;
  const State::Instance instance_;
};

// events/SYSTEM/
class SystemDirectory final : public LazyDirectory {
 public:
  SystemDirectory(TracingShared state, State::Instance instance, std::string system)
      : state_(std::move(state)), instance_(std::move(instance)), system_(std::move(system)) {}

 private:
  void fill(Moment now) override {
    const MutexLock lock(state_->mutex);
    const auto found = instance_->systems.find(system_);
    if (instance_->removed || found == instance_->systems.end()) return;
    found->second.filled = true;
    state_->update_system(instance_, system_, now);
  }
  const TracingShared state_;
  const State::Instance instance_;
  const std::string system_;
};

// events/SYSTEM/EVENT/
class EventDirectory final : public LazyDirectory {
 public:
  EventDirectory(TracingShared state, State::Instance instance, State::EventPath path)
      : state_(std::move(state)),
        instance_(std::move(instance)),
        path_(std::make_shared<const State::EventPath>(std::move(path))) {}

 private:
  void fill(Moment now) override {
    using Kind = EventFile::Kind;
    const MutexLock lock(state_->mutex);
    const auto system = instance_->systems.find(path_->first);
    if (is_made_ || instance_->removed || system == instance_->systems.end()) return;
    const auto node = system->second.events.find(path_->second);
    const auto number = instance_->set.find(path_->first, path_->second);
    if (node == system->second.events.end() || !number) return;
    is_made_ = true;
    const auto enter = [&](std::string_view name, unsigned permissions, Kind kind) {
      state_->tree.add_file(node->second, name, permissions,
                            std::make_shared<EventFile>(state_, instance_, path_, kind), now);
    };
    if (!instance_->set.is_built_in(*number)) {
      enter("enable", kWritable, Kind::kEnable);
      enter("filter", kWritable, Kind::kFilter);
    }
    enter("format", kReadable, Kind::kFormat);
    enter("hist", kReadable, Kind::kHist);
    enter("hist.json", kReadable, Kind::kHistJson);
    enter("id", kReadable, Kind::kId);
    enter("trigger", kWritable, Kind::kTrigger);
  }
  const TracingShared state_;
  const State::Instance instance_;
  const EventFile::Path path_;
  bool is_made_ = false;  // guarded by the state's mutex
};

// instances/
class InstancesDirectory final : public Directory {
 public:
  explicit InstancesDirectory(TracingShared state) : state_(std::move(state)) {}
  Result<void> make_directory(std::string_view name, Moment now) override {
    return state_->make_instance(name, now);
  }
  Result<void> remove_directory(std::string_view name, Moment now) override {
    return state_->remove_instance(name, now);
  }

 private:
  const TracingShared state_;
};

struct Entry {
  std::string_view name;
  unsigned permissions;
  SetFile::Kind kind;
};
constexpr std::array kEverywhere = {
    Entry{"available_tracers", kReadable, SetFile::Kind::kAvailableTracers},
    Entry{"current_tracer", kWritable, SetFile::Kind::kCurrentTracer},
    Entry{"set_event", kWritable, SetFile::Kind::kSetEvent},
    Entry{"set_event_pid", kWritable, SetFile::Kind::kSetEventPid},
    Entry{"snapshot", kWritable, SetFile::Kind::kSnapshot},
    Entry{"trace", kWritable, SetFile::Kind::kTrace},
    Entry{"trace_clock", kWritable, SetFile::Kind::kTraceClock},
    Entry{"trace_marker", kWriteOnly, SetFile::Kind::kTraceMarker},
    Entry{"tracing_on", kWritable, SetFile::Kind::kTracingOn},
};
// Where there is one for all instances.
constexpr std::array kAtTheTop = {
    Entry{"README", kReadable, SetFile::Kind::kReadme},
    Entry{"available_events", kReadable, SetFile::Kind::kAvailableEvents},
    Entry{"dynamic_events", kWritable, SetFile::Kind::kDynamicEvents},
    Entry{"synthetic_events", kWritable, SetFile::Kind::kSyntheticEvents},
};
struct BufferEntry {
  std::string_view name;
  unsigned permissions;
  BufferFile::Kind kind;
};
constexpr std::array kBuffers = {
    BufferEntry{"buffer_size_kb", kWritable, BufferFile::Kind::kBufferSize},
    BufferEntry{"buffer_total_size_kb", kReadable, BufferFile::Kind::kBufferTotalSize},
    BufferEntry{"saved_cmdlines", kReadable, BufferFile::Kind::kSavedCmdlines},
    BufferEntry{"saved_cmdlines_size", kWritable, BufferFile::Kind::kSavedCmdlinesSize},
    BufferEntry{"set_event_notrace_pid", kWritable, BufferFile::Kind::kSetEventNotracePid},
    BufferEntry{"timestamp_mode", kReadable, BufferFile::Kind::kTimestampMode},
    BufferEntry{"trace_pipe", kReadable, BufferFile::Kind::kTracePipe},
    BufferEntry{"tracing_cpumask", kWritable, BufferFile::Kind::kTracingCpumask},
};
constexpr std::array kOfCpus = {
    BufferEntry{"stats", kReadable, BufferFile::Kind::kCpuStats},
    BufferEntry{"trace", kWritable, BufferFile::Kind::kCpuTrace},
};

}  // namespace

void Tracing::State::enter_files(const Instance& instance, Moment now) {
  const NodeId at = instance->directory;
  const auto enter = [&](NodeId directory, const Entry& entry) {
    tree.add_file(directory, entry.name, entry.permissions,
                  std::make_shared<SetFile>(shared_from_this(), instance, entry.kind), now);
  };
  if (instance == top) {
    for (const Entry& entry : kAtTheTop) enter(at, entry);
  }
  for (const Entry& entry : kEverywhere) enter(at, entry);
  if (options.error_log) tree.add_file(at, "error_log", kWritable, options.error_log, now);
  enter_buffers(instance, now);
  enter_options(instance, now);
  instance->events = tree.add_directory(
      at, "events", std::make_shared<EventsDirectory>(shared_from_this(), instance), now);
  tree.add_file(
      instance->events, "enable", kWritable,
      std::make_shared<SystemFile>(shared_from_this(), instance, "", SystemFile::Kind::kEnable),
      now);
  if (instance != top) return;
  instances_directory = tree.add_directory(
      at, "instances", std::make_shared<InstancesDirectory>(shared_from_this()), now);
}

void Tracing::State::enter_buffers(const Instance& instance, Moment now) {
  const auto enter = [&](NodeId directory, const BufferEntry& entry, std::uint32_t cpu) {
    tree.add_file(directory, entry.name, entry.permissions,
                  std::make_shared<BufferFile>(shared_from_this(), instance, entry.kind, cpu), now);
  };
  for (const BufferEntry& entry : kBuffers) enter(instance->directory, entry, 0);
  const NodeId all =
      tree.add_directory(instance->directory, "per_cpu", std::make_shared<Directory>(), now);
  for (std::uint32_t cpu = 0; cpu < options.cpus; ++cpu) {
    const NodeId node =
        tree.add_directory(all, "cpu" + std::to_string(cpu), std::make_shared<Directory>(), now);
    for (const BufferEntry& entry : kOfCpus) enter(node, entry, cpu);
  }
}

void Tracing::State::enter_options(const Instance& instance, Moment now) {
  const auto enter = [&](NodeId directory, std::string_view name, const TraceOption* option) {
    tree.add_file(directory, name, kWritable,
                  std::make_shared<OptionFile>(shared_from_this(), instance, option), now);
  };
  enter(instance->directory, "trace_options", nullptr);
  const NodeId all =
      tree.add_directory(instance->directory, "options", std::make_shared<Directory>(), now);
  for (const TraceOption& option : kTraceOptions) enter(all, option.name, &option);
}

void Tracing::State::update_all_directories(Moment now) {
  update_directories(top, now);
  for (const auto& [name, instance] : instances) update_directories(instance, now);
}

void Tracing::State::update_directories(const Instance& instance, Moment now) {
  if (!instance->filled) return;
  std::vector<std::string_view> wanted;
  const auto events = instance->set.events();
  for (const auto& event : events) {
    if (wanted.empty() || wanted.back() != event.system) wanted.push_back(event.system);
  }
  std::erase_if(instance->systems, [&](const auto& system) {
    const bool stays = std::ranges::binary_search(wanted, std::string_view(system.first));
    if (!stays) tree.remove(system.second.node, now);
    return !stays;
  });
  for (const std::string_view system : wanted) {
    if (!instance->systems.contains(system)) enter_system(instance, std::string(system), now);
    if (instance->systems.find(system)->second.filled) {
      update_system(instance, std::string(system), now);
    }
  }
}

void Tracing::State::update_all_directories(const EventPath& path, Moment now) {
  update_directories(top, path, now);
  for (const auto& [name, instance] : instances) update_directories(instance, path, now);
}

void Tracing::State::update_directories(const Instance& instance, const EventPath& path,
                                        Moment now) {
  if (!instance->filled) return;
  const auto system = instance->systems.find(path.first);
  if (system == instance->systems.end()) {
    if (instance->set.has_system(path.first)) enter_system(instance, path.first, now);
    return;
  }
  if (!instance->set.has_system(path.first)) {
    tree.remove(system->second.node, now);
    instance->systems.erase(system);
    return;
  }
  if (!system->second.filled) return;
  const auto entered = system->second.events.find(path.second);
  const bool is_entered = entered != system->second.events.end();
  const bool is_there = instance->set.find(path.first, path.second).has_value();
  if (is_there && !is_entered) enter_event(instance, path, now);
  if (!is_there && is_entered) {
    tree.remove(entered->second, now);
    system->second.events.erase(entered);
  }
}

void Tracing::State::enter_system(const Instance& instance, const std::string& system, Moment now) {
  TracingInstance::System made;
  made.node = tree.add_directory(
      instance->events, system,
      std::make_shared<SystemDirectory>(shared_from_this(), instance, system), now);
  const auto enter = [&](std::string_view name, SystemFile::Kind kind) {
    tree.add_file(made.node, name, kWritable,
                  std::make_shared<SystemFile>(shared_from_this(), instance, system, kind), now);
  };
  if (system != kMarkerSystem) {
    enter("enable", SystemFile::Kind::kEnable);
    enter("filter", SystemFile::Kind::kFilter);
  }
  instance->systems.emplace(system, std::move(made));
}

void Tracing::State::update_system(const Instance& instance, const std::string& system,
                                   Moment now) {
  TracingInstance::System& made = instance->systems.find(system)->second;
  std::vector<std::string_view> wanted;
  for (const auto& event : instance->set.events(system)) wanted.push_back(event.name);
  std::erase_if(made.events, [&](const auto& event) {
    const bool stays = std::ranges::binary_search(wanted, std::string_view(event.first));
    if (!stays) tree.remove(event.second, now);
    return !stays;
  });
  for (const std::string_view name : wanted) {
    if (!made.events.contains(name)) enter_event(instance, {system, std::string(name)}, now);
  }
}

void Tracing::State::enter_event(const Instance& instance, const EventPath& path, Moment now) {
  TracingInstance::System& system = instance->systems.find(path.first)->second;
  const NodeId node =
      tree.add_directory(system.node, path.second,
                         std::make_shared<EventDirectory>(shared_from_this(), instance, path), now);
  system.events.emplace(path.second, node);
}

Result<void> Tracing::State::make_instance(std::string_view name, Moment now) {
  const MutexLock lock(mutex);
  if (instances.contains(name)) return Error{ErrorCode::kExists, "there is one of this name"};
  if (!is_name(name)) return Error{ErrorCode::kInvalid, "not a name for an instance"};
  if (instances.size() >= options.instances_max) {
    return Error{ErrorCode::kNoSpace, "more instances than allowed"};
  }
  auto made = create_instance(std::string(name), now);
  if (!made) {
    // ENOSPC alone would not say of what.
    if (options.error_log) {
      options.error_log->warn(ErrorLog::Source::kMount, "instances", name, made.error(), now);
    }
    return made.error();
  }
  if (const auto defined = define_all(*made.value()); !defined) return defined.error();
  made.value()->directory =
      tree.add_directory(instances_directory, name, std::make_shared<Directory>(), now);
  enter_files(made.value(), now);
  instances.emplace(name, made.value());
  return {};
}

Result<void> Tracing::State::remove_instance(std::string_view name, Moment now) {
  Orders orders;
  Instance removed;  // dies after the lock, if it is not open
  {
    const MutexLock lock(mutex);
    const auto found = instances.find(name);
    if (found == instances.end()) return Error{ErrorCode::kNotFound, "no such instance"};
    removed = found->second;
    if (removed->open_mark.use_count() > 1) {
      return Error{ErrorCode::kBusy, "files of the instance are open"};
    }
    removed->removed = true;
    for (const auto& [source, by_id] : routes) {
      const auto feeds_it = [&](const Route& route) {
        return std::ranges::any_of(
            route.targets, [&](const Target& target) { return target.instance == removed.get(); });
      };
      if (std::ranges::any_of(by_id, feeds_it)) orders.sources.push_back(source);
    }
    drop_targets(*removed);
    // Another one may come to lie where it was.
    held.drop_markers(*removed);
    tree.remove(removed->directory, now);
    instances.erase(found);
    // What waited for what only this one asked for waits for nobody now.
    note_what_is_asked();
    if (!late_is_asked) release_and_touch(UINT64_MAX, now);
  }
  (void)give(orders, {});
  sweep(now);
  return {};
}

}  // namespace tallyfs
