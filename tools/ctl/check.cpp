// tallyctl check: compares a number with a limit, with the output and the exit statuses of a
// Nagios plugin.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>

#include "tools/ctl/alert_rule.h"
#include "tools/ctl/commands.h"
#include "tools/ctl/condition.h"
#include "tools/ctl/hook.h"
#include "tools/ctl/past_span.h"
#include "tools/ctl/session.h"
#include "tools/ctl/what.h"
#include "tools/display/change.h"

namespace tallyfs {
namespace {

using std::chrono::microseconds;

constexpr CommandText kCheckText = {
    "check", "Compares a number with a limit; the statuses are those of Nagios.",
    "  tallyctl check 'web/latency_us p99 < 20ms'               of all since the reset\n"
    "  tallyctl check --over 10s 'web/latency_us rate > 1'      of the next ten seconds\n"
    "  tallyctl check --last 5m 'web/latency_us p99 < 20ms'     from the store of the past\n"
    "  tallyctl check --every 1m --over 10s --for 5m --run 'mail -s \"$TALLY_WHAT\" root' ..."};

enum Outcome { kOk = 0, kWarning = 1, kCritical = 2, kUnknown = 3 };
constexpr std::array<const char*, 4> kOutcomes = {"OK", "WARNING", "CRITICAL", "UNKNOWN"};

struct CheckOptions {
  std::string warn;
  std::string over;
  std::string lasting;
  std::string command;
  PastOptions past;
  bool prints_rule = false;
};

struct Judged {
  Outcome outcome = kUnknown;
  std::string text;
  std::string value;
  std::string performance;
};

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.10g", value);
  return text.data();
}

// From what is stored to the unit that units= names.
double in_its_unit(double stored, const view::Quantity& quantity) {
  return stored / std::pow(10.0, quantity.decimals);
}

// Performance data: seconds, bytes or a number, with the two limits.
class Performance {
 public:
  Performance(const Condition& condition, const view::Quantity& quantity)
      : condition_(condition), quantity_(quantity) {}
  std::string text(const Measured& critical, const std::optional<Measured>& warning) const {
    return condition_.metric_text + "=" + based(critical.value) + unit() + ";" +
           (warning ? based(warning->limit) : "") + ";" + based(critical.limit);
  }

 private:
  std::string based(double value) const { return number(view::in_base_unit(value, quantity_)); }
  const char* unit() const {
    if (quantity_.kind == view::Quantity::Kind::kTime) return "s";
    return quantity_.kind == view::Quantity::Kind::kBytes ? "B" : "";
  }

  const Condition& condition_;
  const view::Quantity& quantity_;
};

class Check {
 public:
  Check(Session& session, const CheckOptions& options, Condition critical,
        std::optional<Condition> warning)
      : session_(session),
        options_(options),
        critical_(std::move(critical)),
        warning_(std::move(warning)) {}

  int print_rule() {
    const auto selected = select_one(*session_.source, critical_.what);
    if (!selected) return complain(kUnknown, selected.error().reason);
    Json json;
    const auto interface = read_selected(*session_.source, selected.value(), json);
    if (!interface) return complain(kUnknown, interface.error().reason);
    const view::Statistic* const statistic = interface.value().find(selected.value().statistic);
    if (!statistic) return complain(kUnknown, "it has been removed");
    const bool repeats = !session_.options.every.empty();
    const AlertSettings settings{
        .over = over(),
        .lasting = options_.lasting.empty() ? microseconds(0) : parse_period(options_.lasting),
        .every = repeats ? session_.options.period() : microseconds(0)};
    const auto rules = alert_rules(critical_, warning_, interface.value(), *statistic, settings);
    if (!rules) return complain(kUnknown, critical_.what + ": " + rules.error().reason);
    print(rules.value());
    return kOk;
  }

  int run() {
    const bool repeats = !session_.options.every.empty();
    for (std::uint64_t n = 1;; ++n) {
      // A span of the past ends anew with each look.
      if (n > 1 && options_.past.is_wanted() && open()) return kUnknown;
      const Judged judged = lasting(look());
      if (!repeats || judged.outcome != told_ || n == 1) tell(judged);
      if (judged.outcome != told_) run_command(judged);
      told_ = judged.outcome;
      if (!repeats || n == session_.options.count) return judged.outcome;
      if (!wait(std::max(microseconds(0), session_.options.period() - over()))) return kUnknown;
    }
  }

  // Opens the session. Returns what Session::open() does.
  std::optional<int> open() {
    return session_.open(options_.past, Session::PastForm::kSum, {critical_.what});
  }

