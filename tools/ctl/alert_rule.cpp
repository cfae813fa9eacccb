#include "tools/ctl/alert_rule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/statistics/exposition/names.h"
#include "program/duration.h"
#include "tools/display/summary.h"

namespace tallyfs {
namespace {

using std::chrono::microseconds;

constexpr std::string_view kPrefix = "tally_";
constexpr std::array<std::string_view, 4> kContraries = {">=", ">", "<=", "<"};  // of Operator

// "5m", "250ms"; Prometheus has no finer ones.
std::string duration_of(microseconds time) {
  constexpr std::int64_t kMillisecondUs = 1'000;
  const std::int64_t whole = time.count() - time.count() % kMillisecondUs;
  return duration_text(static_cast<std::uint64_t>(std::max(kMillisecondUs, whole)));
}

// JSON has what a string of YAML in double quotes may have. Characters that are not printable, as
// those that turn a text around, are escaped as YAML has it.
std::string quoted(std::string_view text) {
  std::string json;
  JsonWriter(json).string(text);
  std::string made;
  for (std::string_view rest = json; !rest.empty();) {
    char32_t point = 0;
    const std::string_view one = rest.substr(0, std::max<std::size_t>(utf8_length(rest, point), 1));
    rest.remove_prefix(one.size());
    if (one.size() == 1 || is_units(one)) {
      made.append(one);
    } else {
      std::array<char, 12> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\U%08X", static_cast<unsigned>(point));
      made.append(escaped.data());
    }
  }
  return made;
}

// Escapes text for an annotation, which Prometheus reads as a template.
std::string in_template(std::string_view text) {
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = text.substr(i).starts_with("{{");
    made.append(begins ? "{{\"{{\"}}" : text.substr(i, 1));
    i += begins ? 1 : 0;
  }
  return made;
}

// A value in an expression.
std::string label_value(std::string_view value) {
  std::string made = "\"";
  for (const char c : value) {
    if (c == '\\' || c == '"') made.push_back('\\');
    made.append(c == '\n' ? std::string("\\n") : std::string(1, c));
  }
  return made.append("\"");
}

statistics::FamilyNames names_of(const view::Statistic& statistic) {
  return statistics::FamilyNames(kPrefix, statistics::split_tags(statistic.name).name,
                                 statistic.units);
}

class Expression {
 public:
  Expression(const Condition& condition, const view::Interface& interface,
             const view::Statistic& what, microseconds over)
      : condition_(condition),
        interface_(interface),
        what_(what),
        over_(over),
        names_(names_of(what)) {}

  Result<std::string> text() {
    const std::string value = value_text();
    if (value.empty()) {
      return invalid("metrics have no " + condition_.metric_text + " of type=" + what_.type +
                     (over_.count() != 0 ? " in an interval" : ""));
    }
    const auto limit = limit_of(condition_, what_);
    if (!limit) return limit.error();
    std::string text = value;
    text.append(" ").append(kContraries[static_cast<std::size_t>(condition_.op)]).append(" ");
    statistics::append_go_double(text, limit.value() * static_cast<double>(scale_.multiplier) /
                                           std::pow(10.0, scale_.decimals));
    return text;
  }

 private:
  using Metric = Condition::Metric;

  // "": there is none.
  std::string value_text() {
    switch (condition_.metric) {
      case Metric::kPercentile:
        return has_buckets() ? percentile() : "";
      case Metric::kMin:
        return is("range") && over_.count() == 0 ? series(statistics::Role::kMin, "") : "";
      case Metric::kMax:
        return is("range") && over_.count() == 0 ? series(statistics::Role::kMax, "") : "";
      case Metric::kAvg:
        return has_buckets() || is("range") ? average() : "";
      case Metric::kCount:
        return has_buckets() || is("range") ? count("increase") : "";
      case Metric::kRate:
        return rate();
      case Metric::kValue:
        return is("value") ? grown("increase", total()) : "";
      case Metric::kLast:
        return is("last") ? series(statistics::Role::kLast, "") : "";
    }
    return {};
  }

  bool is(std::string_view type) const { return what_.type == type; }
  bool has_buckets() const { return is("array") || is("quantiles"); }

  // Prometheus stores a native histogram without the series of a classic one.
  bool may_be_native() const { return is("quantiles") || what_.key("scale") == "log2"; }
  std::string either(std::string classic, const std::string& native) const {
    return may_be_native() ? "(" + classic + " or " + native + ")" : classic;
  }
  std::string native(const char* function) {
    return grown(function, series(statistics::Role::kDistribution, ""));
  }

