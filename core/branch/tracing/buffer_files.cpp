// Files that show and set how much of a trace is kept.
#include <array>

#include "core/base/text.h"
#include "core/branch/tracing/instance_files.h"

namespace tallyfs {
namespace {

// The most that buffer_size_kb can be, of all CPUs together.
constexpr std::uint64_t kTraceBytesMax = 128u << 20;
constexpr std::uint64_t kKib = 1024;
// A kernel has no more processes than that.
constexpr std::uint64_t kNamesMax = 4'194'304;

std::size_t trace_bytes(TracingInstance& instance) { return instance.set.trace.bytes(); }

Result<void> write_size(const InstanceView& view, std::string_view text, const CallContext& call) {
  const std::uint32_t cpus = view.state().options.cpus;
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  const auto kib = parse_unsigned(text);
  if (!kib || *kib == 0) return invalid_write("a number of KiB is wanted, for each CPU");
  const std::uint64_t kib_max = kTraceBytesMax / cpus / kKib;
  if (*kib > kib_max) {
    return Error{ErrorCode::kNoSpace,
                 "more than the " + std::to_string(kib_max) + " KiB that a CPU may have", 0};
  }
  std::size_t before = 0;
  return view.change(
      call,
      [&](EventSet& set) -> Result<void> {
        before = set.trace.bytes();
        set.trace.resize(*kib * kKib * cpus);
        return {};
      },
      [&](EventSet& set) { set.trace.resize(before); });
}

TextFile::Parts buffer_size(const SharedView& view) {
  const std::uint32_t cpus = view->state().options.cpus;
  TextFile::Parts parts = shown(view, Waits::kNo, trace_bytes, [cpus](std::size_t bytes) {
    return number_text(bytes / kKib / cpus);
  });
  parts.write_line = [view](std::string_view text, const CallContext& call) {
    return write_size(*view, text, call);
  };
  return parts;
}

TextFile::Parts buffer_total_size(const SharedView& view) {
  return shown(view, Waits::kNo, trace_bytes,
               [](std::size_t bytes) { return number_text(bytes / kKib); });
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

std::span<const InstanceFileRow> buffer_files() {
  static constexpr std::array kRows = {
      InstanceFileRow{"buffer_size_kb", kWritable, buffer_size},
      InstanceFileRow{"buffer_total_size_kb", kReadable, buffer_total_size},
      InstanceFileRow{"saved_cmdlines_size", kWritable, saved_cmdlines_size},
  };
  return kRows;
}

}  // namespace tallyfs
