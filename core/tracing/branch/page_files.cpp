// Files of traced records in the form of the kernel's ring buffer: trace_pipe_raw and snapshot_raw.
#include <array>

#include "core/tracing/branch/instance_files.h"

namespace tallyfs {
namespace {

using Buffer = TraceStore::Buffer;

// Each record goes to one reader only, of these files or of trace_pipe.
void take_page(const InstanceView& view, Buffer buffer, std::uint32_t cpu, PageCopy& page,
               Moment now) {
  Tracing::State& state = view.state();
  const MutexLock lock(state.mutex);
  state.order.release_drained(now);
  state.order.release_old(now);
  TracingInstance& instance = view.instance();
  instance.set.trace.take_page(buffer, cpu, page);
  if (!page.is_empty()) instance.touch(now);
}

TextFile::Parts pages(const SharedView& view, Buffer buffer, std::uint32_t cpu) {
  TextFile::Parts parts = parts_of(view, Waits::kYes);
  parts.page_bytes = PageWriter::kPageBytes;
  parts.next = [view, buffer, cpu](const CallContext& call) {
    PageCopy page;
    take_page(*view, buffer, cpu, page, call.now);
    return page.encode();
  };
  // As in the kernel, a reader waits even while tracing is off.
  parts.is_over = [] { return false; };
  parts.news = [view, buffer, cpu](Moment now) -> std::optional<std::uint64_t> {
    const MutexLock lock(view->state().mutex);
    view->state().order.release_old(now);
    const TracingInstance& instance = view->instance();
    const bool is_due = buffer == Buffer::kSnapshot || instance.is_filled();
    return is_due && instance.set.trace.has_records(buffer, cpu) ? 1 : 0;
  };
  return parts;
}

TextFile::Parts trace_pipe_raw(const SharedView& view, std::uint32_t cpu) {
  return pages(view, Buffer::kTrace, cpu);
}

TextFile::Parts snapshot_raw(const SharedView& view, std::uint32_t cpu) {
  return pages(view, Buffer::kSnapshot, cpu);
}

}  // namespace

std::span<const CpuFileRow> page_files() {
  static constexpr std::array kRows = {
      CpuFileRow{"snapshot_raw", kReadable, snapshot_raw},
      CpuFileRow{"trace_pipe_raw", kReadable, trace_pipe_raw},
  };
  return kRows;
}

}  // namespace tallyfs
