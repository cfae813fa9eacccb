// Files of traced records: trace, snapshot, trace_pipe, per_cpu/, saved_cmdlines; and files that
// control tracing: tracing_on, trace_clock, trace_marker.
#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "core/tracing/branch/instance_files.h"
#include "core/tracing/branch/source_symbols.h"
#include "core/tracing/hist/hist_command.h"

namespace tallyfs::tracing {
namespace {

// The bytes of a trace_marker that one write takes: a page has room for the record, which is a head
// of 16 bytes, the text, a newline and a zero. As in the kernel, the write returns a short count
// when there are more.
constexpr std::size_t kMarkerBytesMax = PageWriter::kRecordBytesMax - 16 - 2;
constexpr std::size_t kRawIdBytes = 4;
// The most bytes of one write into trace_marker_raw, with the id. The record has a head of 8 more
// bytes.
constexpr std::size_t kRawMarkerBytesMax = PageWriter::kRecordBytesMax - 8;
// The bytes that trace_pipe takes out at a time.
constexpr std::size_t kTakenBytes = 4096;

using Copier = Result<InstanceAccess::CopiedTrace> (InstanceAccess::*)(Timestamp now) const;

std::uint64_t monotonic_ns(Timestamp now) {
  return static_cast<std::uint64_t>(now.monotonic.count());
}

std::string lost_line(std::uint64_t lost) {
  if (lost == 0) return {};
  return "# records lost on their way: " + std::to_string(lost) +
         " in all, at places that are not known\n#\n";
}

std::string left_out_line(std::uint64_t left_out) {
  if (left_out == 0) return {};
  return "# records left out while it was open (options/pause-on-trace): " +
         std::to_string(left_out) + "\n#\n";
}

// The lines at the top of a trace that lacks records.
std::string missing_in(const InstanceAccess& view) {
  const MutexLock lock(view.state().mutex);
  return lost_line(view.instance().lost) + left_out_line(view.instance().set.trace.left_out());
}

// How the records are shown: of all CPUs, or of this one.
TraceBuffer::View shown_of(const InstanceAccess& view, std::optional<std::uint32_t> only_cpu) {
  TraceBuffer::View shown = view.view_by_options();
  shown.only_cpu = only_cpu;
  return shown;
}

Result<std::string> render_records(const InstanceAccess& view, Copier copy, const CallContext& call,
                                   std::optional<std::uint32_t> only_cpu) {
  const auto copied = (view.*copy)(call.now);
  if (!copied) return copied.error();
  return copied.value().copy.render(view.state().symbols(call.cancel), shown_of(view, only_cpu));
}

Result<std::string> render_trace(const InstanceAccess& view, Copier copy, const CallContext& call,
                                 std::size_t bytes_max) {
  auto rendered = render_records(view, copy, call, std::nullopt);
  if (!rendered) return rendered;
  std::string text = std::move(rendered.value());
  const std::string missing = missing_in(view);
  // Behind the two lines that every trace begins with.
  constexpr std::string_view kHead = "# tracer: nop\n#\n";
  if (!missing.empty() && text.starts_with(kHead)) text.insert(kHead.size(), missing);
  return InstanceAccess::bounded(std::move(text), bytes_max);
}

// For files that are cleared by an open with O_TRUNC.
Result<void> accept_any(std::string_view, const CallContext&) { return {}; }

// An open file of a trace in which recording pauses, as options/pause-on-trace says.
class TracePause {
 public:
  TracePause(SharedView view, std::shared_ptr<const void> open_mark, Timestamp now)
      : view_(std::move(view)), open_mark_(std::move(open_mark)) {
    const MutexLock lock(view_->state().mutex);
    view_->instance().set.trace.begin_pause(monotonic_ns(now));
  }
  ~TracePause() {
    const Timestamp now = view_->state().now();
    const MutexLock lock(view_->state().mutex);
    view_->instance().set.trace.end_pause(monotonic_ns(now));
  }
  TracePause(const TracePause&) = delete;
  TracePause& operator=(const TracePause&) = delete;

