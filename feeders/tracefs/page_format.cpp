#include "feeders/tracefs/page_format.h"

#include <algorithm>

namespace tallyfs {
namespace {

Result<tracing::TraceField> find_field(const std::vector<tracing::TraceField>& fields,
                                       std::string_view name) {
  const auto at = std::ranges::find(fields, name, &tracing::TraceField::name);
  if (at != fields.end()) return *at;
  return Error{ErrorCode::kNotFound, "there is no field '" + std::string(name) + "'"};
}

}  // namespace

Result<PageFormat> parse_page_format(std::string_view text) {
  if (text.size() > tracing::kFormatBytesMax) return invalid("format longer than 64 KiB");
  const auto fields = tracing::parse_fields(text);
  if (!fields) return fields.error();
  const auto timestamp = find_field(fields.value(), "timestamp");
  const auto commit = find_field(fields.value(), "commit");
  const auto data = find_field(fields.value(), "data");
  if (!timestamp || !commit || !data) return invalid("no format of a ring buffer page");
  const PageFormat page{timestamp.value(), commit.value(), data.value()};
  if (page.timestamp.size != 8 || (page.commit.size != 4 && page.commit.size != 8) ||
      page.timestamp.end() > page.data.offset || page.commit.end() > page.data.offset ||
      page.data.size < 8) {
    return invalid("format of a ring buffer page of an unknown kind");
  }
  return page;
}

}  // namespace tallyfs
