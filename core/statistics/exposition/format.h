// A format of metrics: how series are written into the text of their family, and families into the
// file. The three are made by make_format().
//
// Immutable; strings that are written to are the caller's.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/statistics/exposition/histogram_series.h"
#include "core/statistics/exposition/names.h"
#include "core/statistics/exposition/number.h"
#include "core/statistics/exposition/options.h"

namespace tallyfs::statistics {

enum class MetricsFormat { kProm, kOpenMetrics, kProtobuf };

class Format {
 public:
  virtual ~Format() = default;

  // Appends a label to those of a series.
  virtual void add_label(std::string& labels, std::string_view name,
                         std::string_view value) const = 0;
  // Each appends one series with these labels to the text of its family.
  virtual void add_counter(std::string& body, std::string_view family, std::string_view labels,
                           const Quantity& value, std::chrono::nanoseconds created) const = 0;
  virtual void add_gauge(std::string& body, std::string_view family, std::string_view labels,
                         const Quantity& value) const = 0;
  virtual void add_histogram(std::string& body, std::string_view family, std::string_view labels,
                             const HistogramSeries& series,
                             std::chrono::nanoseconds created) const = 0;
  // Appends a family with the text of all its series, in parts. help: what people say of it; empty:
  // nothing.
  virtual void add_family(std::string& out, const FamilyName& family, std::string_view help,
                          std::span<const std::string> parts) const = 0;
  virtual void finish(std::string& out) const = 0;
};

std::unique_ptr<const Format> make_format(MetricsFormat format, const MetricsOptions& options);

}  // namespace tallyfs::statistics
