// The files of probes, at the top only.
#include <array>

#include "core/tracing/branch/instance_files.h"
#include "core/tracing/branch/probe_writes.h"

namespace tallyfs {
namespace {

TextFile::Parts uprobe_events(const SharedView& view) {
  TextFile::Parts parts = parts_of(view, Waits::kNo);
  parts.render = [view](const CallContext&, std::size_t bytes_max) {
    const std::string text = [&] {
      const MutexLock lock(view->state().mutex);
      return view->state().probes.text();
    }();
    return InstanceView::bounded(text, bytes_max);
  };
  parts.write_line = [view](std::string_view lines, const CallContext& call) {
    return ProbeWrites(view->state(), call).write(lines);
  };
  parts.truncate = [view](const CallContext& call) {
    return ProbeWrites(view->state(), call).clear();
  };
  return parts;
}

}  // namespace

std::span<const InstanceFileRow> probe_files() {
  static constexpr std::array kRows = {
      InstanceFileRow{"uprobe_events", kWritable, uprobe_events},
  };
  return kRows;
}

}  // namespace tallyfs
