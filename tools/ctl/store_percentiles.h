// Percentiles of spans of a store, as show --at has them. A span is opened once. Confined to one
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tools/display/look.h"
#include "tools/past/span_source.h"

namespace tallyfs {

class StorePercentiles {
 public:
  using Name = std::pair<std::string, std::string>;  // interface, statistic

  explicit StorePercentiles(std::string directory) : directory_(std::move(directory)) {}

  // nullopt: the statistic has no p99, or the store cannot be read.
  std::optional<std::string> p99(const Name& name, const past::Span& span, const view::Look& look);

 private:
  past::SpanSource* open(const past::Span& span);

  const std::string directory_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::unique_ptr<past::SpanSource>> sources_;
};

}  // namespace tallyfs
