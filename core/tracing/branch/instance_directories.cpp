#include "core/tracing/branch/instance_directories.h"

#include <algorithm>
#include <atomic>
#include <functional>

#include "core/tracing/branch/event_files.h"
#include "core/tracing/branch/instance_files.h"
#include "core/tracing/branch/trace_options.h"
#include "core/tracing/branch/tracing_state.h"

namespace tallyfs::tracing {
namespace {

// A directory that gets its entries when a person first looks into it.
class LazyDirectory final : public Directory {
 public:
  // Called once, with the lock of the State held.
  using Fill = std::function<void(InstanceDirectories& directories, Timestamp now)>;

  LazyDirectory(SharedState state, Fill fill) : state_(std::move(state)), fill_(std::move(fill)) {}

  void entered(Timestamp now) override {
    if (is_filled_.load(std::memory_order_acquire)) return;
    const MutexLock lock(state_->mutex);
    if (is_filled_.load(std::memory_order_relaxed)) return;
    fill_(state_->directories, now);
    is_filled_.store(true, std::memory_order_release);
  }

 private:
  const SharedState state_;
  const Fill fill_;
  std::atomic<bool> is_filled_{false};
};

// A directory in instances/. It is in use while an open file below it has yet to be entered again.
class InstanceDirectory final : public Directory {
 public:
  explicit InstanceDirectory(SharedView view) : view_(std::move(view)) {}
  std::shared_ptr<const void> hold() const override {
    const auto held = view_->hold();
    return held ? held.value() : nullptr;
  }

 private:
  const SharedView view_;
};

// instances/
class InstancesDirectory final : public Directory {
 public:
  explicit InstancesDirectory(SharedState state) : state_(std::move(state)) {}
  Result<void> make_directory(std::string_view name, Timestamp now) override {
    return state_->make_instance(name, now);
  }
  Result<void> remove_directory(std::string_view name, Timestamp now) override {
    return state_->remove_instance(name, now);
  }