 private:
  const SharedView view_;
  const std::shared_ptr<const void> open_mark_;
};

Result<std::shared_ptr<const void>> hold_and_pause(const SharedView& view, File::Access access,
                                                   Timestamp now) {
  auto open_mark = view->hold();
  if (!open_mark || access == File::Access::kWrite) return open_mark;
  const bool pauses = [&] {
    const MutexLock lock(view->state().mutex);
    return view->instance().pauses_on_trace;
  }();
  if (!pauses) return open_mark;
  return std::shared_ptr<const void>(
      std::make_shared<const TracePause>(view, std::move(open_mark.value()), now));
}

TextFile::Parts trace(const SharedView& view) {
  TextFile::Parts parts = parts_of(view, Waits::kYes);
  parts.render = [view](const CallContext& call, std::size_t bytes_max) {
    return render_trace(*view, &InstanceAccess::copy_trace, call, bytes_max);
  };
  parts.hold = [view](File::Access access, Timestamp now) {
    return hold_and_pause(view, access, now);
  };
  parts.write_line = accept_any;
  parts.truncate = [view](const CallContext& call) {
    return view->change_always(call, [](TracingInstance& instance) { instance.clear_trace(); });
  };
  return parts;
}

Result<void> write_snapshot(const InstanceAccess& view, std::string_view text,
                            const CallContext& call) {
  const auto number = parse_unsigned(trimmed(text));
  if (!number) {
    return invalid_write("a number is wanted: 0 frees it, 1 takes one, others clear it");
  }
  return view.change_always(call, [&](TracingInstance& instance) {
    TraceStore& store = instance.set.trace;
    if (*number == 0) {
      store.free_snapshot();
    } else if (*number == 1) {
      store.take_snapshot();
    } else {
      store.clear_snapshot();
    }
  });
}

TextFile::Parts snapshot(const SharedView& view) {
  TextFile::Parts parts = parts_of(view, Waits::kYes);
  parts.render = [view](const CallContext& call, std::size_t bytes_max) {
    return render_trace(*view, &InstanceAccess::copy_snapshot, call, bytes_max);
  };
  parts.write_line = [view](std::string_view text, const CallContext& call) {
    return write_snapshot(*view, text, call);
  };
  return parts;
}

bool has_records(const TracingInstance& instance, std::optional<std::uint32_t> only_cpu) {
  const TraceStore& trace = instance.set.trace;
  return only_cpu ? trace.has_records(TraceStore::Buffer::kTrace, *only_cpu) : !trace.is_empty();
}

// Each record goes to one reader only, the first that reads it.
std::string take_trace(const InstanceAccess& view, const CallContext& call,
                       std::optional<std::uint32_t> only_cpu) {
  std::optional<TraceCopy> taken;
  {
    Tracing::State& state = view.state();
    const MutexLock lock(state.mutex);
    state.order.release_drained(call.now);
    state.order.release_old(call.now);
    TracingInstance& instance = view.instance();
    if (!has_records(instance, only_cpu)) return {};
    taken = instance.set.trace.take(kTakenBytes, only_cpu);
    instance.touch(call.now);
  }
  TraceBuffer::View shown = view.view_by_options();
  shown.header = false;
  return taken->render(view.state().symbols(call.cancel), shown);
}

class TracePipe final : public Stream {
 public:
  TracePipe(SharedView view, std::optional<std::uint32_t> only_cpu)
      : view_(std::move(view)), only_cpu_(only_cpu) {}

  std::string next(const CallContext& call) override { return take_trace(*view_, call, only_cpu_); }
  bool has_some(Timestamp now) const override {
    const MutexLock lock(view_->state().mutex);
    view_->state().order.release_old(now);
    const TracingInstance& instance = view_->instance();
    return has_records(instance, only_cpu_) && instance.is_filled();
  }
  bool is_over() const override {
    const MutexLock lock(view_->state().mutex);
    return !view_->instance().set.trace.is_on();
  }