  std::string percentile() {
    std::string begin = "histogram_quantile(";
    statistics::append_go_double(begin, condition_.millionths / 1e6);
    begin.append(", ");
    return either(begin + grown("rate", series(statistics::Role::kDistribution, "_bucket")) + ")",
                  begin + native("rate") + ")");
  }
  std::string average() {
    const std::string sum = grown("rate", series(statistics::Role::kDistribution, "_sum"));
    const std::string count = grown("rate", series(statistics::Role::kDistribution, "_count"));
    const std::string whole = native("rate");
    return either(sum + " / " + count,
                  "histogram_sum(" + whole + ") / histogram_count(" + whole + ")");
  }
  std::string count(const char* function) {
    std::string text = either(grown(function, series(statistics::Role::kDistribution, "_count")),
                              "histogram_count(" + native(function) + ")");
    scale_ = {};
    return text;
  }
  std::string total() {
    return series(
        what_.key("mode") == "products" ? statistics::Role::kSummed : statistics::Role::kTotal,
        "_total");
  }
  // Counts samples, which a sum of products does not.
  std::string rate() {
    if (over_.count() == 0) return {};
    if (has_buckets() || is("range")) return count("rate");
    return is("value") && what_.key("mode") != "products" ? grown("rate", total()) : "";
  }

  std::string grown(const char* function, const std::string& of) const {
    if (over_.count() == 0) return of;
    return std::string(function) + "(" + of + "[" + duration_of(over_) + "])";
  }

  // Selects this statistic alone: without the empty labels, the matcher would find others of the
  // family.
  std::string series(statistics::Role role, std::string_view end) {
    const statistics::FamilyName family = names_.of(role);
    scale_ = family.scale;
    if (statistics::is_of_x(role)) scale_.decimals += what_.decimals();
    std::string text = family.name + std::string(end);
    text.append("{interface=").append(label_value(interface_.name));
    std::set<std::string> missing = labels_beside(family.name, role);
    for (const statistics::Label& label : statistics::split_tags(what_.name).labels) {
      text.append(",").append(label.name).append("=").append(label_value(label.value));
      missing.erase(label.name);
    }
    for (const std::string& label : missing) text.append(",").append(label).append("=\"\"");
    return text.append("}");
  }

  // Labels of the interface's statistics of this family.
  std::set<std::string> labels_beside(const std::string& family, statistics::Role role) const {
    std::set<std::string> labels;
    for (const view::Statistic& each : interface_.statistics) {
      if (names_of(each).of(role).name != family) continue;
      for (const statistics::Label& label : statistics::split_tags(each.name).labels)
        labels.insert(label.name);
    }
    return labels;
  }

  const Condition& condition_;
  const view::Interface& interface_;
  const view::Statistic& what_;
  const microseconds over_;
  const statistics::FamilyNames names_;
  statistics::UnitScale scale_{};  // of the series that came last
};

struct Alert {
  const std::string& name;  // of the statistic
  const Condition& condition;
  const char* severity;
  std::string expression;
};

void append_alert(std::string& out, const Alert& alert, const AlertSettings& settings) {
  const Condition& condition = alert.condition;
  const std::string name = alert.name + " " + condition.metric_text;
  out.append("      - alert: ").append(quoted(name + " " + condition.wanted_text())).append("\n");
  out.append("        expr: ").append(quoted(alert.expression)).append("\n");
  if (settings.lasting.count() != 0) {
    out.append("        for: ").append(duration_of(settings.lasting)).append("\n");
  }
  out.append("        labels:\n          severity: ").append(alert.severity).append("\n");
  const std::string summary = "{{ $labels.instance }}: " + in_template(name) +
                              " is {{ $value }}, wanted " + condition.wanted_text();
  out.append("        annotations:\n          summary: ").append(quoted(summary)).append("\n");
}

}  // namespace

Result<std::string> alert_rules(const Condition& critical, const std::optional<Condition>& warning,
                                const view::Interface& interface, const view::Statistic& what,
                                const AlertSettings& settings) {
  const std::string name = view::shown_name(interface.name, what.name);
  std::string text = "groups:\n  - name: " + quoted("tallyctl check " + name) + "\n";
  if (settings.every.count() != 0) {
    text.append("    interval: ").append(duration_of(settings.every)).append("\n");
  }
  text.append("    rules:\n");
  for (const Condition* const each : {warning ? &*warning : nullptr, &critical}) {
    if (!each) continue;
    auto expression = Expression(*each, interface, what, settings.over).text();
    if (!expression) return expression.error();
    const char* const severity = each == &critical ? "critical" : "warning";
    append_alert(text, {name, *each, severity, std::move(expression).value()}, settings);
  }
  return text;
}

}  // namespace tallyfs
