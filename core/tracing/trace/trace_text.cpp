// Renders traced records as `trace` shows them.
#include <algorithm>
#include <cstdio>

#include "core/base/text.h"
#include "core/tracing/print/print_pointer.h"
#include "core/tracing/trace/trace_buffer.h"

namespace tallyfs::tracing {
namespace {

// The most bytes of one field that are shown.
constexpr std::size_t kShownFieldMax = 4096;

void append_value(std::string& out, const TraceField& field, const EventRecord& record,
                  const Symbols& symbols) {
  switch (field.kind()) {
    case FieldKind::kNumber: {
      const std::uint64_t value = Program::load(load_of(field), record, nullptr);
      if (field.is_signed) {
        append_number(out, static_cast<std::int64_t>(value));
      } else if (field.type.ends_with('*')) {
        append_hex(out, value);
      } else {
        append_number(out, value);
      }
      return;
    }
    case FieldKind::kStack: {
      const std::string_view frames = text_of(field).read(record, nullptr);
      out.append("STACK:\n");
      for (std::size_t at = 0; at < frames.size(); at += 8) {
        const auto frame = read_raw<std::uint64_t>(frames.data() + at);
        out.append("=> ").append(place_text(symbols, frame, Offset::kShown)).append("\n");
      }
      return;
    }
    case FieldKind::kOther:
      append_array(out, bytes_of(field).bytes(record).substr(0, kTextBytesMax),
                   field.element_bytes());
      return;
    case FieldKind::kText:
    case FieldKind::kLocated:
    case FieldKind::kRelative:
    case FieldKind::kTail: {
      append_escaped(out, text_of(field).whole(record, nullptr), kShownFieldMax, 0);
      return;
    }
  }
}

void append_fields(std::string& out, const EventFormat& format, const EventRecord& record,
                   const Symbols& symbols) {
  for (const TraceField& field : format.fields) {
    if (field.name.starts_with("common_")) continue;
    if (!out.ends_with('\n')) out.push_back(' ');
    out.append(field.name).push_back('=');
    append_value(out, field, record, symbols);
  }
  if (!out.ends_with('\n')) out.push_back('\n');
}

// The kernel shows the function that took the text; our function has the same name. Lines and tabs
// are kept as they were written.
void append_marker(std::string& out, const EventFormat& format, const EventRecord& record) {
  out.append("tracing_mark_write: ");
  std::string_view marked = text_of(format.fields.back()).whole(record, nullptr);
  for (;;) {
    const std::size_t end = std::min(marked.find_first_of("\n\t"), marked.size());
    append_escaped(out, marked.substr(0, end), 4 * TraceBuffer::kRecordMax, 0);
    if (end == marked.size()) break;
    out.push_back(marked[end]);
    marked.remove_prefix(end + 1);
  }
  out.push_back('\n');
}

// The kernel's text for bytes that were written into trace_marker_raw: `# 1 buf: 61 62`.
void append_raw_marker(std::string& out, const EventFormat& format, const EventRecord& record) {
  char text[40];
  const TraceField id = format.field("id").value();
  std::snprintf(text, sizeof text, "# %llx buf:",
                static_cast<unsigned long long>(Program::load(load_of(id), record, nullptr)));
  out.append(text);
  const std::size_t data_at = format.fields.back().offset;
  for (const char byte : record.bytes.substr(std::min(data_at, record.bytes.size()))) {
    std::snprintf(text, sizeof text, " %02x", static_cast<unsigned char>(byte));
    out.append(text);
  }
  out.push_back('\n');
}

void append_stack(std::string& out, const EventRecord& record, const Symbols& symbols) {
  out.append(" <stack trace>\n");
  for (const std::uint64_t frame : record.stack) {
    out.append(" => ").append(place_text(symbols, frame, Offset::kHidden)).append("\n");
  }
}

// The bits of common_flags, as the kernel's tools know them.
enum Flags : unsigned {
  kIrqsOff = 0x01,
  kReschedLazy = 0x02,
  kResched = 0x04,
  kHardirq = 0x08,
  kSoftirq = 0x10,
  kPreemptResched = 0x20,
  kNmi = 0x40,
  kBhOff = 0x80,
};

char irqs_letter(unsigned flags) {
  if ((flags & kIrqsOff) && (flags & kBhOff)) return 'D';
  return flags & kIrqsOff ? 'd' : flags & kBhOff ? 'b' : '.';
}

char resched_letter(unsigned flags) {
  // Indexed by three bits: 1 of the task, 2 of the CPU, 4 for a lazy reschedule.
  constexpr char kLetters[] = ".npNlbLB";
  return kLetters[(flags & kResched ? 1 : 0) + (flags & kPreemptResched ? 2 : 0) +
                  (flags & kReschedLazy ? 4 : 0)];
}

char context_letter(unsigned flags) {
  if (flags & kNmi) return flags & kHardirq ? 'Z' : 'z';
  if (flags & kHardirq) return flags & kSoftirq ? 'H' : 'h';
  return flags & kSoftirq ? 's' : '.';
}

char depth_letter(unsigned depth) { return ".123456789abcdef"[depth & 15]; }

unsigned byte_of(const EventFormat& format, std::string_view name, const EventRecord& record) {
  const auto field = std::ranges::find(format.fields, name, &TraceField::name);
  if (field == format.fields.end() || field->size != 1) return 0;
  if (field->offset >= record.bytes.size()) return 0;
  return static_cast<unsigned char>(record.bytes[field->offset]);
}

// The header has a column for each letter. A stack alone, and a record whose event is gone, have
// only dots.
std::string state_of(const EventFormat* format, const EventRecord& record) {
  if (!format) return ".....";
  const unsigned flags = byte_of(*format, "common_flags", record);
  const unsigned depths = byte_of(*format, "common_preempt_count", record);
  return {irqs_letter(flags), resched_letter(flags), context_letter(flags), depth_letter(depths),
          depth_letter(depths >> 4)};
}

// `(   1234) `
std::string group_of(const TraceBuffer::View& view, const EventRecord& record) {
  if (!view.groups) return {};
  const auto found = view.groups->find(record.pid);
  if (found == view.groups->end() || found->second == 0) return "(-------) ";
  char text[16];
  std::snprintf(text, sizeof text, "(%7d) ", found->second);
  return text;
}

// `            bash-1234    [001] d..2.   309.873125: `
void append_where(std::string& out, const EventRecord& record, const std::string& group,
                  const std::string& state) {
  char text[128];
  const std::string comm(record.pid == 0       ? "<idle>"
                         : record.comm.empty() ? "<...>"
                                               : record.comm.substr(0, 16));
  const std::uint64_t total_us = record.time_ns / 1000;
  const int size =
      std::snprintf(text, sizeof text, "%16s-%-7d %s[%03u] %s %5llu.%06llu: ", comm.c_str(),
                    record.pid, group.c_str(), record.cpu, state.c_str(),
                    static_cast<unsigned long long>(total_us / 1'000'000),
                    static_cast<unsigned long long>(total_us % 1'000'000));
  out.append(text, static_cast<std::size_t>(size));
}

// The kernel's wording for missing records that it has not counted.
void append_gap(std::string& out, std::uint32_t cpu) {
  out.append("CPU:");
  append_number(out, std::uint64_t{cpu});
  out.append(" [LOST EVENTS]\n");
}

void append_header(std::string& text, std::uint64_t count, std::uint64_t written,
                   const TraceBuffer::View& view) {
  text.append("# tracer: nop\n#\n");
  if (!view.context) return;
  text.append("# entries-in-buffer/entries-written: ");
  append_number(text, count);
  text.push_back('/');
  append_number(text, written);
  text.append("   #P:");
  append_number(text, std::uint64_t{view.cpus});
  text.append("\n#\n");
  const std::string indent = view.groups ? std::string(10, ' ') : std::string();
  const auto legend = [&](std::string_view line) {
    if (view.irq_info) text.append("#").append(indent).append(line);
  };
  legend("                                _-----=> irqs-off/BH-disabled\n");
  legend("                               / _----=> need-resched\n");
  legend("                              | / _---=> hardirq/softirq\n");
  legend("                              || / _--=> preempt-depth\n");
  legend("                              ||| / _-=> migrate-disable\n");
  legend("                              |||| /     delay\n");
  text.append("#           TASK-PID     ").append(view.groups ? "  TGID    " : "");
  text.append(view.irq_info ? "CPU#  |||||  TIMESTAMP  FUNCTION\n"
                            : "CPU#     TIMESTAMP  FUNCTION\n");
  text.append("#              | |         ").append(view.groups ? "  |       " : "");
  text.append(view.irq_info ? "|   |||||     |         |\n" : "|         |         |\n");
}

std::string seconds_text(std::uint64_t time_ns) {
  char text[40];
  std::snprintf(text, sizeof text, "%5llu.%06llu",
                static_cast<unsigned long long>(time_ns / 1'000'000'000),
                static_cast<unsigned long long>(time_ns / 1000 % 1'000'000));
  return text;
}

}  // namespace

std::string TraceBuffer::render(const Formats& formats, const Symbols& symbols,
                                const View& view) const {
  std::string text;
  if (view.header) {
    const CpuCounts counts = counts_in(view);
    append_header(text, counts.entries, counts.entries + counts.overwritten, view);
  }
  each([&](Kind kind, const EventRecord& record, std::uint32_t generation) {
    if (view.only_cpu && record.cpu != *view.only_cpu) return;
    if (kind == Kind::kGap) return append_gap(text, record.cpu);
    const auto [format, style, print] = formats(record.event, generation);
    if (view.context) {
      append_where(text, record, group_of(view, record),
                   view.irq_info ? state_of(format, record) : std::string());
    }
    if (kind == Kind::kStack) {
      append_stack(text, record, symbols);
    } else if (!format) {
      text.append("[UNKNOWN EVENT]\n");
    } else if (style == Style::kMarker) {
      append_marker(text, *format, record);
    } else if (style == Style::kRawMarker) {
      append_raw_marker(text, *format, record);
    } else {
      text.append(format->name).append(":");
      if (print && !view.fields) {
        text.push_back(' ');
        print->append(text, record, symbols, view.pointers);
        text.push_back('\n');
        return;
      }
      append_fields(text, *format, record, symbols);
    }
  });
  return text;
}

// The difference is the overwritten records, as in the kernel: records that were consumed count in
// neither.
TraceBuffer::CpuCounts TraceBuffer::counts_in(const View& view) const {
  if (view.only_cpu) {
    return *view.only_cpu < by_cpu_.size() ? by_cpu_[*view.only_cpu] : CpuCounts{};
  }
  CpuCounts all;
  for (const CpuCounts& each : by_cpu_) {
    all.entries += each.entries;
    all.overwritten += each.overwritten;
  }
  return all;
}

std::string TraceBuffer::render_stats(std::uint32_t cpu, std::uint64_t now_ns) const {
  std::uint64_t entries = 0, bytes = 0, oldest_ns = 0;
  each([&](Kind kind, const EventRecord& record, std::uint32_t) {
    if (record.cpu != cpu || kind == Kind::kGap) return;
    if (entries == 0) oldest_ns = record.time_ns;
    entries += 1;
    bytes += record.bytes.size() + record.stack.size_bytes();
  });
  const CpuCounts counts = cpu < by_cpu_.size() ? by_cpu_[cpu] : CpuCounts{};
  std::string text;
  const auto line = [&](std::string_view name, std::uint64_t value) {
    text.append(name);
    append_number(text, value);
    text.push_back('\n');
  };
  line("entries: ", entries);
  line("overrun: ", counts.overwritten);
  line("commit overrun: ", 0);
  line("bytes: ", bytes);
  text.append("oldest event ts: " + seconds_text(oldest_ns) + "\n");
  text.append("now ts: " + seconds_text(now_ns) + "\n");
  line("dropped events: ", counts.dropped);
  line("read events: ", counts.taken);
  return text;
}

}  // namespace tallyfs::tracing