 private:
  const SharedView view_;
  const std::optional<std::uint32_t> only_cpu_;
};

TextFile::Parts pipe_of(const SharedView& view, std::optional<std::uint32_t> only_cpu) {
  TextFile::Parts parts = parts_of(view, Waits::kYes);
  parts.stream = std::make_shared<TracePipe>(view, only_cpu);
  return parts;
}

TextFile::Parts trace_pipe(const SharedView& view) { return pipe_of(view, std::nullopt); }

TextFile::Parts tracing_on(const SharedView& view) {
  TextFile::Parts parts = shown(
      view, Waits::kYes, [](TracingInstance& instance) { return instance.set.trace.is_on(); },
      switch_text);
  parts.write_line = [view](std::string_view text, const CallContext& call) -> Result<void> {
    const auto number = parse_unsigned(trimmed(text));
    if (!number) return invalid_write("a number is wanted: 0 is off, all others are on");
    return view->change_always(
        call, [&](TracingInstance& instance) { instance.set.trace.set_on(*number != 0); });
  };
  return parts;
}

std::string clocks_text(std::string_view chosen) {
  std::string text;
  for (const std::string_view clock : kTraceClocks) {
    text.append(text.empty() ? "" : " ");
    text.append(clock == chosen ? "[" + std::string(clock) + "]" : std::string(clock));
  }
  return text + "\n";
}

TextFile::Parts trace_clock(const SharedView& view) {
  TextFile::Parts parts = shown(
      view, Waits::kNo, [](TracingInstance& instance) { return instance.clock; },
      [](const TraceClock* clock) { return clocks_text(*clock); });
  parts.write_line = [view](std::string_view text, const CallContext& call) -> Result<void> {
    const auto* const clock = std::ranges::find(kTraceClocks, trimmed(text));
    if (clock == kTraceClocks.end()) {
      return invalid_write("all times here are CLOCK_MONOTONIC: local, global, mono or perf");
    }
    return view->change_always(call, [&](TracingInstance& instance) {
      instance.clock = clock;
      instance.set.trace.clear();  // as the kernel does
    });
  };
  return parts;
}

class TextMarker final : public Marker {
 public:
  explicit TextMarker(SharedView view) : view_(std::move(view)) {}

  std::size_t bytes_max() const override { return kMarkerBytesMax; }
  Result<void> write(pid_t writer, std::string_view text, const CallContext& call) override {
    text = text.substr(0, kMarkerBytesMax);
    if (text.ends_with('\n')) text.remove_suffix(1);
    return view_->state().mark(view_->instance(), MarkerKind::kText, text, writer, call.now);
  }

 private:
  const SharedView view_;
};

// An id of 4 bytes in the machine's order, then data.
class RawMarker final : public Marker {
 public:
  explicit RawMarker(SharedView view) : view_(std::move(view)) {}

  Result<void> write(pid_t writer, std::string_view bytes, const CallContext& call) override {
    if (bytes.size() < kRawIdBytes) return invalid_write("an id of 4 bytes is wanted, then data");
    if (bytes.size() > kRawMarkerBytesMax) return invalid_write("more than 4064 bytes");
    return view_->state().mark(view_->instance(), MarkerKind::kRaw, bytes, writer, call.now);
  }

