// Files that select the events, processes and CPUs that are traced; the files of synthetic events.
#include <algorithm>
#include <array>
#include <utility>

#include "core/base/text.h"
#include "core/tracing/branch/instance_files.h"
#include "core/tracing/command/command_text.h"
#include "core/tracing/command/faults.h"

namespace tallyfs::tracing {
namespace {

using Definitions = SyntheticEvents::Definitions;

TextFile::Parts available_events(const SharedView& view) {
  return shown(
      view, Waits::kNo, [](TracingInstance& instance) { return instance.set.events.listed(); },
      [](const std::shared_ptr<const EventList>& events) { return event_list_text(*events); });
}

// The texts may change without a change here: when a module of the kernel is loaded.
TextFile::Parts printk_formats(const SharedView& view) {
  TextFile::Parts parts = parts_of(view, Waits::kNo);
  parts.version = {};
  parts.render = [view](const CallContext& call, std::size_t bytes_max) {
    return InstanceAccess::bounded(view->state().printk_formats(call.cancel), bytes_max);
  };
  return parts;
}

std::string groups_text(const TraceBuffer::Groups& groups) {
  std::string text;
  for (const auto& [task, group] : groups) {
    if (group == 0) continue;
    append_number(text, std::int64_t{task});
    text.push_back(' ');
    append_number(text, std::int64_t{group});
    text.push_back('\n');
  }
  return text;
}

TextFile::Parts saved_tgids(const SharedView& view) {
  TextFile::Parts parts = parts_of(view, Waits::kYes);
  parts.render = [view](const CallContext&, std::size_t bytes_max) {
    const auto groups = [&] {
      const MutexLock lock(view->state().mutex);
      return view->state().saved_groups();
    }();
    return InstanceAccess::bounded(groups_text(*groups), bytes_max);
  };
  return parts;
}

Result<void> write_set_event(const InstanceAccess& view, std::string_view text,
                             const CallContext& call) {
  std::vector<EventNumber> before;
  auto done = view.change(
      call,
      [&](EventSet& set) {
        before = set.switches.enabled();
        return set.switches.write_set_event(trimmed(text));
      },
      [&](EventSet& set) { set.switches.restore(before); });
  if (!done && done.error().reason == fault::kNoSuchEvent && !view.state().has_kernel_events()) {
    Error error = done.error();
    error.reason.append(" (the kernel's are there with tallyfs -o tracefs)");
    return error;
  }
  return done;
}

TextFile::Parts set_event(const SharedView& view) {
  TextFile::Parts parts = shown(
      view, Waits::kNo, [](TracingInstance& instance) { return instance.set.switches.chosen(); },
      [](const ChosenEvents& events) { return event_list_text(events); });
  parts.write_line = [view](std::string_view text, const CallContext& call) {
    return write_set_event(*view, text, call);
  };
  parts.truncate = [view](const CallContext& call) {
    return view->change_always(
        call, [](TracingInstance& instance) { instance.set.switches.truncate_set_event(); });
  };
  return parts;
}

// One of the two lists of processes.
struct PidList {
  const TraceSelection::Pids& (TraceSelection::*pids)() const;
  Result<void> (TraceSelection::*write)(std::string_view text);
  void (TraceSelection::*clear)();
};

TextFile::Parts pid_file(const SharedView& view, const PidList& list) {
  TextFile::Parts parts = shown(
      view, Waits::kNo,
      [list](TracingInstance& instance) { return (instance.set.selection.*list.pids)(); },
      TraceSelection::text);
  parts.write_line = [view, list](std::string_view text, const CallContext& call) {
    return view->change(call,
                        [&](EventSet& set) { return (set.selection.*list.write)(trimmed(text)); });
  };
  parts.truncate = [view, list](const CallContext& call) {
    return view->change_always(
        call, [list](TracingInstance& instance) { (instance.set.selection.*list.clear)(); });
  };
  return parts;
}

TextFile::Parts set_event_pid(const SharedView& view) {
  return pid_file(
      view, {&TraceSelection::pids, &TraceSelection::write_pids, &TraceSelection::clear_pids});
}

TextFile::Parts set_event_notrace_pid(const SharedView& view) {
  return pid_file(view, {&TraceSelection::notrace_pids, &TraceSelection::write_notrace_pids,
                         &TraceSelection::clear_notrace_pids});
}

TextFile::Parts tracing_cpumask(const SharedView& view) {
  const std::uint32_t cpus = view->state().options.cpus;
  TextFile::Parts parts = shown(
      view, Waits::kNo,
      [](TracingInstance& instance) { return instance.set.selection.left_out_cpus(); },
      [cpus](const TraceSelection::Cpus& left_out) {
        return TraceSelection::cpumask_text(left_out, cpus);
      });
  parts.write_line = [view, cpus](std::string_view text, const CallContext& call) {
    return view->change(call,
                        [&](EventSet& set) { return set.selection.write_cpumask(text, cpus); });
  };
  return parts;
}

// The synthetic event that `!NAME ...` or `-:[synthetic/]NAME` removes; empty: none.
std::string_view removed_by(std::string_view command) {
  if (!command.starts_with('!') && !command.starts_with("-:")) return {};
  command.remove_prefix(command.starts_with('!') ? 1 : 2);
  constexpr std::string_view kGroup = "synthetic/";
  if (command.starts_with(kGroup)) command.remove_prefix(kGroup.size());
  const auto name = Tokens(command).next();
  return name ? name->text : std::string_view();
}

using WriteCommand = Result<void> (SyntheticEvents::*)(std::string_view line);

Result<void> write_synthetic(const InstanceAccess& view, WriteCommand write, std::string_view text,
                             const CallContext& call) {
  const std::string whole = joined_lines(text);
  std::string_view rest = whole;
  while (!rest.empty()) {
    const std::string_view command = next_command(rest);
    if (command.empty()) continue;
    const auto one = [&](EventSet& set) { return (set.synthetic.*write)(command); };
    if (auto done = view.state().change_synthetic(one, removed_by(command), call.now); !done) {
      return done;
    }
  }
  return {};
}

TextFile::Parts synthetic_file(const SharedView& view, std::string (*text)(const Definitions&),
                               WriteCommand write) {
  TextFile::Parts parts = shown(
      view, Waits::kNo,
      [](TracingInstance& instance) { return instance.set.synthetic.definitions(); }, text);
  parts.write_line = [view, write](std::string_view line, const CallContext& call) {
    return write_synthetic(*view, write, line, call);
  };
  parts.truncate = [view](const CallContext& call) {
    return view->state().change_synthetic([](EventSet& set) { return set.synthetic.truncate(); },
                                          "*", call.now);
  };
  return parts;
}

TextFile::Parts synthetic_events(const SharedView& view) {
  return synthetic_file(view, SyntheticEvents::text, &SyntheticEvents::write);
}

TextFile::Parts dynamic_events(const SharedView& view) {
  TextFile::Parts parts =
      synthetic_file(view, SyntheticEvents::dynamic_text, &SyntheticEvents::write_dynamic);
  return view->state().options.probes ? with_probes(view, std::move(parts)) : parts;
}

}  // namespace

std::span<const InstanceFileRow> event_list_files() {
  static constexpr std::array kRows = {
      InstanceFileRow{"set_event", kWritable, set_event},
      InstanceFileRow{"set_event_notrace_pid", kWritable, set_event_notrace_pid},
      InstanceFileRow{"set_event_pid", kWritable, set_event_pid},
      InstanceFileRow{"tracing_cpumask", kWritable, tracing_cpumask},
  };
  return kRows;
}

std::span<const InstanceFileRow> top_files() {
  static constexpr std::array kRows = {
      InstanceFileRow{"README", kReadable, readme_file},
      InstanceFileRow{"available_events", kReadable, available_events},
      InstanceFileRow{"dynamic_events", kWritable, dynamic_events},
      InstanceFileRow{"printk_formats", kReadable, printk_formats},
      InstanceFileRow{"saved_tgids", kReadable, saved_tgids},
      InstanceFileRow{"synthetic_events", kWritable, synthetic_events},
  };
  return kRows;
}

TextFile::Parts system_enable_file(const SharedView& view, std::string system) {
  TextFile::Parts parts = shown(
      view, Waits::kYes,
      [system](TracingInstance& instance) { return instance.set.switches.state(system); },
      [](const EnableState& state) { return state.text(); });
  parts.write_line = [view, system](std::string_view text, const CallContext& call) {
    std::vector<EventNumber> before;
    return view->change(
        call,
        [&](EventSet& set) {
          before = set.switches.enabled();
          return set.switches.write(system, text);
        },
        [&](EventSet& set) { set.switches.restore(before); });
  };
  return parts;
}

TextFile::Parts system_filter_file(const SharedView& view, std::string system) {
  TextFile::Parts parts = shown(
      view, Waits::kNo,
      [system](TracingInstance& instance) {
        return FilterState{.filter = instance.set.filters.of_system(system), .error = {}};
      },
      [](const FilterState& state) { return EventFilters::system_text(state.filter); });
  parts.write_line = [view, system](std::string_view text, const CallContext& call) {
    return view->change(call, [&](EventSet& set) { return set.filters.write(system, text); });
  };
  return parts;
}

}  // namespace tallyfs::tracing
