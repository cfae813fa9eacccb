// Files that show and set how much of a trace is kept.
#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "core/base/text.h"
#include "core/tracing/branch/instance_files.h"

namespace tallyfs::tracing {
namespace {

constexpr std::uint64_t kTraceBytesMax = TracingInstance::kTraceBytesMax;
constexpr std::uint64_t kKib = 1024;
constexpr std::uint64_t kNamesMax = TracingInstance::kNamesMax;

// The sub-buffers of the kernel have this size, and so do the pages of our raw files.
constexpr std::uint64_t kPageKib = 4;
// The part of each CPU that free_buffer leaves: two pages, as in the kernel.
constexpr std::uint64_t kFreedKib = 2 * kPageKib;

std::size_t trace_bytes(TracingInstance& instance) { return instance.set.trace.bytes(); }

// The KiB of each CPU.
using CpuSizes = std::vector<std::uint64_t>;

CpuSizes sizes_of(const TracingInstance& instance, std::uint32_t cpus) {
  if (!instance.cpu_kib.empty()) return instance.cpu_kib;
  return CpuSizes(cpus, instance.set.trace.bytes() / kKib / cpus);
}

// The CPUs share one buffer, which has the size of all parts together.
void set_sizes(TracingInstance& instance, CpuSizes sizes) {
  const std::uint64_t kib = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
  instance.cpu_kib = std::move(sizes);
  instance.set.trace.resize(kib * kKib);
}

// cpu: nullopt means all.
Result<void> write_size(const InstanceAccess& view, std::optional<std::uint32_t> cpu,
                        std::string_view text, const CallContext& call) {
  const std::uint32_t cpus = view.state().options.cpus;
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  const auto kib = parse_unsigned(text);
  if (!kib || *kib == 0) return invalid_write("a number of KiB is wanted, for each CPU");
  const std::uint64_t kib_max = kTraceBytesMax / cpus / kKib;
  if (*kib > kib_max) {
    return Error{ErrorCode::kNoSpace,
                 "more than the " + std::to_string(kib_max) + " KiB that a CPU may have", 0};
  }
  CpuSizes before;
  return view.change(
      call,
      [&](EventSet&) -> Result<void> {
        before = sizes_of(view.instance(), cpus);
        CpuSizes after = before;
        for (std::uint32_t each = 0; each < cpus; ++each) {
          if (!cpu || each == *cpu) after[each] = *kib;
        }
        set_sizes(view.instance(), std::move(after));
        return {};
      },
      [&](EventSet&) { set_sizes(view.instance(), before); });
}

// X, as in the kernel, if the CPUs differ.
std::string size_text(const CpuSizes& sizes) {
  const bool differ = std::ranges::count(sizes, sizes.front()) != std::ssize(sizes);
  return differ ? "X\n" : number_text(sizes.front());
}

TextFile::Parts buffer_size(const SharedView& view) {
  const std::uint32_t cpus = view->state().options.cpus;
  TextFile::Parts parts = shown(
      view, Waits::kNo, [cpus](TracingInstance& instance) { return sizes_of(instance, cpus); },
      size_text);
  parts.write_line = [view](std::string_view text, const CallContext& call) {
    return write_size(*view, std::nullopt, text, call);
  };
  return parts;
}

TextFile::Parts subbuf_size(const SharedView& view) {
  TextFile::Parts parts = shown(
      view, Waits::kNo, [](TracingInstance&) { return kPageKib; }, number_text);
  parts.write_line = [](std::string_view text, const CallContext&) -> Result<void> {
    if (parse_unsigned(trimmed(text)) == kPageKib) return {};
    return invalid_write("the size of a page is always 4 KiB here");
  };
  return parts;
}

// An open free_buffer. Its end frees the buffers, and stops tracing if options/disable_on_free says
// so.
class BufferFree {
 public:
  BufferFree(SharedView view, std::shared_ptr<const void> open_mark)
      : view_(std::move(view)), open_mark_(std::move(open_mark)) {}
  ~BufferFree() {
    Tracing::State& state = view_->state();
    const Timestamp now = state.now();
    const MutexLock lock(state.mutex);
    TracingInstance& instance = view_->instance();
    if (instance.stops_when_freed) instance.set.trace.set_on(false);
    instance.set.trace.free_snapshot();
    instance.clear_trace();
    set_sizes(instance, CpuSizes(state.options.cpus, kFreedKib));
    (void)instance.hold_memory();  // less than before
    instance.touch(now);
  }
  BufferFree(const BufferFree&) = delete;
  BufferFree& operator=(const BufferFree&) = delete;

