#include "core/branch/tracing/tracing_buffer_files.h"

#include "core/base/text.h"

namespace tallyfs {
namespace {

// What trace_pipe takes out at a time, rendered outside of the lock.
constexpr std::size_t kTakenBytes = 4096;

std::string number_text(std::uint64_t number) {
  std::string text;
  append_number(text, number);
  return text + "\n";
}

}  // namespace

Result<std::string> BufferFile::render(const CallContext& call, std::size_t bytes_max) const {
  const std::uint32_t cpus = state().options.cpus;
  const auto of_set = [&](const auto& look) { return show(call.now, bytes_max, look); };
  switch (kind_) {
    case Kind::kTracePipe:
      return std::string();  // it is read by next()
    case Kind::kBufferSize:
      return of_set(
          [&](const EventSet& set) { return number_text(set.trace_bytes() / 1024 / cpus); });
    case Kind::kBufferTotalSize:
      return of_set([](const EventSet& set) { return number_text(set.trace_bytes() / 1024); });
    case Kind::kSavedCmdlines:
      return of_set([this](const EventSet& set) {
        return set.render_saved_cmdlines(instance().cmdlines_max);
      });
    case Kind::kSavedCmdlinesSize:
      return of_set([this](const EventSet&) { return number_text(instance().cmdlines_max); });
    case Kind::kTracingCpumask:
      return of_set([&](const EventSet& set) { return set.render_tracing_cpumask(cpus); });
    case Kind::kSetEventNotracePid:
      return of_set([](const EventSet& set) { return set.render_set_event_notrace_pid(); });
    case Kind::kTimestampMode:
      return bounded("delta [absolute]\n", bytes_max);
    case Kind::kCpuTrace:
    case Kind::kCpuStats:
      return render_of_cpu(call, bytes_max);
  }
  return std::string();
}

Result<std::string> BufferFile::render_of_cpu(const CallContext& call,
                                              std::size_t bytes_max) const {
  const auto copied = copy_trace(call.now);
  if (!copied) return copied.error();
  const TraceCopy& copy = copied.value().copy;
  if (kind_ == Kind::kCpuStats) {
    return copy.render_stats(cpu_, static_cast<std::uint64_t>(call.now.monotonic.count()));
  }
  return bounded(
      copy.render(state().symbols(call.cancel),
                  {.cpus = state().options.cpus, .only_cpu = cpu_, .fields = shows_fields()}),
      bytes_max);
}

bool BufferFile::waits() const {
  return kind_ == Kind::kTracePipe || kind_ == Kind::kSavedCmdlines || kind_ == Kind::kCpuTrace ||
         kind_ == Kind::kCpuStats;
}

std::string BufferFile::next(Moment now) {
  std::optional<TraceCopy> taken;
  {
    const MutexLock lock(state().mutex);
    state().release_drained(now);
    state().release_old(now);
    if (!instance().set.has_trace()) return {};
    taken = instance().set.take_trace(kTakenBytes);
    Tracing::State::touch(instance(), now);
  }
  return taken->render(state().symbols({}), {.header = false, .fields = shows_fields()});
}

bool BufferFile::is_over() const {
  const MutexLock lock(state().mutex);
  return !instance().set.tracing_on();
}

std::optional<std::uint64_t> BufferFile::news(Moment now) const {
  if (!is_stream()) return std::nullopt;
  const MutexLock lock(state().mutex);
  state().release_old(now);
  return instance().set.has_trace() ? 1 : 0;
}

Result<void> BufferFile::write_line(std::string_view text, const CallContext& call) {
  switch (kind_) {
    case Kind::kBufferSize:
      return write_size(text, call);
    case Kind::kSavedCmdlinesSize:
      return write_cmdlines_size(text, call);
    case Kind::kTracingCpumask:
      return state().change(instance(), call, [&](EventSet& set) {
        return set.write_tracing_cpumask(text, state().options.cpus);
      });
    case Kind::kSetEventNotracePid:
      return state().change(instance(), call,
                            [&](EventSet& set) { return set.write_set_event_notrace_pid(text); });
    case Kind::kCpuTrace:
      return {};  // it is the opening with O_TRUNC that clears
    case Kind::kTracePipe:
    case Kind::kBufferTotalSize:
    case Kind::kSavedCmdlines:
    case Kind::kTimestampMode:
    case Kind::kCpuStats:
      break;
  }
  return File::write_line(text, call);
}

// More processes than a kernel can have are no number of names.
Result<void> BufferFile::write_cmdlines_size(std::string_view text, const CallContext& call) {
  constexpr std::uint64_t kPidsMax = 4'194'304;
  const auto number = parse_unsigned(trimmed(text));
  if (!number || *number == 0 || *number > kPidsMax) {
    return Error{ErrorCode::kInvalid, "a number of names is wanted, 1 to 4194304", 0};
  }
  return state().change(instance(), call, [&](EventSet&) -> Result<void> {
    instance().cmdlines_max = *number;
    return {};
  });
}

Result<void> BufferFile::write_size(std::string_view text, const CallContext& call) {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  const auto kib = parse_unsigned(text);
  if (!kib || *kib == 0) {
    return Error{ErrorCode::kInvalid, "a number of KiB is wanted, for each CPU", 0};
  }
  const std::uint64_t bytes_max = kTraceBytesMax / state().options.cpus;
  if (*kib > bytes_max / 1024) {
    return Error{ErrorCode::kNoSpace,
                 "more than the " + std::to_string(bytes_max / 1024) + " KiB that a CPU may have",
                 0};
  }
  std::size_t before = 0;
  return state().change(
      instance(), call,
      [&](EventSet& set) -> Result<void> {
        before = set.trace_bytes();
        set.resize_trace(*kib * 1024 * state().options.cpus);
        return {};
      },
      [&](EventSet& set) { set.resize_trace(before); });
}

Result<void> BufferFile::truncate(const CallContext& call) {
  if (kind_ != Kind::kSetEventNotracePid && kind_ != Kind::kCpuTrace) return {};
  return state().change(instance(), call, [this](EventSet& set) -> Result<void> {
    if (kind_ == Kind::kSetEventNotracePid) set.truncate_set_event_notrace_pid();
    if (kind_ == Kind::kCpuTrace) instance().clear_cpu(cpu_, state().options.cpus);
    return {};
  });
}

}  // namespace tallyfs
