// Rules of tally-feed-log and lines under them: a text is read or refused with a place in it; each
// line is matched or unmatched, and what comes of it has names that tallyfs accepts; a number is
// what a slow reckoning says.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "feeders/log/rules/field_reader.h"
#include "feeders/log/rules/filter.h"
#include "feeders/log/rules/line_reader.h"
#include "feeders/log/rules/rules.h"
#include "tests/fuzz/fuzzed.h"

namespace tallyfs::logs {
namespace {

class CheckingOutlet final : public Outlet {
 public:
  void begin(const Rule& rule) override { fuzz::must(!rule.actions.empty(), "a rule that acts"); }
  std::optional<Id> open(const std::string& interface, const std::string& name,
                         const tally::Definition&) override {
    fuzz::must(is_name(interface), "a name of an interface");
    fuzz::must(is_name(name), "a name of a statistic");
    return opened_++;
  }
  void remove(Id) override {}
  void add(Id series, std::int64_t, std::chrono::nanoseconds time) override {
    fuzz::must(series < opened_ && time.count() >= 0, "a sample of a series");
    added += 1;
  }
  bool wants(const EventDefinition&) override { return true; }
  void write(const EventDefinition& event, std::span<const EventValue> values) override {
    fuzz::must(values.size() == event.fields.size(), "a value for each field");
  }

  std::uint64_t added = 0;

 private:
  Id opened_ = 0;
};

// A number times 10^6, digit by digit, where it has no exponent and few digits.
std::optional<std::int64_t> slowly(std::string_view text) {
  std::int64_t value = 0;
  int decimals = -1;
  for (const char c : text) {
    if (c == '.' && decimals < 0) {
      decimals = 0;
      continue;
    }
    if (c < '0' || c > '9' || decimals == 6) return std::nullopt;
    value = value * 10 + (c - '0');
    if (decimals >= 0) ++decimals;
  }
  for (int i = std::max(decimals, 0); i < 6; ++i) value *= 10;
  return value;
}

void check_number(std::string_view text) {
  const auto number = parse_number(text);
  const auto x = number ? to_integer(*number, 6) : std::nullopt;
  const bool is_short = !text.empty() && text.size() <= 11 && text != ".";
  if (const auto wanted = is_short ? slowly(text) : std::nullopt) {
    fuzz::must(x && x->value == *wanted && !x->is_rounded, "the number that the text says");
  }
  for (const auto kind : {Filter::Kind::kDuration, Filter::Kind::kBytes}) {
    const auto read = filtered_number({kind}, text, {.digits = 1'000});
    if (read) (void)to_integer(*read, 9);
  }
}

void take(const Rules& rules, std::string_view lines) {
  CheckingOutlet outlet;
  LineCounts counts;
  std::uint64_t refused = 0;
  SeriesBook book(SeriesBounds({8, 3}), outlet);
  LineReader reader(rules, book, outlet, counts, [&](std::string_view, const Refusal& refusal) {
    fuzz::must(refusal.text[0] != '\0', "a reason");
    refused += 1;
  });
  reader.set_now({std::chrono::hours(1'000), std::chrono::seconds(1'700'000'000)});
  std::optional<FieldReader> fields;
  if (rules.form != LineForm::kText) fields.emplace(rules.form, rules.fields);
  fuzz::each_line(std::string(lines) + "\n", [&](std::string_view line) {
    check_number(line);
    if (!fields) {
      reader.take(line, {});
    } else if (const auto read = fields->read(line)) {
      reader.take(line, *read);
    } else {
      reader.refuse_form(line);
    }
  });
  fuzz::must(counts.matched + counts.unmatched == counts.lines, "each line matched or unmatched");
  fuzz::must(counts.samples == outlet.added, "each sample counted");
  std::uint64_t counted = 0;
  for (const std::uint64_t each : counts.refused) counted += each;
  fuzz::must(counted == refused, "each refusal counted");
}

}  // namespace
}  // namespace tallyfs::logs

// Rules, and after a byte 0 lines.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace tallyfs::logs;  // NOLINT(google-build-using-namespace): this function alone
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  const std::size_t end = std::min(input.find('\0'), size);
  const auto rules = parse_rules(input.substr(0, end), {.has_journal_fields = true});
  if (!rules) {
    const tallyfs::Error& error = rules.error();
    tallyfs::fuzz::must(!error.reason.empty() && !to_text(error).empty(), "a reason");
    tallyfs::fuzz::must(error.location.empty() || error.token_at <= error.text.size(), "a place");
    return 0;
  }
  take(rules.value(), input.substr(std::min(end + 1, size)));
  return 0;
}