 private:
  const SharedState state_;
};

std::shared_ptr<TextFile> file_of(TextFile::Parts parts) {
  return std::make_shared<TextFile>(std::move(parts));
}

}  // namespace

InstanceDirectories::View InstanceDirectories::view_of(const SharedInstance& instance) const {
  return std::make_shared<const InstanceAccess>(state_.shared_from_this(), instance);
}

void InstanceDirectories::enter_top(NodeId directory, Timestamp now) {
  const SharedInstance& top = instances_.top();
  top->last_change = now;
  top->nodes.directory = directory;
  enter_files(top, now);
  const SharedView view = view_of(top);
  const auto enter_rows = [&](std::span<const InstanceFileRow> rows) {
    for (const InstanceFileRow& row : rows) {
      tree_.add_file(directory, row.name, row.audience, file_of(row.make(view)), now);
    }
  };
  enter_rows(top_files());
  if (state_.options.probes) {
    enter_rows(probe_files());
    for (const ProbeTarget target : {ProbeTarget::kProgram, ProbeTarget::kKernel}) {
      if (state_.options.probe_targets.has(target)) enter_rows(probe_files(target));
    }
  }
  instances_directory_ = tree_.add_directory(
      directory, "instances", std::make_shared<InstancesDirectory>(state_.shared_from_this()), now);
}

void InstanceDirectories::enter(const SharedInstance& instance, Timestamp now) {
  instance->nodes.directory =
      tree_.add_directory(instances_directory_, instance->name,
                          std::make_shared<InstanceDirectory>(view_of(instance)), now);
  enter_files(instance, now);
}

void InstanceDirectories::enter_files(const SharedInstance& instance, Timestamp now) {
  const SharedView view = view_of(instance);
  const NodeId at = instance->nodes.directory;
  for (const auto& rows : {fixed_files(), event_list_files(), trace_files(), buffer_files()}) {
    for (const InstanceFileRow& row : rows) {
      tree_.add_file(at, row.name, row.audience, file_of(row.make(view)), now);
    }
  }
  const auto& error_log = state_.options.error_log;
  const Audience of_log{.permissions = 0640, .readers = true, .writers = instance->name.empty()};
  if (error_log) tree_.add_file(at, "error_log", of_log, error_log, now);
  enter_cpus(instance, view, now);
  enter_options(instance, view, now);
  const auto fill = [instance](InstanceDirectories& directories, Timestamp when) {
    directories.fill_events(instance, when);
  };
  instance->nodes.events = tree_.add_directory(
      at, "events", std::make_shared<LazyDirectory>(state_.shared_from_this(), fill), now);
  tree_.add_file(instance->nodes.events, "enable", kWritable, file_of(system_enable_file(view, "")),
                 now);
  for (const InstanceFileRow& row : format_files()) {
    tree_.add_file(instance->nodes.events, row.name, row.audience, file_of(row.make(view)), now);
  }
}

void InstanceDirectories::enter_cpus(const SharedInstance& instance, const View& view,
                                     Timestamp now) {
  const NodeId all =
      tree_.add_directory(instance->nodes.directory, "per_cpu", std::make_shared<Directory>(), now);
  for (std::uint32_t cpu = 0; cpu < state_.options.cpus; ++cpu) {
    const NodeId node =
        tree_.add_directory(all, "cpu" + std::to_string(cpu), std::make_shared<Directory>(), now);
    for (const auto& rows : {cpu_files(), page_files()}) {
      for (const CpuFileRow& row : rows) {
        tree_.add_file(node, row.name, row.audience, file_of(row.make(view, cpu)), now);
      }
    }
  }
}

void InstanceDirectories::enter_options(const SharedInstance& instance, const View& view,
                                        Timestamp now) {
  const NodeId at = instance->nodes.directory;
  tree_.add_file(at, "trace_options", kWritable, file_of(trace_options_file(view)), now);
  const NodeId all = tree_.add_directory(at, "options", std::make_shared<Directory>(), now);
  for (const TraceOption& option : trace_options()) {
    tree_.add_file(all, option.name, kWritable, file_of(option_file(view, option)), now);
  }
}

void InstanceDirectories::fill_events(const SharedInstance& instance, Timestamp now) {
  if (instance->removed) return;
  instance->nodes.filled = true;
  update(instance, now);
}

void InstanceDirectories::fill_system(const SharedInstance& instance, const std::string& system,
                                      Timestamp now) {
  const auto found = instance->nodes.systems.find(system);
  if (instance->removed || found == instance->nodes.systems.end()) return;
  found->second.filled = true;
  update_system(instance, system, now);
}

void InstanceDirectories::fill_event(const SharedInstance& instance, const EventPath& path,
                                     Timestamp now) {
  using Kind = EventFile::Kind;
  const auto system = instance->nodes.systems.find(path.first);
  if (instance->removed || system == instance->nodes.systems.end()) return;
  const auto node = system->second.events.find(path.second);
  const auto number = instance->find(path);
  if (node == system->second.events.end() || !number) return;
  const SharedView view = view_of(instance);
  const auto shared_path = std::make_shared<const EventPath>(path);
  const auto enter = [&](std::string_view name, Audience audience, Kind kind) {
    tree_.add_file(node->second, name, audience,
                   std::make_shared<EventFile>(view, shared_path, kind), now);
  };
  const bool is_for_all_writers =
      instance->name.empty() && instance->set.events.is_of_a_program(*number);
  const Audience writable{.permissions = 0640, .writers = is_for_all_writers};
  // Keys of a probe may be texts of programs, a password among them.
  const Audience of_json =
      probes_.has(path) ? Audience{0400} : Audience{.permissions = 0440, .readers = true};
  if (!instance->set.events.is_built_in(*number)) {
    enter("enable", kWritable, Kind::kEnable);
    enter("filter", writable, Kind::kFilter);
  }
  enter("format", kReadable, Kind::kFormat);
  enter("hist", kReadable, Kind::kHist);
  enter("hist.json", of_json, Kind::kHistJson);
  enter("id", kReadable, Kind::kId);
  enter("trigger", writable, Kind::kTrigger);
}

void InstanceDirectories::update_all(Timestamp now) {
  instances_.each_shared([&](const SharedInstance& instance) { update(instance, now); });
}

void InstanceDirectories::update_all(const EventPath& path, Timestamp now) {
  instances_.each_shared([&](const SharedInstance& instance) { update(instance, path, now); });
}

void InstanceDirectories::update(const SharedInstance& instance, Timestamp now) {
  if (!instance->nodes.filled) return;
  std::vector<std::string_view> wanted;
  const auto events = instance->set.events.names();
  for (const auto& event : events) {
    if (wanted.empty() || wanted.back() != event.system) wanted.push_back(event.system);
  }
  std::erase_if(instance->nodes.systems, [&](const auto& system) {
    const bool stays = std::ranges::binary_search(wanted, std::string_view(system.first));
    if (!stays) tree_.remove(system.second.node, now);
    return !stays;
  });
  for (const std::string_view system : wanted) {
    if (!instance->nodes.systems.contains(system)) enter_system(instance, std::string(system), now);
    if (instance->nodes.systems.find(system)->second.filled) {
      update_system(instance, std::string(system), now);
    }
  }
}

void InstanceDirectories::update(const SharedInstance& instance, const EventPath& path,
                                 Timestamp now) {
  if (!instance->nodes.filled) return;
  const auto system = instance->nodes.systems.find(path.first);
  if (system == instance->nodes.systems.end()) {
    if (instance->set.events.has_system(path.first)) enter_system(instance, path.first, now);
    return;
  }
  if (!instance->set.events.has_system(path.first)) {
    tree_.remove(system->second.node, now);
    instance->nodes.systems.erase(system);
    return;
  }
  if (!system->second.filled) return;
  const auto entered = system->second.events.find(path.second);
  const bool is_entered = entered != system->second.events.end();
  const bool is_there = instance->find(path).has_value();
  if (is_there && !is_entered) enter_event(instance, path, now);
  if (!is_there && is_entered) {
    tree_.remove(entered->second, now);
    system->second.events.erase(entered);
  }
}

void InstanceDirectories::update_system(const SharedInstance& instance, const std::string& system,
                                        Timestamp now) {
  InstanceNodes::System& made = instance->nodes.systems.find(system)->second;
  std::vector<std::string_view> wanted;
  for (const auto& event : instance->set.events.names(system)) wanted.push_back(event.name);
  std::erase_if(made.events, [&](const auto& event) {
    const bool stays = std::ranges::binary_search(wanted, std::string_view(event.first));
    if (!stays) tree_.remove(event.second, now);
    return !stays;
  });
  for (const std::string_view name : wanted) {
    if (!made.events.contains(name)) enter_event(instance, {system, std::string(name)}, now);
  }
}

void InstanceDirectories::enter_system(const SharedInstance& instance, const std::string& system,
                                       Timestamp now) {
  const auto fill = [instance, system](InstanceDirectories& directories, Timestamp when) {
    directories.fill_system(instance, system, when);
  };
  InstanceNodes::System made;
  made.node =
      tree_.add_directory(instance->nodes.events, system,
                          std::make_shared<LazyDirectory>(state_.shared_from_this(), fill), now);
  if (system != kMarkerSystem) {
    const SharedView view = view_of(instance);
    tree_.add_file(made.node, "enable", kWritable, file_of(system_enable_file(view, system)), now);
    tree_.add_file(made.node, "filter", kWritable, file_of(system_filter_file(view, system)), now);
  }
  instance->nodes.systems.emplace(system, std::move(made));
}

void InstanceDirectories::enter_event(const SharedInstance& instance, const EventPath& path,
                                      Timestamp now) {
  const auto fill = [instance, path](InstanceDirectories& directories, Timestamp when) {
    directories.fill_event(instance, path, when);
  };
  InstanceNodes::System& system = instance->nodes.systems.find(path.first)->second;
  const NodeId node =
      tree_.add_directory(system.node, path.second,
                          std::make_shared<LazyDirectory>(state_.shared_from_this(), fill), now);
  system.events.emplace(path.second, node);
}

}  // namespace tallyfs::tracing
