// The files of probes, at the top only.
#include <array>
#include <string>
#include <utility>
#include <variant>

#include "core/tracing/branch/instance_files.h"
#include "core/tracing/branch/probe_json.h"
#include "core/tracing/branch/probe_profile.h"
#include "core/tracing/branch/probe_writes.h"
#include "core/tracing/command/command_text.h"

namespace tallyfs::tracing {
namespace {

template <ProbeTarget kTarget>
TextFile::Parts events_of(const SharedView& view) {
  TextFile::Parts parts = parts_of(view, Waits::kNo);
  parts.render = [view](const CallContext&, std::size_t bytes_max) {
    const std::string text = [&] {
      const MutexLock lock(view->state().mutex);
      return view->state().probes.text(kTarget);
    }();
    return InstanceAccess::bounded(text, bytes_max);
  };
  parts.write_line = [view](std::string_view lines, const CallContext& call) {
    return ProbeWrites(view->state(), call, kTarget).write(lines);
  };
  parts.truncate = [view](const CallContext& call) {
    return ProbeWrites(view->state(), call, kTarget).clear();
  };
  return parts;
}

// The source counts, without a change here.
template <ProbeTarget kTarget>
TextFile::Parts profile_of(const SharedView& view) {
  TextFile::Parts parts = parts_of(view, Waits::kNo);
  parts.version = {};
  parts.render = [view](const CallContext& call, std::size_t bytes_max) -> Result<std::string> {
    const auto hits = view->state().options.probes->hits(call.cancel);
    if (!hits) return hits.error();
    const auto probes = [&] {
      const MutexLock lock(view->state().mutex);
      return view->state().probes.copy();
    }();
    return InstanceAccess::bounded(probe_profile(probes, hits.value(), kTarget), bytes_max);
  };
  return parts;
}

TextFile::Parts probes_json_file(const SharedView& view) {
  TextFile::Parts parts = parts_of(view, Waits::kNo);
  parts.version = {};
  parts.render = [view](const CallContext& call, std::size_t bytes_max) {
    const auto hits = view->state().options.probes->hits(call.cancel);
    const auto probes = [&] {
      const MutexLock lock(view->state().mutex);
      return view->state().probes.copy();
    }();
    return InstanceAccess::bounded(probes_json(probes, hits, call.now, bytes_max), bytes_max);
  };
  return parts;
}

// A line of dynamic_events that defines a probe, renews one, or removes one.
bool is_of_probe(Tracing::State& state, std::string_view line) {
  if (line.starts_with("=:")) return true;
  if (!line.starts_with("-:")) return is_probe_definition(line);
  const auto command = parse_probe_line(line);
  const auto* const removal = command ? std::get_if<ProbeRemoval>(&command.value()) : nullptr;
  if (!removal || removal->group == kSyntheticSystem) return false;
  if (!removal->group.empty()) return true;
  const MutexLock lock(state.mutex);
  return !state.probes.matching(*removal).empty();
}

bool uses_synthetic(Tracing::State& state) {
  const MutexLock lock(state.mutex);
  bool is_used = false;
  state.instances.each([&is_used](const TracingInstance& instance) {
    is_used |= instance.set.synthetic.is_used("*");
  });
  return is_used;
}

}  // namespace

TextFile::Parts with_probes(const SharedView& view, TextFile::Parts synthetic) {
  TextFile::Parts parts = synthetic;
  parts.render = [view, others = synthetic.render](const CallContext& call,
                                                   std::size_t bytes_max) -> Result<std::string> {
    auto text = others(call, bytes_max);
    if (!text) return text;
    {
      const MutexLock lock(view->state().mutex);
      text.value() += view->state().probes.text(std::nullopt);
    }
    return InstanceAccess::bounded(std::move(text.value()), bytes_max);
  };
  parts.write_line = [view, others = synthetic.write_line](std::string_view text,
                                                           const CallContext& call) {
    const std::string whole = joined_lines(text);
    for (std::string_view rest = whole; !rest.empty();) {
      const std::string_view line = next_command(rest);
      if (line.empty()) continue;
      auto done = is_of_probe(view->state(), line)
                      ? ProbeWrites(view->state(), call, std::nullopt).write(line)
                      : others(line, call);
      if (!done) return done;
    }
    return Result<void>();
  };
  // All stay if one is in use. Another user than root clears its own alone.
  parts.truncate = [view, others = synthetic.truncate](const CallContext& call) {
    if (call.uid == 0 && !uses_synthetic(view->state())) {
      if (auto done = ProbeWrites(view->state(), call, std::nullopt).clear(); !done) return done;
    }
    return others(call);
  };
  return parts;
}

std::span<const InstanceFileRow> probe_files() {
  static constexpr std::array kRows = {
      InstanceFileRow{"probes.json", kReadable, probes_json_file},
  };
  return kRows;
}

std::span<const InstanceFileRow> probe_files(ProbeTarget target) {
  using enum ProbeTarget;
  static constexpr std::array kOfPrograms = {
      InstanceFileRow{"uprobe_events", kWritable, events_of<kProgram>},
      InstanceFileRow{"uprobe_profile", kReadable, profile_of<kProgram>},
  };
  static constexpr std::array kOfKernel = {
      InstanceFileRow{"kprobe_events", kWritable, events_of<kKernel>},
      InstanceFileRow{"kprobe_profile", kReadable, profile_of<kKernel>},
  };
  return target == kKernel ? std::span(kOfKernel) : std::span(kOfPrograms);
}

}  // namespace tallyfs::tracing
