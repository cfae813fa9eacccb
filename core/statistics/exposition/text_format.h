// The text formats: 0.0.4 of Prometheus, and OpenMetrics 1.0. Immutable, see format.h.
#pragma once

#include "core/statistics/exposition/format.h"

namespace tallyfs::statistics {

// The help of families of a kind whose statistics have none. Scrapers refuse two texts for one
// family, so that it depends on nothing else.
std::string_view help_of(MetricKind kind);

class TextFormat : public Format {
 public:
  TextFormat(MetricsFormat format, ShowCreated created)
      : is_open_metrics_(format == MetricsFormat::kOpenMetrics),
        created_(is_open_metrics_ ? created : ShowCreated::kNo) {}

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
  void finish(std::string& out) const override;

 protected:
  // The name of a series and its labels, up to the blank before its value.
  virtual void begin_series(std::string& body, std::string_view family, std::string_view end,
                            std::string_view labels) const;
  // A family's name where it is told about.
  virtual std::string shown(std::string name) const { return name; }

 private:
  void append_escaped_help(std::string& out, std::string_view help) const;
  void add_line(std::string& body, std::string_view family, std::string_view end,
                std::string_view labels, const Quantity& value) const;
  void add_created(std::string& body, std::string_view family, std::string_view labels,
                   std::chrono::nanoseconds created) const;

  const bool is_open_metrics_;
  const ShowCreated created_;
};

// The format for names of any characters, as Prometheus 3 reads them: names that are not plain
// stand quoted, a family's within the braces: `{"tally_page.views_total",interface="x"} 1`.
class Utf8TextFormat final : public TextFormat {
 public:
  using TextFormat::TextFormat;

  void add_label(std::string& labels, std::string_view name, std::string_view value) const override;

 protected:
  void begin_series(std::string& body, std::string_view family, std::string_view end,
                    std::string_view labels) const override;
  std::string shown(std::string name) const override;
};

}  // namespace tallyfs::statistics
