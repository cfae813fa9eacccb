#include "tools/ctl/store_percentiles.h"

#include "tools/display/changed_reason.h"
#include "tools/tree/source.h"

namespace tallyfs {

std::optional<std::string> StorePercentiles::p99(const Name& name, const past::Span& span,
                                                 const view::Look& look) {
  past::SpanSource* const source = open(span);
  if (!source) return std::nullopt;
  const auto interface = read_interface(*source, name.first);
  const view::Statistic* const found = interface ? interface.value().find(name.second) : nullptr;
  return found ? view::p99_text(*found, look) : std::nullopt;
}

past::SpanSource* StorePercentiles::open(const past::Span& span) {
  auto& source = sources_[{span.begin_us, span.end_us}];
  if (source) return source.get();
  auto store = past::StoreReader::open(directory_);
  if (!store) return nullptr;
  auto opened = past::SpanSource::open(std::move(store).value(), span);
  if (opened) source = std::move(opened).value();
  return source.get();
}

}  // namespace tallyfs
