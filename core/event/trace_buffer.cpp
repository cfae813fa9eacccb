#include "core/event/trace_buffer.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "core/base/text.h"
#include "core/event/hist_copy.h"
#include "core/event/program.h"

namespace tally {
namespace {

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
        out.append("=> ").append(place_text(symbols, frame, true)).append("\n");
      }
      return;
    }
    case FieldKind::kOther:
      out.append("?");
      return;
    case FieldKind::kText:
    case FieldKind::kLocated:
    case FieldKind::kRelative:
    case FieldKind::kTail: {
      const std::string_view text = text_of(field).read(record, nullptr);
      append_escaped(out, text, 4 * kTextBytesMax, 0);
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

// The kernel shows the function that took the text in; ours bears the same name.
void append_marker(std::string& out, const EventFormat& format, const EventRecord& record) {
  out.append("tracing_mark_write: ");
  const std::string_view marked = text_of(format.fields.back()).read(record, nullptr);
  append_escaped(out, marked, 4 * TraceBuffer::kRecordMax, 0);
  out.push_back('\n');
}

void append_stack(std::string& out, const EventRecord& record, const Symbols& symbols) {
  out.append(" <stack trace>\n");
  for (const std::uint64_t frame : record.stack) {
    out.append(" => ").append(place_text(symbols, frame, false)).append("\n");
  }
}

// `            bash-1234    [001] .....   309.873125: `
void append_where(std::string& out, const EventRecord& record) {
  char text[96];
  const std::string comm(record.pid == 0       ? "<idle>"
                         : record.comm.empty() ? "<...>"
                                               : record.comm.substr(0, 16));
  const std::uint64_t total_us = record.time_ns / 1000;
  const int size =
      std::snprintf(text, sizeof text, "%16s-%-7d [%03u] ..... %5llu.%06llu: ", comm.c_str(),
                    record.pid, record.cpu, static_cast<unsigned long long>(total_us / 1'000'000),
                    static_cast<unsigned long long>(total_us % 1'000'000));
  out.append(text, static_cast<std::size_t>(size));
}

}  // namespace

TraceBuffer::Head TraceBuffer::head_at(std::size_t at) const {
  if (at + sizeof(Head) > bytes_.size()) return {};
  return read_raw<Head>(bytes_.data() + at);
}

void TraceBuffer::drop_oldest() {
  const Head head = head_at(first_);
  if (head.bytes == 0) {
    first_ = 0;
    return;
  }
  first_ += sizeof(Head) + head.bytes;
  count_ -= 1;
  overwritten_ += 1;
}

// The ring never fills up to the last byte, so that first_ == end_ means that it is empty.
void TraceBuffer::make_room(std::size_t bytes) {
  if (bytes_.empty()) bytes_.resize(bytes_max_);
  if (count_ == 0) first_ = end_ = 0;
  if (end_ + bytes + sizeof(Head) > bytes_.size()) {
    while (count_ > 0 && first_ >= end_) drop_oldest();
    std::memset(bytes_.data() + end_, 0, std::min(sizeof(Head), bytes_.size() - end_));
    end_ = 0;
    if (count_ == 0) first_ = 0;
  }
  while (count_ > 0 && first_ >= end_ && first_ <= end_ + bytes) drop_oldest();
  if (count_ == 0) first_ = end_;
}

void TraceBuffer::add(Kind kind, const EventRecord& record, std::uint32_t generation) {
  const std::string_view payload = kind == Kind::kRecord ? record.bytes : std::string_view();
  const std::size_t frames = kind == Kind::kStack || !record.stack.empty()
                                 ? std::min<std::size_t>(record.stack.size(), kStackDepthMax)
                                 : 0;
  const std::size_t comm_bytes = std::min<std::size_t>(record.comm.size(), 16);
  const std::size_t bytes = (payload.size() + comm_bytes + frames * 8 + 7) / 8 * 8 + 8;
  if (payload.size() > kRecordMax || 4 * (bytes + sizeof(Head)) > bytes_max_) {
    overwritten_ += 1;
    return;
  }
  make_room(bytes + sizeof(Head));
  const Head head{.bytes = static_cast<std::uint32_t>(bytes),
                  .generation = generation,
                  .event = record.event,
                  .cpu = record.cpu,
                  .time_ns = record.time_ns,
                  .pid = record.pid,
                  .record_bytes = static_cast<std::uint32_t>(payload.size()),
                  .comm_bytes = static_cast<std::uint32_t>(comm_bytes),
                  .frames = static_cast<std::uint16_t>(frames),
                  .kind = kind};
  char* at = bytes_.data() + end_;
  std::memcpy(at, &head, sizeof head);
  at += sizeof head;
  if (frames > 0) std::memcpy(at, record.stack.data(), frames * 8);
  at = std::copy(payload.begin(), payload.end(), at + frames * 8);
  std::copy_n(record.comm.begin(), comm_bytes, at);
  end_ += sizeof head + bytes;
  count_ += 1;
  written_ += 1;
}

void TraceBuffer::clear() {
  first_ = end_ = 0;
  count_ = written_ = 0;
}

std::vector<std::pair<EventNumber, std::uint32_t>> TraceBuffer::events() const {
  std::vector<std::pair<EventNumber, std::uint32_t>> found;
  std::size_t at = first_;
  for (std::uint64_t left = count_; left > 0;) {
    const Head head = head_at(at);
    if (head.bytes == 0) {
      at = 0;
      continue;
    }
    left -= 1;
    at += sizeof(Head) + head.bytes;
    const std::pair event(head.event, head.generation);
    const auto place = std::ranges::lower_bound(found, event);
    if (place == found.end() || *place != event) found.insert(place, event);
  }
  return found;
}

std::string TraceBuffer::render(const Formats& formats, const Symbols& symbols) const {
  std::string text = "# tracer: nop\n#\n# entries-in-buffer/entries-written: ";
  append_number(text, count_);
  text.push_back('/');
  append_number(text, written_);
  text.append(
      "   #P:1\n#\n"
      "#                                _-----=> irqs-off/BH-disabled\n"
      "#                               / _----=> need-resched\n"
      "#                              | / _---=> hardirq/softirq\n"
      "#                              || / _--=> preempt-depth\n"
      "#                              ||| / _-=> migrate-disable\n"
      "#                              |||| /     delay\n"
      "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
      "#              | |         |   |||||     |         |\n");
  std::size_t at = first_;
  for (std::uint64_t left = count_; left > 0;) {
    const Head head = head_at(at);
    if (head.bytes == 0) {
      at = 0;
      continue;
    }
    left -= 1;
    const char* const body = bytes_.data() + at + sizeof(Head);
    std::uint64_t frames[kStackDepthMax];
    if (head.frames > 0) std::memcpy(frames, body, head.frames * std::size_t{8});
    const char* const payload = body + head.frames * std::size_t{8};
    const EventRecord record{head.event,
                             head.time_ns,
                             head.cpu,
                             head.pid,
                             {payload, head.record_bytes},
                             {payload + head.record_bytes, head.comm_bytes},
                             {frames, head.frames}};
    at += sizeof(Head) + head.bytes;
    const auto [format, style] = formats(head.event, head.generation);
    append_where(text, record);
    if (head.kind == Kind::kStack) {
      append_stack(text, record, symbols);
    } else if (!format) {
      text.append("[UNKNOWN EVENT]\n");
    } else if (style == Style::kMarker) {
      append_marker(text, *format, record);
    } else {
      text.append(format->name).append(":");
      append_fields(text, *format, record, symbols);
    }
  }
  return text;
}

}  // namespace tally
