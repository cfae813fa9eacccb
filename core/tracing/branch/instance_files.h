// The files of an instance, except those of its events: a table of rows for each purpose. A row
// names a file and the function that makes it. Values; the tables are immutable.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "core/tracing/branch/instance_access.h"

namespace tallyfs::tracing {

// Files with these audiences keep the owner's group, regardless of --group.
inline constexpr Audience kReadable{0440};
inline constexpr Audience kWritable{0640};
inline constexpr Audience kWriteOnly{0220};

struct InstanceFileRow {
  std::string_view name;
  Audience audience;
  TextFile::Parts (*make)(const SharedView& view);
};
struct CpuFileRow {
  std::string_view name;
  Audience audience;
  TextFile::Parts (*make)(const SharedView& view, std::uint32_t cpu);
};

std::span<const InstanceFileRow> event_list_files();  // which events, processes and CPUs are traced
std::span<const InstanceFileRow> trace_files();       // the traced records
std::span<const InstanceFileRow> buffer_files();      // how much is kept
std::span<const InstanceFileRow> fixed_files();       // files with a constant text
std::span<const InstanceFileRow> format_files();      // in events/: what the pages look like
std::span<const InstanceFileRow> top_files();         // files of the top: one for all instances
std::span<const InstanceFileRow> probe_files();       // of the top, where there are probes
// The further files of the top, if the kernel has this kind.
std::span<const InstanceFileRow> probe_files(ProbeTarget target);
std::span<const CpuFileRow> cpu_files();              // per_cpu/cpuN/
std::span<const CpuFileRow> page_files();             // per_cpu/cpuN/, pages of records

TextFile::Parts cpu_buffer_size_file(const SharedView& view, std::uint32_t cpu);

// `enable` and `filter` of a system; `enable` of all events, if the system is empty.
TextFile::Parts system_enable_file(const SharedView& view, std::string system);
TextFile::Parts system_filter_file(const SharedView& view, std::string system);

// --- For the functions that make files.
// Whether an open drains the sources first: the file shows effects of records.
enum class Waits { kNo, kYes };

// A file without a text, and without writes.
TextFile::Parts parts_of(const SharedView& view, Waits waits);

// A file that shows text(copy(instance)): see InstanceAccess::show().
template <typename Copy, typename Text>
TextFile::Parts shown(const SharedView& view, Waits waits, Copy copy, Text text) {
  TextFile::Parts parts = parts_of(view, waits);
  parts.render = [view, copy = std::move(copy), text = std::move(text)](const CallContext& call,
                                                                        std::size_t bytes_max) {
    return view->show(call.now, bytes_max, copy, text);
  };
  return parts;
}

// dynamic_events where there are probes: it lists them, and takes their lines, too.
TextFile::Parts with_probes(const SharedView& view, TextFile::Parts synthetic);
TextFile::Parts readme_file(const SharedView& view);
std::string number_text(std::uint64_t number);
std::string switch_text(bool on);
Error invalid_write(const char* reason);

}  // namespace tallyfs::tracing
