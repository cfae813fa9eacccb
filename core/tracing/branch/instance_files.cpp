#include "core/tracing/branch/instance_files.h"

#include <array>

#include "core/base/text.h"
#include "core/tracing/branch/tracing_readme.h"
#include "core/tracing/trace/built_in_formats.h"

namespace tallyfs::tracing {
namespace {

TextFile::Parts fixed(const SharedView& view, std::string_view text) {
  TextFile::Parts parts = parts_of(view, Waits::kNo);
  parts.render = [text](const CallContext&, std::size_t bytes_max) {
    return InstanceAccess::bounded(std::string(text), bytes_max);
  };
  return parts;
}

TextFile::Parts available_tracers(const SharedView& view) { return fixed(view, "nop\n"); }

TextFile::Parts current_tracer(const SharedView& view) {
  TextFile::Parts parts = fixed(view, "nop\n");
  parts.write_line = [](std::string_view text, const CallContext&) -> Result<void> {
    if (trimmed(text) == "nop") return {};
    return invalid_write("there is no tracer but nop");
  };
  return parts;
}

TextFile::Parts header_page(const SharedView& view) { return fixed(view, kRingPageFormat); }

TextFile::Parts header_event(const SharedView& view) { return fixed(view, kRingEntryFormat); }

TextFile::Parts timestamp_mode(const SharedView& view) { return fixed(view, "delta [absolute]\n"); }

}  // namespace

TextFile::Parts readme_file(const SharedView& view) { return fixed(view, kTracingReadme); }

std::span<const InstanceFileRow> fixed_files() {
  static constexpr std::array kRows = {
      InstanceFileRow{"available_tracers", kReadable, available_tracers},
      InstanceFileRow{"current_tracer", kWritable, current_tracer},
      InstanceFileRow{"timestamp_mode", kReadable, timestamp_mode},
  };
  return kRows;
}

std::span<const InstanceFileRow> format_files() {
  static constexpr std::array kRows = {
      InstanceFileRow{"header_event", kReadable, header_event},
      InstanceFileRow{"header_page", kReadable, header_page},
  };
  return kRows;
}

TextFile::Parts parts_of(const SharedView& view, Waits waits) {
  TextFile::Parts parts{
      .render = [](const CallContext&, std::size_t) { return Result<std::string>(std::string()); },
      .last_change = [view](Timestamp) { return view->last_change(); },
  };
  parts.version = [view](Timestamp) { return std::optional(view->version()); };
  parts.hold = [view](File::Access, Timestamp) { return view->hold(); };
  parts.write_unit = File::WriteUnit::kCommand;
  parts.waits = waits == Waits::kYes;
  if (parts.waits) parts.opened = [view](const CallContext& call) { view->refresh(call); };
  return parts;
}

std::string number_text(std::uint64_t number) {
  std::string text;
  append_number(text, number);
  return text + "\n";
}

std::string switch_text(bool on) { return on ? "1\n" : "0\n"; }

Error invalid_write(const char* reason) { return {ErrorCode::kInvalid, reason, 0}; }

}  // namespace tallyfs::tracing
