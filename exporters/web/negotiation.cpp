#include "exporters/web/negotiation.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "core/base/text.h"
#include "exporters/web/http.h"

namespace tallyfs::web {
namespace {

// The formats of a response. Among equally wanted ones the first is chosen.
struct Candidate {
  Format format;
  std::string_view type;
  std::string_view version;          // a range without a version means `implied`
  std::string_view implied_version;  // of its type
};
constexpr std::array kCandidates = {
    Candidate{Format::kOpenMetrics, "application/openmetrics-text", "1.0.0", "0.0.1"},
    Candidate{Format::kOpenMetrics, "application/openmetrics-text", "0.0.1", "0.0.1"},
    Candidate{Format::kText, "text/plain", "0.0.4", "0.0.4"},
    Candidate{Format::kText, "text/plain", "1.0.0", "0.0.4"},
    Candidate{Format::kProtobuf, "application/vnd.google.protobuf", "", ""}};
constexpr const Candidate& kFallback = kCandidates[2];

// A media range of the header, in lower case.
struct MediaRange {
  std::string type;
  std::string version;
  std::string escaping;
  std::string proto;
  std::string encoding;
  int parameters = 0;  // that count for how specific it is
  int weight = 1000;
};

// "0.75" is 750; at most three decimals.
std::optional<int> parse_weight(std::string_view text) {
  if (text.empty() || (text[0] != '0' && text[0] != '1') || text.size() > 5) return std::nullopt;
  int weight = (text[0] - '0') * 1000;
  if (text.size() > 1 && text[1] != '.') return std::nullopt;
  int unit = 100;
  for (const char digit : text.substr(std::min<std::size_t>(2, text.size()))) {
    if (digit < '0' || digit > '9') return std::nullopt;
    weight += (digit - '0') * unit;
    unit /= 10;
  }
  return weight <= 1000 ? std::optional(weight) : std::nullopt;
}

std::string_view take_until(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return trimmed(part);
}

// False: the range is to be passed over.
bool take_parameter(MediaRange& range, std::string_view text) {
  const std::string name = in_lower_case(take_until(text, '='));
  std::string_view value = trimmed(text);
  if (value.size() >= 2 && value.starts_with('"') && value.ends_with('"')) {
    value = value.substr(1, value.size() - 2);
  }
  if (name == "q") {
    const auto weight = parse_weight(value);
    range.weight = weight.value_or(0);
    return weight.has_value();
  }
  std::string* const into = name == "version"    ? &range.version
                            : name == "escaping" ? &range.escaping
                            : name == "proto"    ? &range.proto
                            : name == "encoding" ? &range.encoding
                                                 : nullptr;
  if (!into) return true;
  *into = in_lower_case(value);
  ++range.parameters;
  return true;
}

std::vector<MediaRange> parse_ranges(std::string_view accept) {
  std::vector<MediaRange> made;
  while (!accept.empty()) {
    std::string_view text = take_until(accept, ',');
    MediaRange range;
    range.type = in_lower_case(take_until(text, ';'));
    bool is_whole = !range.type.empty();
    while (!text.empty() && is_whole) is_whole = take_parameter(range, take_until(text, ';'));
    if (is_whole) made.push_back(std::move(range));
  }
  return made;
}

// How specific the range is of this candidate; 0 if it is of another one.
int match(const MediaRange& range, const Candidate& candidate) {
  const bool is_newest = &candidate != &kCandidates[1] && &candidate != &kCandidates[3];
  if (range.type == "*/*") return is_newest ? 1 : 0;
  const std::string_view top = candidate.type.substr(0, candidate.type.find('/'));
  if (range.type == std::string(top).append("/*")) return is_newest ? 2 : 0;
  if (range.type != candidate.type) return 0;
  const std::string_view version =
      range.version.empty() ? candidate.implied_version : std::string_view(range.version);
  if (candidate.format != Format::kProtobuf && version != candidate.version) return 0;
  const bool is_ours =
      (range.proto.empty() || range.proto == "io.prometheus.client.metricfamily") &&
      (range.encoding.empty() || range.encoding == "delimited");
  if (candidate.format == Format::kProtobuf && !is_ours) return 0;
  return 3 + range.parameters;
}

// Ranges that name no format: browsers, curl and probes send them.
bool names_no_format(const MediaRange& range) {
  return range.type == "*/*" || range.type == "text/*";
}

// The range of the header that gives this candidate its weight. nullptr: none does.
const MediaRange* most_specific(const std::vector<MediaRange>& ranges, const Candidate& candidate) {
  const MediaRange* found = nullptr;
  for (const MediaRange& range : ranges) {
    const int specific = match(range, candidate);
    if (specific > (found ? match(*found, candidate) : 0)) found = &range;
  }
  return found;
}

bool is_excluded(const std::vector<MediaRange>& ranges, const Candidate& candidate) {
  const MediaRange* const range = most_specific(ranges, candidate);
  return range && range->weight == 0;
}

bool takes_utf8(const Candidate& candidate, const MediaRange* range) {
  return candidate.version == "1.0.0" && range && range->escaping == "allow-utf-8";
}

std::string content_type_of(const Candidate& candidate, const MediaRange* range) {
  std::string text(candidate.type);
  if (candidate.format == Format::kProtobuf) {
    return text.append("; proto=io.prometheus.client.MetricFamily; encoding=delimited");
  }
  text.append("; version=").append(candidate.version).append("; charset=utf-8");
  if (candidate.version != "1.0.0") return text;
  return text.append(takes_utf8(candidate, range) ? "; escaping=allow-utf-8"
                                                  : "; escaping=underscores");
}

}  // namespace

Chosen choose_format(std::string_view accept, Offered offered) {
  const std::vector<MediaRange> ranges = parse_ranges(accept);
  const Candidate* best = &kFallback;
  const MediaRange* best_range = nullptr;
  for (const Candidate& candidate : kCandidates) {
    if (candidate.format == Format::kProtobuf && offered == Offered::kTexts) continue;
    const MediaRange* const found = most_specific(ranges, candidate);
    if (!found || found->weight == 0) continue;
    const bool is_better = !best_range || found->weight > best_range->weight ||
                           (found->weight == best_range->weight && found < best_range);
    if (!is_better) continue;
    best = &candidate;
    best_range = found;
  }
  // A client that names no format gets text, as from other exporters: one that reads text alone
  // sends only such a range.
  const bool is_unnamed = best_range && names_no_format(*best_range);
  if (is_unnamed && !is_excluded(ranges, kFallback)) best = &kFallback;
  return {best->format, content_type_of(*best, best_range), takes_utf8(*best, best_range)};
}

bool accepts_gzip(std::string_view accept_encoding) {
  int weight = 0;
  bool is_named = false;
  for (const MediaRange& range : parse_ranges(accept_encoding)) {
    const bool is_gzip = range.type == "gzip" || range.type == "x-gzip";
    if (!is_gzip && (range.type != "*" || is_named)) continue;
    weight = range.weight;
    is_named = is_named || is_gzip;
  }
  return weight > 0;
}

}  // namespace tallyfs::web
