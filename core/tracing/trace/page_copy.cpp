#include "core/tracing/trace/page_copy.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "core/tracing/trace/built_in_formats.h"

namespace tallyfs::tracing {
namespace {

constexpr std::size_t kPidAt = 4;
// The kernel ends each marker so.
constexpr std::string_view kMarkerEnd("\n\0", 2);

std::string_view content_of(TraceBuffer::Kind kind, const EventRecord& record) {
  if (kind != TraceBuffer::Kind::kStack) return record.bytes;
  return {reinterpret_cast<const char*>(record.stack.data()), record.stack.size_bytes()};
}

bool is_marker(const TraceBuffer::Shown& shown) {
  return shown.style == TraceBuffer::Style::kMarker;
}

}  // namespace

std::size_t PageCopy::bytes_in_page(Form form, std::size_t bytes) {
  switch (form) {
    case Form::kEvent:
      return bytes;
    case Form::kMarker:
      return bytes + kMarkerEnd.size();
    case Form::kStack:
      return kKernelStackCallersAt + bytes;
  }
  std::abort();
}

PageCopy::Form PageCopy::form_of(TraceBuffer::Kind kind, const TraceBuffer::Shown& shown) {
  if (kind == TraceBuffer::Kind::kStack) return Form::kStack;
  return is_marker(shown) ? Form::kMarker : Form::kEvent;
}

PageCopy::PageCopy() {
  // A record has a head, and usually an id.
  records_.reserve(PageRoom::kPageBytes / (2 * sizeof(std::uint32_t)));
  contents_.reserve(PageRoom::kPageBytes);
}

PageCopy::Added PageCopy::add(TraceBuffer::Kind kind, const EventRecord& record,
                              const TraceBuffer::Shown& shown, const PageRoom::Missing& missing) {
  const std::string_view content = content_of(kind, record);
  const Form form = form_of(kind, shown);
  const std::size_t bytes = bytes_in_page(form, content.size());
  if (bytes > PageWriter::kRecordBytesMax) return Added::kTooLarge;
  if (is_empty()) room_.miss(missing);
  if (!room_.add(record.time_ns, bytes)) return Added::kNoRoom;
  records_.push_back({.time_ns = record.time_ns,
                      .pid = record.pid,
                      .bytes = static_cast<std::uint32_t>(content.size()),
                      .form = form,
                      .id = shown.format ? std::optional(shown.format->id) : std::nullopt});
  contents_.append(content);
  return Added::kYes;
}

void PageCopy::write(char* to, const Record& record, const char* content) {
  if (record.form == Form::kStack) {
    const auto frames = static_cast<std::int32_t>(record.bytes / sizeof(std::uint64_t));
    std::memcpy(to, &kKernelStackId, sizeof kKernelStackId);
    std::memcpy(to + kPidAt, &record.pid, sizeof record.pid);
    std::memcpy(to + kKernelStackSizeAt, &frames, sizeof frames);
    std::copy_n(content, record.bytes, to + kKernelStackCallersAt);
    return;
  }
  char* const end = std::copy_n(content, record.bytes, to);
  if (record.form == Form::kMarker) std::copy(kMarkerEnd.begin(), kMarkerEnd.end(), end);
  // A program's record does not have the id of its event, by which readers of pages know it.
  if (record.id && record.bytes >= sizeof *record.id) {
    std::memcpy(to, &*record.id, sizeof *record.id);
  }
}

std::string PageCopy::encode() const {
  if (is_empty()) return {};
  PageWriter page;
  page.miss(room_.missing());
  const char* content = contents_.data();
  for (const Record& record : records_) {
    char* const to = page.add(record.time_ns, bytes_in_page(record.form, record.bytes));
    if (!to) {
      std::fputs("tallyfs: a page has no room for the records that were taken for it\n", stderr);
      std::abort();
    }
    write(to, record, content);
    content += record.bytes;
  }
  return page.finish();
}

}  // namespace tallyfs::tracing
