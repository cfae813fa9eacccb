#include "feeders/statsd/grammar/metric_line.h"

#include <algorithm>

namespace tallyfs::statsd {
namespace {

// The pieces of a line between `|`, and where they stand.
class MetricReader {
 public:
  MetricReader(std::string_view line, Metric& metric) : line_(line), metric_(metric) {}

  std::optional<Refusal> read() {
    metric_.parts.clear();
    metric_.values.clear();
    metric_.tags = metric_.container = {};
    metric_.seconds.reset();
    metric_.is_from_datadog = false;
    metric_.name = until_colon_or_bar();
    if (at_ == line_.size()) return refuse(Reason::kFormat, 0, "there is no ':' behind a name");
    if (line_[at_] == '|') return refuse(Reason::kFormat, at_, "a '|' stands before the value");
    if (at_ == 0) return refuse(Reason::kFormat, 0, "there is no name");
    do {
      if (auto refused = read_part()) return refused;
    } while (is_at(':'));
    while (is_at('|')) {
      if (auto refused = read_field()) return refused;
    }
    return std::nullopt;
  }

 private:
  static Refusal refuse(Reason reason, std::size_t at, const char* text) {
    return {reason, at, text};
  }
  bool is_at(char c) const { return at_ < line_.size() && line_[at_] == c; }
  std::string_view until_bar() {
    const std::size_t begin = at_;
    at_ = std::min(line_.find('|', at_), line_.size());
    return line_.substr(begin, at_ - begin);
  }
  // A loop is faster than find_first_of(), which makes a call for each byte: these pieces are
  // short.
  std::string_view until_colon_or_bar() {
    const std::size_t begin = at_;
    while (at_ < line_.size() && line_[at_] != ':' && line_[at_] != '|') ++at_;
    return line_.substr(begin, at_ - begin);
  }

  // Behind a ':'. Ends at the '|' of a field, the ':' of another part, or the end.
  std::optional<Refusal> read_part() {
    const std::size_t values_at = ++at_;
    const std::string_view values = until_bar();
    if (!is_at('|')) return refuse(Reason::kFormat, values_at, "there is no '|' behind the value");
    const std::size_t type_at = ++at_;
    const auto kind = kind_of(until_colon_or_bar());
    if (!kind) return refuse(Reason::kType, type_at, "the type is none of c g ms h d s m kv");
    Part part{.kind = *kind};
    if (auto refused = read_values(values, values_at, part.kind)) return refused;
    part.values_end = metric_.values.size();
    if (at_ + 1 < line_.size() && line_[at_] == '|' && line_[at_ + 1] == '@') {
      at_ += 2;
      const std::size_t rate_at = at_;
      if (auto refused = read_rate(until_colon_or_bar(), rate_at, part)) return refused;
    }
    metric_.parts.push_back(part);
    return std::nullopt;
  }

  std::optional<Refusal> read_values(std::string_view values, std::size_t values_at, Kind kind) {
    const std::size_t before = metric_.values.size();
    if (kind == Kind::kSet) {
      if (!values.empty()) metric_.values.push_back({values});
    } else if (auto refused = read_numbers(values, values_at)) {
      return refused;
    }
    if (metric_.values.size() != before) return std::nullopt;
    return refuse(Reason::kValue, values_at, "there is no value");
  }

  std::optional<Refusal> read_numbers(std::string_view values, std::size_t values_at) {
    for (std::size_t begin = 0; begin <= values.size();) {
      std::size_t end = begin;
      while (end < values.size() && values[end] != ':') ++end;
      const std::string_view text = values.substr(begin, end - begin);
      if (!text.empty()) {
        const auto number = parse_number(text);
        if (!number) return refuse(Reason::kValue, values_at + begin, "it is no decimal number");
        metric_.values.push_back({text, *number});
      }
      begin = end + 1;
    }
    return std::nullopt;
  }

  static std::optional<Refusal> read_rate(std::string_view text, std::size_t at, Part& part) {
    const auto rate = parse_number(text);
    const auto weight = rate ? to_weight(*rate) : std::nullopt;
    if (!weight) return refuse(Reason::kRate, at, "the rate is no number above 0, up to 1");
    part.weight = *weight;
    return std::nullopt;
  }

  std::optional<Refusal> read_field() {
    const std::size_t field_at = ++at_;
    const std::string_view field = until_bar();
    const char first = field.empty() ? '\0' : field.front();
    if (first == '#') {
      metric_.tags = field.substr(1);
    } else if (first == '@') {
      return read_rate(field.substr(1), field_at + 1, metric_.parts.back());
    } else if (first == 'T') {
      metric_.is_from_datadog = true;
      metric_.seconds = parse_seconds(field.substr(1));
      if (!metric_.seconds) {
        return refuse(Reason::kTimestamp, field_at + 1, "it is no time in whole seconds");
      }
    } else if (field.starts_with("c:")) {
      metric_.is_from_datadog = true;
      metric_.container = field.substr(2);
    } else if (field.starts_with("e:") || field.starts_with("card:")) {
      metric_.is_from_datadog = true;
    }
    return std::nullopt;
  }

  static std::optional<Kind> kind_of(std::string_view type) {
    if (type.size() == 1) {
      switch (type.front()) {
        case 'c':
        case 'm':
          return Kind::kCounter;
        case 'g':
          return Kind::kGauge;
        case 'h':
        case 'd':
          return Kind::kHistogram;
        case 's':
          return Kind::kSet;
        default:
          return std::nullopt;
      }
    }
    if (type.size() != 2) return std::nullopt;
    if (type[0] == 'm' && type[1] == 's') return Kind::kTimer;
    if (type[0] == 'k' && type[1] == 'v') return Kind::kHistogram;
    return std::nullopt;
  }

  const std::string_view line_;
  Metric& metric_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<Refusal> parse_metric(std::string_view line, Metric& metric) {
  return MetricReader(line, metric).read();
}

std::optional<std::int64_t> parse_seconds(std::string_view text) {
  // 10^11 is the year 5138; 18 digits of them fit into 64 bits.
  if (text.empty() || text.size() > 18) return std::nullopt;
  std::int64_t seconds = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    seconds = seconds * 10 + (c - '0');
  }
  return seconds > 0 ? std::optional(seconds) : std::nullopt;
}

}  // namespace tallyfs::statsd