 private:
  bool wait(microseconds time) {
    if (!options_.past.is_wanted()) return session_.source->next(time).has_value();
    std::this_thread::sleep_for(time);
    return true;
  }

  microseconds over() const {
    return options_.over.empty() ? microseconds(0) : parse_period(options_.over);
  }

  Judged unknown(const std::string& reason) const {
    return {.text = critical_.what + " " + critical_.metric_text + ": " + reason,
            .value = {},
            .performance = {}};
  }

  // One reading, or two that are --over apart.
  Judged look() {
    const auto selected = select_one(*session_.source, critical_.what);
    if (!selected) return unknown(selected.error().reason);
    Json json;
    auto interface = read_selected(*session_.source, selected.value(), json);
    if (!interface) return unknown(interface.error().reason);
    std::optional<view::Change> change;
    if (options_.past.is_wanted()) {
      change = view::change_in(interface.value(), selected.value().statistic);
      if (!change) return unknown("it was not observed in that time");
    } else if (over().count() != 0) {
      if (const auto next = session_.source->next(over()); !next)
        return unknown(next.error().reason);
      auto after = read_selected(*session_.source, selected.value(), json);
      if (!after) return unknown(after.error().reason);
      change = view::change_between(interface.value(), after.value(), selected.value().statistic);
      interface = std::move(after);
    }
    const view::Statistic* const statistic = interface.value().find(selected.value().statistic);
    if (!statistic) return unknown("it has been removed");
    // An interval without samples is a 0, but not before the first sample.
    const bool is_new = over().count() != 0 && statistic->on && statistic->samples == 0;
    if (is_new) return unknown("no sample");
    const Judged judged = judge(*statistic, change ? &*change : nullptr);
    return options_.past.is_wanted() ? in_observed_part(judged, change->micros) : judged;
  }

  // If a span was only observed in part, the outcome is known only if the rest cannot change it.
  Judged in_observed_part(Judged judged, std::uint64_t observed_us) const {
    const std::uint64_t span_us = session_.wanted.end_us - session_.wanted.begin_us;
    if (judged.outcome == kUnknown || observed_us >= span_us / 10 * 9) return judged;
    const std::string part = view::duration_text(observed_us) + " of " +
                             view::duration_text(span_us) + " were observed";
    if (!is_certain(judged.outcome)) {
      return unknown("only " + part + ", and in them it is " + judged.value);
    }
    judged.text.append("; ").append(part);
    return judged;
  }
  bool is_certain(Outcome outcome) const {
    if (outcome == kWarning) return stays(*warning_, false);
    if (outcome == kCritical) return stays(critical_, false);
    return stays(critical_, true) && (!warning_ || stays(*warning_, true));
  }
  // Whether a condition holds, or not, whatever is counted besides: that makes the number and the
  // largest sample only larger, and the smallest one smaller.
  static bool stays(const Condition& condition, bool holds) {
    using Metric = Condition::Metric;
    using Operator = Condition::Operator;
    const bool is_upper =
        condition.op == Operator::kBelow || condition.op == Operator::kAtMost;
    if (condition.metric == Metric::kCount || condition.metric == Metric::kMax) {
      return is_upper != holds;
    }
    return condition.metric == Metric::kMin && is_upper == holds;
  }

  Judged judge(const view::Statistic& statistic, const view::Change* change) const {
    const auto charset = session_.terminal.charset;
    const auto critical = measure(critical_, statistic, change, charset);
    if (!critical) return unknown(critical.error().reason);
    std::optional<Measured> warning;
    if (warning_) {
      const auto measured = measure(*warning_, statistic, change, charset);
      if (!measured) return unknown("--warn: " + measured.error().reason);
      warning = measured.value();
    }
    const view::Quantity quantity = quantity_of(critical_, statistic);
    Judged made{.outcome = kOk,
                .text = {},
                .value = number(in_its_unit(critical.value().value, quantity)),
                .performance = {}};
    if (warning && !warning->holds) made.outcome = kWarning;
    if (!critical.value().holds) made.outcome = kCritical;
    const bool is_warning = made.outcome == kWarning;
    const Condition& wanted = is_warning ? *warning_ : critical_;
    const Measured& measured = is_warning ? *warning : critical.value();
    made.text = wanted.what + " " + wanted.metric_text + " " + measured.text + ", wanted " +
                wanted.wanted_text();
    made.performance = Performance(critical_, quantity).text(critical.value(), warning);
    return made;
  }

