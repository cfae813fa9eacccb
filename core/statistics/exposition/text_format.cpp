// The text formats: 0.0.4 of Prometheus, and OpenMetrics 1.0.
#include "core/statistics/exposition/text_format.h"

#include <algorithm>
#include <initializer_list>

#include "core/base/text.h"

namespace tallyfs::statistics {
namespace {

std::string_view spelled(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return "counter";
    case MetricKind::kGauge:
      return "gauge";
    case MetricKind::kHistogram:
      return "histogram";
  }
  return {};
}

void append_escaped_value(std::string& out, std::string_view value) {
  for (std::size_t at; (at = value.find_first_of("\\\"\n")) != std::string_view::npos;) {
    out.append(value, 0, at).append(value[at] == '\n' ? "\\n" : value[at] == '"' ? "\\\"" : "\\\\");
    value.remove_prefix(at + 1);
  }
  out.append(value);
}

// With one look at the room that is left, as this is done for each series.
void append_all(std::string& out, std::initializer_list<std::string_view> texts) {
  std::size_t size = 0;
  for (const std::string_view text : texts) size += text.size();
  const std::size_t start = out.size();
  out.resize(start + size);
  char* to = out.data() + start;
  for (const std::string_view text : texts) to = std::copy(text.begin(), text.end(), to);
}

Quantity whole(std::uint64_t value) { return {.value = static_cast<Int128>(value)}; }

}  // namespace

std::string_view help_of(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return "Total of a statistic of tallyfs.";
    case MetricKind::kGauge:
      return "Value of a statistic of tallyfs.";
    case MetricKind::kHistogram:
      return "Distribution of a statistic of tallyfs.";
  }
  return {};
}

void TextFormat::add_label(std::string& labels, std::string_view name,
                           std::string_view value) const {
  if (!labels.empty()) labels.push_back(',');
  labels.append(name).append("=\"");
  append_escaped_value(labels, value);
  labels.push_back('"');
}

void TextFormat::begin_series(std::string& body, std::string_view family, std::string_view end,
                              std::string_view labels) const {
  if (labels.empty()) {
    append_all(body, {family, end, " "});
  } else {
    append_all(body, {family, end, "{", labels, "} "});
  }
}

void TextFormat::add_line(std::string& body, std::string_view family, std::string_view end,
                          std::string_view labels, const Quantity& value) const {
  begin_series(body, family, end, labels);
  append_decimal(body, value);
  body.push_back('\n');
}

// Text 0.0.4 knows no escape of a quote there.
void TextFormat::append_escaped_help(std::string& out, std::string_view help) const {
  for (const char c : help) {
    if (c == '\\' || (c == '"' && is_open_metrics_)) out.push_back('\\');
    out.push_back(c);
  }
}

void TextFormat::add_created(std::string& body, std::string_view family, std::string_view labels,
                             std::chrono::nanoseconds created) const {
  if (created_ == ShowCreated::kNo || created.count() == 0) return;
  constexpr unsigned kMilliseconds = 3;
  add_line(body, family, "_created", labels,
           {.value = created.count() / 1'000'000, .scale = {.decimals = kMilliseconds}});
}

void TextFormat::add_counter(std::string& body, std::string_view family, std::string_view labels,
                             const Quantity& value, std::chrono::nanoseconds created) const {
  add_line(body, family, "_total", labels, value);
  add_created(body, family, labels, created);
}

void TextFormat::add_gauge(std::string& body, std::string_view family, std::string_view labels,
                           const Quantity& value) const {
  add_line(body, family, "", labels, value);
}

void TextFormat::add_histogram(std::string& body, std::string_view family, std::string_view labels,
                               const HistogramSeries& series,
                               std::chrono::nanoseconds created) const {
  // The beginning of all buckets, without the end of the braces.
  constexpr std::string_view kEnd = "} ";
  std::string of_le(labels);
  of_le.append(labels.empty() ? "le=\"" : ",le=\"");
  std::string head;
  begin_series(head, family, "_bucket", of_le);
  head.resize(head.size() - kEnd.size());
  const auto add_bucket = [&](std::string_view le, std::uint64_t count) {
    append_all(body, {head, le, "\"} "});
    append_number(body, count);
    body.push_back('\n');
  };
  for (std::size_t i = 0; i < series.counts.size(); ++i) {
    add_bucket(series.bounds[i]->text, series.counts[i]);
  }
  add_bucket("+Inf", series.count);
  // OpenMetrics allows no sum of a histogram with values below 0, and no count without a sum.
  if (is_open_metrics_ && series.is_negative) return;
  add_line(body, family, "_sum", labels, series.sum);
  add_line(body, family, "_count", labels, whole(series.count));
  add_created(body, family, labels, created);
}

// Text 0.0.4 calls a counter by the name of its samples.
void TextFormat::add_family(std::string& out, const FamilyName& family, std::string_view help,
                            std::span<const std::string> parts) const {
  const bool is_total = family.kind == MetricKind::kCounter && !is_open_metrics_;
  const std::string name = shown(family.name + (is_total ? "_total" : ""));
  out.append("# HELP ").append(name).append(" ");
  append_escaped_help(out, help.empty() ? help_of(family.kind) : help);
  out.append("\n");
  out.append("# TYPE ").append(name).append(" ").append(spelled(family.kind)).append("\n");
  if (is_open_metrics_ && !family.unit.empty()) {
    out.append("# UNIT ").append(name).append(" ").append(family.unit).append("\n");
  }
  for (const std::string& part : parts) out.append(part);
}

void TextFormat::finish(std::string& out) const {
  if (is_open_metrics_) out.append("# EOF\n");
}

// ---- names of any characters

void Utf8TextFormat::add_label(std::string& labels, std::string_view name,
                               std::string_view value) const {
  TextFormat::add_label(labels, shown(std::string(name)), value);
}

void Utf8TextFormat::begin_series(std::string& body, std::string_view family, std::string_view end,
                                  std::string_view labels) const {
  if (is_plain_name(family)) return TextFormat::begin_series(body, family, end, labels);
  const std::string name = shown(std::string(family).append(end));
  append_all(body, {"{", name, labels.empty() ? "" : ",", labels, "} "});
}

std::string Utf8TextFormat::shown(std::string name) const {
  if (is_plain_name(name)) return name;
  std::string quoted = "\"";
  append_escaped_value(quoted, name);
  return quoted.append("\"");
}

}  // namespace tallyfs::statistics