 private:
  const SharedView view_;
  const std::shared_ptr<const void> open_mark_;
};

TextFile::Parts free_buffer(const SharedView& view) {
  TextFile::Parts parts = parts_of(view, Waits::kNo);
  parts.hold = [view](File::Access, Timestamp) -> Result<std::shared_ptr<const void>> {
    auto open_mark = view->hold();
    if (!open_mark) return open_mark;
    return std::shared_ptr<const void>(
        std::make_shared<const BufferFree>(view, std::move(open_mark.value())));
  };
  parts.write_line = [](std::string_view, const CallContext&) -> Result<void> { return {}; };
  return parts;
}

TextFile::Parts buffer_total_size(const SharedView& view) {
  return shown(view, Waits::kNo, trace_bytes,
               [](std::size_t bytes) { return number_text(bytes / kKib); });
}

TextFile::Parts buffer_percent(const SharedView& view) {
  TextFile::Parts parts = shown(
      view, Waits::kNo, [](TracingInstance& instance) { return instance.buffer_percent; },
      number_text);
  parts.write_line = [view](std::string_view text, const CallContext& call) -> Result<void> {
    const auto percent = parse_unsigned(trimmed(text));
    if (!percent || *percent > 100) return invalid_write("a number is wanted, 0 to 100");
    return view->change_always(call, [&](TracingInstance& instance) {
      instance.buffer_percent = static_cast<std::uint32_t>(*percent);
    });
  };
  return parts;
}

TextFile::Parts saved_cmdlines_size(const SharedView& view) {
  TextFile::Parts parts = shown(
      view, Waits::kNo, [](TracingInstance& instance) { return instance.cmdlines_max; },
      number_text);
  parts.write_line = [view](std::string_view text, const CallContext& call) -> Result<void> {
    const auto number = parse_unsigned(trimmed(text));
    if (!number || *number == 0 || *number > kNamesMax) {
      return invalid_write("a number of names is wanted, 1 to 4194304");
    }
    return view->change_always(call,
                               [&](TracingInstance& instance) { instance.cmdlines_max = *number; });
  };
  return parts;
}

}  // namespace

TextFile::Parts cpu_buffer_size_file(const SharedView& view, std::uint32_t cpu) {
  const std::uint32_t cpus = view->state().options.cpus;
  TextFile::Parts parts = shown(
      view, Waits::kNo,
      [cpus, cpu](TracingInstance& instance) { return sizes_of(instance, cpus)[cpu]; },
      number_text);
  parts.write_line = [view, cpu](std::string_view text, const CallContext& call) {
    return write_size(*view, cpu, text, call);
  };
  return parts;
}

std::span<const InstanceFileRow> buffer_files() {
  static constexpr std::array kRows = {
      InstanceFileRow{"buffer_percent", kWritable, buffer_percent},
      InstanceFileRow{"buffer_size_kb", kWritable, buffer_size},
      InstanceFileRow{"buffer_subbuf_size_kb", kWritable, subbuf_size},
      InstanceFileRow{"buffer_total_size_kb", kReadable, buffer_total_size},
      InstanceFileRow{"free_buffer", kWriteOnly, free_buffer},
      InstanceFileRow{"saved_cmdlines_size", kWritable, saved_cmdlines_size},
  };
  return kRows;
}

}  // namespace tallyfs::tracing
