// The protobuf format: messages io.prometheus.client.MetricFamily, each behind its length as a
// varint. Histograms have the native part, too, where it is exact. Immutable, see format.h.
#pragma once

#include "core/statistics/exposition/format.h"

namespace tallyfs::statistics {

class ProtobufFormat final : public Format {
 public:
  void add_label(std::string& labels, std::string_view name, std::string_view value) const override;
  void add_counter(std::string& body, std::string_view family, std::string_view labels,
                   const Quantity& value, std::chrono::nanoseconds created) const override;
  void add_gauge(std::string& body, std::string_view family, std::string_view labels,
                 const Quantity& value) const override;
  void add_histogram(std::string& body, std::string_view family, std::string_view labels,
                     const HistogramSeries& series,
                     std::chrono::nanoseconds created) const override;
  void add_family(std::string& out, const FamilyName& family, std::string_view help,
                  std::span<const std::string> parts) const override;
  void finish(std::string&) const override {}
};

}  // namespace tallyfs::statistics
