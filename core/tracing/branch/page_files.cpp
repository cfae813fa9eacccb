// Files of traced records in the form of the kernel's ring buffer: trace_pipe_raw and snapshot_raw.
#include <array>

#include "core/tracing/branch/instance_files.h"

namespace tallyfs::tracing {
namespace {

using Buffer = TraceStore::Buffer;

// Each record goes to one reader only, of these files or of trace_pipe.
void take_page(const InstanceAccess& view, Buffer buffer, std::uint32_t cpu, PageCopy& page,
               Timestamp now) {
  Tracing::State& state = view.state();
  const MutexLock lock(state.mutex);
  state.order.release_drained(now);
  state.order.release_old(now);
  TracingInstance& instance = view.instance();
  instance.set.trace.take_page(buffer, cpu, page);
  if (!page.is_empty()) instance.touch(now);
}

class Pages final : public Stream {
 public:
  Pages(SharedView view, Buffer buffer, std::uint32_t cpu)
      : view_(std::move(view)), buffer_(buffer), cpu_(cpu) {}

  std::string next(const CallContext& call) override {
    PageCopy page;
    take_page(*view_, buffer_, cpu_, page, call.now);
    return page.encode();
  }
  bool has_some(Timestamp now) const override {
    const MutexLock lock(view_->state().mutex);
    view_->state().order.release_old(now);
    const TracingInstance& instance = view_->instance();
    const bool is_due = buffer_ == Buffer::kSnapshot || instance.is_filled();
    return is_due && instance.set.trace.has_records(buffer_, cpu_);
  }
  // A reader waits even while tracing is off, as in the kernel.
  bool is_over() const override { return false; }
  std::size_t page_bytes() const override { return PageWriter::kPageBytes; }

 private:
  const SharedView view_;
  const Buffer buffer_;
  const std::uint32_t cpu_;
};

TextFile::Parts pages(const SharedView& view, Buffer buffer, std::uint32_t cpu) {
  TextFile::Parts parts = parts_of(view, Waits::kYes);
  parts.stream = std::make_shared<Pages>(view, buffer, cpu);
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

}  // namespace tallyfs::tracing