 private:
  const SharedView view_;
};

template <typename Its>
TextFile::Parts marker_of(const SharedView& view) {
  TextFile::Parts parts = parts_of(view, Waits::kNo);
  parts.write_unit = File::WriteUnit::kWrite;
  parts.marker = std::make_shared<Its>(view);
  return parts;
}

TextFile::Parts saved_cmdlines(const SharedView& view) {
  TextFile::Parts parts = parts_of(view, Waits::kYes);
  parts.render = [view](const CallContext& call, std::size_t bytes_max) -> Result<std::string> {
    const auto copied = view->copy_trace(call.now);
    if (!copied) return copied.error();
    const auto [taken, names_max] = [&] {
      const MutexLock lock(view->state().mutex);
      const TracingInstance& instance = view->instance();
      return std::pair(instance.set.trace.taken_names(), instance.cmdlines_max);
    }();
    return InstanceAccess::bounded(copied.value().copy.render_saved_cmdlines(taken, names_max),
                                   bytes_max);
  };
  return parts;
}

auto render_of_cpu(const SharedView& view, Copier copy, std::uint32_t cpu) {
  return [view, copy, cpu](const CallContext& call, std::size_t bytes_max) -> Result<std::string> {
    auto text = render_records(*view, copy, call, cpu);
    if (!text) return text;
    return InstanceAccess::bounded(std::move(text.value()), bytes_max);
  };
}

TextFile::Parts cpu_trace(const SharedView& view, std::uint32_t cpu) {
  TextFile::Parts parts = parts_of(view, Waits::kYes);
  parts.render = render_of_cpu(view, &InstanceAccess::copy_trace, cpu);
  parts.hold = [view](File::Access access, Timestamp now) {
    return hold_and_pause(view, access, now);
  };
  parts.write_line = accept_any;
  parts.truncate = [view, cpu](const CallContext& call) {
    return view->change_always(call, [&](TracingInstance& instance) {
      instance.clear_cpu(cpu, view->state().options.cpus);
    });
  };
  return parts;
}

TextFile::Parts cpu_trace_pipe(const SharedView& view, std::uint32_t cpu) {
  return pipe_of(view, cpu);
}

TextFile::Parts cpu_snapshot(const SharedView& view, std::uint32_t cpu) {
  TextFile::Parts parts = parts_of(view, Waits::kYes);
  parts.render = render_of_cpu(view, &InstanceAccess::copy_snapshot, cpu);
  parts.write_line = [view, cpu](std::string_view text, const CallContext& call) -> Result<void> {
    const auto number = parse_unsigned(trimmed(text));
    if (!number) return invalid_write("a number is wanted: 2 clears the records of this CPU");
    if (*number < 2) return invalid_write("a snapshot has all CPUs: write into their file");
    return view->change_always(
        call, [cpu](TracingInstance& instance) { instance.set.trace.clear_snapshot(cpu); });
  };
  return parts;
}

TextFile::Parts cpu_stats(const SharedView& view, std::uint32_t cpu) {
  TextFile::Parts parts = parts_of(view, Waits::kYes);
  parts.render = [view, cpu](const CallContext& call, std::size_t) -> Result<std::string> {
    const auto copied = view->copy_trace(call.now);
    if (!copied) return copied.error();
    return copied.value().copy.render_stats(cpu,
                                            static_cast<std::uint64_t>(call.now.monotonic.count()));
  };
  return parts;
}

}  // namespace

std::span<const InstanceFileRow> trace_files() {
  static constexpr std::array kRows = {
      InstanceFileRow{"saved_cmdlines", kReadable, saved_cmdlines},
      InstanceFileRow{"snapshot", kWritable, snapshot},
      InstanceFileRow{"trace", kWritable, trace},
      InstanceFileRow{"trace_clock", kWritable, trace_clock},
      InstanceFileRow{"trace_marker", kWriteOnly, marker_of<TextMarker>},
      InstanceFileRow{"trace_marker_raw", kWriteOnly, marker_of<RawMarker>},
      InstanceFileRow{"trace_pipe", kReadable, trace_pipe},
      InstanceFileRow{"tracing_on", kWritable, tracing_on},
  };
  return kRows;
}

std::span<const CpuFileRow> cpu_files() {
  static constexpr std::array kRows = {
      CpuFileRow{"buffer_size_kb", kWritable, cpu_buffer_size_file},
      CpuFileRow{"snapshot", kWritable, cpu_snapshot},
      CpuFileRow{"stats", kReadable, cpu_stats},
      CpuFileRow{"trace", kWritable, cpu_trace},
      CpuFileRow{"trace_pipe", kReadable, cpu_trace_pipe},
  };
  return kRows;
}

}  // namespace tallyfs::tracing
