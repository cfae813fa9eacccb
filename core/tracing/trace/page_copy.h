// Records of one CPU that were taken out together, for one page of the kernel's ring buffer: copied
// under the EventSet's lock, and encoded outside of it. The constructor, which belongs outside of
// the lock, takes all the memory.
//
// A value; encode() is const, so any thread may encode. Limits: the records of one page.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/tracing/trace/page_writer.h"
#include "core/tracing/trace/trace_buffer.h"

namespace tallyfs::tracing {

class PageCopy {
 public:
  PageCopy();

  // kNoRoom: this page has no room for the record; kTooLarge: no page has. Then the copy is as
  // before.
  enum class Added { kYes, kNoRoom, kTooLarge };
  // missing: before the first record.
  Added add(TraceBuffer::Kind kind, const EventRecord& record, const TraceBuffer::Shown& shown,
            const PageRoom::Missing& missing);
  bool is_empty() const { return records_.empty(); }
  // The page, of PageWriter::kPageBytes; empty without records.
  std::string encode() const;

 private:
  enum class Form : std::uint8_t { kEvent, kMarker, kStack };
  struct Record {
    std::uint64_t time_ns;
    std::int32_t pid;
    std::uint32_t bytes;  // of contents_
    Form form;
    std::optional<std::uint16_t> id;  // nullopt: that of the record, or none
  };
  static Form form_of(TraceBuffer::Kind kind, const TraceBuffer::Shown& shown);
  static std::size_t bytes_in_page(Form form, std::size_t bytes);
  static void write(char* to, const Record& record, const char* content);

  PageRoom room_;
  std::vector<Record> records_;
  std::string contents_;  // of the records, one behind the other
};

}  // namespace tallyfs::tracing
