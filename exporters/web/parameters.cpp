#include "exporters/web/parameters.h"

#include <algorithm>
#include <array>

#include "core/base/text.h"

namespace tallyfs::web {
namespace {

constexpr std::size_t kValueShownMax = 64;  // bytes of a wrong value
constexpr std::uint64_t kSpanMaxUs = 366ull * 86'400 * 1'000'000;

bool is_overview(const Target& target) {
  return target.path[2] == "statistics" && target.path.size() == 3;
}

// The parameters that a request may have, between blanks.
std::string_view parameters_of(const Target& target, Purpose purpose) {
  if (purpose == Purpose::kMetrics) return " interface ";
  if (purpose != Purpose::kStatistics) return " ";
  const std::string& what = target.path[2];
  if (what == "heat") return " seconds from to scale bins columns label ";
  if (what == "line") return " seconds from to columns label ";
  if (what == "span") return " from to statistic label filter sort counted first rows ";
  if (what != "statistics") return " ";
  return is_overview(target) ? " filter sort order first rows "
                                 : " statistic label by filter sort order counted first rows ";
}

// Says what a parameter's value must be, if it is not that: a number, or one of some words.
std::optional<std::string> fault_of(const Parameter& given, const Target& target) {
  static constexpr std::array<std::string_view, 8> kNumbers = {
      "seconds", "bins", "columns", "first", "rows", "from", "to", "order"};
  const auto is_one_of = [&](auto... words) { return ((given.value == words) || ...); };
  const std::string shown = given.name + "=" + given.value.substr(0, kValueShownMax);
  if (std::ranges::find(kNumbers, given.name) != kNumbers.end() && !parse_unsigned(given.value)) {
    return shown + ": not a number";
  }
  if (given.name == "scale" && !is_one_of("log", "sqrt", "linear")) {
    return shown + ": must be log, sqrt or linear";
  }
  if (given.name == "sort" && is_overview(target) && !is_one_of("rate", "name", "p99")) {
    return shown + ": must be rate, name or p99";
  }
  if (given.name == "sort" && !is_overview(target) &&
      !is_one_of("defined", "name", "rate", "value")) {
    return shown + ": must be defined, name, rate or value";
  }
  if (given.name == "by" && !is_one_of("name")) return shown + ": must be name";
  if (given.name == "counted" && !is_one_of("0", "1")) return shown + ": must be 0 or 1";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> unknown_of(const Target& target, Purpose purpose) {
  const std::string_view known = parameters_of(target, purpose);
  for (const Parameter& each : target.query) {
    const bool is_word = !each.name.empty() && each.name.find(' ') == each.name.npos;
    if (is_word && known.find(" " + each.name + " ") != known.npos) continue;
    std::string fault = each.name.substr(0, kValueShownMax) + ": no parameter of this request";
    if (purpose == Purpose::kPage) return fault + "; the page's own follow a #, as /#s=web/us";
    if (known.size() == 1) return fault + ", it takes none";
    return fault + "; it takes:" + std::string(known.substr(0, known.size() - 1));
  }
  return std::nullopt;
}

std::optional<std::string> wrong_value_of(const Target& target) {
  for (const Parameter& each : target.query) {
    if (auto fault = fault_of(each, target)) return fault;
  }
  if (target.find("by")) {
    // An object of all statistics, or of one, has neither rows nor an order.
    for (const Parameter& each : target.query) {
      if (each.name == "by" || each.name == "statistic") continue;
      return each.name + ": not with by=name, which has all statistics";
    }
  }
  const bool is_half = (target.find("from") == nullptr) != (target.find("to") == nullptr);
  if (is_half) return "from and to: one of them is missing";
  const auto span = span_of(target);
  if (!span) return std::nullopt;
  if (span->end_us <= span->begin_us) return "to: must be later than from";
  if (span->end_us - span->begin_us > kSpanMaxUs) return "to: more than a year after from";
  return std::nullopt;
}

std::optional<past::Span> span_of(const Target& target) {
  if (!target.find("from") || !target.find("to")) return std::nullopt;
  constexpr std::uint64_t kMost = UINT64_MAX / 2;
  return past::Span{target.number("from", 0, kMost), target.number("to", 0, kMost)};
}

view::Steps steps_of(const Target& target) {
  const std::string* const name = target.find("scale");
  if (name && *name == "sqrt") return view::Steps::kSqrt;
  return name && *name == "linear" ? view::Steps::kLinear : view::Steps::kLog;
}

std::string text_parameter(const Target& target, std::string_view name) {
  const std::string* const text = target.find(name);
  return text ? *text : std::string();
}

}  // namespace tallyfs::web