  // A broken limit counts when it has been broken for --for; until then it is told as the look
  // before it. A look that says nothing neither begins nor ends that.
  Judged lasting(Judged judged) {
    if (options_.lasting.empty() || judged.outcome == kUnknown) return judged;
    const auto now = std::chrono::steady_clock::now();
    if (judged.outcome == kOk) {
      bad_since_.reset();
      return judged;
    }
    if (!bad_since_) bad_since_ = now;
    if (now - *bad_since_ >= parse_period(options_.lasting)) return judged;
    judged.outcome = told_;
    judged.text.append("; it has not been so for ").append(options_.lasting).append(" yet");
    return judged;
  }

  static void tell(const Judged& judged) {
    print(std::string(kOutcomes[judged.outcome]) + ": " + judged.text +
          (judged.performance.empty() ? "" : " | " + judged.performance) + "\n");
    std::fflush(stdout);
  }

  void run_command(const Judged& judged) const {
    if (options_.command.empty()) return;
    const auto done = run_hook(options_.command, {{"TALLY_WHAT", critical_.what},
                                                  {"TALLY_VALUE", judged.value},
                                                  {"TALLY_STATUS", kOutcomes[judged.outcome]}});
    if (!done) complain(kUnknown, done.error().reason);
  }

  Session& session_;
  const CheckOptions& options_;
  const Condition critical_;
  const std::optional<Condition> warning_;
  Outcome told_ = kOk;
  std::optional<std::chrono::steady_clock::time_point> bad_since_;
};

void add_options(CommandLine& line, Session& session, CheckOptions& options) {
  line.add({.names = "--warn",
            .variable = &options.warn,
            .value = "CONDITION",
            .text = "a second one, as 'p99 < 10ms'; if it alone does not hold, the status is 1",
            .shown = Option::Default::kHidden});
  line.add({.names = "--over",
            .variable = &options.over,
            .value = "TIME",
            .text = "what is counted in so long from now on, as 10s (a number alone: s); else all "
                    "since the reset",
            .check = FindFault(fault_of_period),
            .shown = Option::Default::kHidden});
  add_past(line, options.past);
  add_every(line, session.options);
  line.add({.names = "--for",
            .variable = &options.lasting,
            .value = "TIME",
            .text = "with --every: a condition must not hold for so long before that counts (a "
                    "number alone: s)",
            .check = FindFault(fault_of_period),
            .shown = Option::Default::kHidden});
  line.add({.names = "--run",
            .variable = &options.command,
            .value = "COMMAND",
            .text = "run by /bin/sh when the status changes, with TALLY_WHAT, TALLY_VALUE and "
                    "TALLY_STATUS; killed after 60 s",
            .shown = Option::Default::kHidden});
  line.add_flag("--print-rule", options.prints_rule,
                "print the alert of Prometheus that says the same, and check nothing");
  line.add_arguments("CONDITION", session.options.words, "WHAT METRIC < LIMIT, in quotes",
                     {.least = 1});
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : " ").append(word);
  return text;
}

// METRIC < LIMIT of the statistic that the first condition names.
Result<Condition> parse_warning(const std::string& what, const std::string& text) {
  const std::string metric = text.substr(0, text.find_first_of("<>"));
  if (metric.size() == text.size() || metric.starts_with(what)) {
    return invalid("'" + text + "' is not METRIC < LIMIT, without the name, as 'p99 < 10ms'");
  }
  return parse_condition(what + " " + text);
}

}  // namespace

int run_check(int argc, char** argv) {
  Session session;
  CheckOptions options;
  CommandLine line = command_line(kCheckText, session.options);
  add_options(line, session, options);
  if (const auto status = line.parse(argc, argv)) return *status == 0 ? kOk : kUnknown;
  auto critical = parse_condition(joined(session.options.words));
  if (!critical) return complain(kUnknown, critical.error().reason);
  std::optional<Condition> warning;
  if (!options.warn.empty()) {
    auto parsed = parse_warning(critical.value().what, options.warn);
    if (!parsed) return complain(kUnknown, "--warn: " + parsed.error().reason);
    warning = std::move(parsed).value();
  }
  const bool needs_every = !options.lasting.empty() && !options.prints_rule;
  if (needs_every && session.options.every.empty()) {
    return complain(kUnknown, "--for needs --every");
  }
  if (options.past.is_wanted() && !options.over.empty()) {
    return complain(kUnknown, "--over is of the time from now on, --last and --at of the past");
  }
  Check check(session, options, std::move(critical).value(), std::move(warning));
  if (check.open()) return kUnknown;
  return options.prints_rule ? check.print_rule() : check.run();
}

}  // namespace tallyfs
