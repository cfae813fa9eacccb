// How X of text becomes what a statistic with decimals= keeps.
#include <limits>
#include <utility>

#include "core/base/decimal.h"
#include "core/statistics/branch/sample_adder.h"

namespace tallyfs::statistics {
namespace {

// Text of a sender in a reason.
std::string escaped_path(std::string_view path) {
  constexpr std::size_t kBytesShown = 512;
  std::string escaped;
  append_escaped(escaped, path, kBytesShown, 0);
  return escaped;
}

// Where a sample's X begins, from its path on.
std::size_t x_at(std::string_view path, std::string_view x) {
  return static_cast<std::size_t>(x.data() - path.data());
}

Error whole_numbers_only(std::string_view path, std::string_view x, bool is_there) {
  const std::string shown = escaped_path(path);
  return invalid("whole numbers only: " +
                     (is_there ? "define " + shown + " decimals=6 (which discards its data)"
                               : "create " + shown + " type=range decimals=6 on=1") +
                     ", or send microseconds",
                 x_at(path, x));
}

Error too_large(std::string_view path, unsigned decimals) {
  std::string most;
  append_fixed(most, std::numeric_limits<std::int64_t>::max(), decimals);
  return invalid("X is beyond " + most + ", the most with decimals=" + std::to_string(decimals),
                 path.size() + 1);
}

}  // namespace

bool SampleAdder::has_decimals(const NamedSamples& samples) const {
  const auto entries = std::span(workspace_.entries).first(samples.names().size());
  return !samples.decimals().empty() ||
         std::ranges::any_of(entries, [](const StatisticEntry* entry) {
           return entry && entry->statistic->decimals() != 0;
         });
}

// A reason is made only where it will be shown: of a flood it would cost more than the sample.
void SampleAdder::scale(NamedSamples& samples, std::span<const Refused> refused, Taken& taken) {
  const auto reject = [&](std::size_t i, const auto& reason) {
    workspace_.rejected.set(i);
    taken.rejects += 1;
    if (taken.rejected.size() < Taken::kReasonsMax) taken.rejected.push_back({i, reason()});
  };
  auto decimal = samples.decimals().begin();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const bool is_decimal = decimal != samples.decimals().end() && decimal->index == i;
    const std::string_view x = is_decimal ? (decimal++)->text : std::string_view();
    const std::size_t name = samples.name_of(i);
    const StatisticEntry* const entry = workspace_.entries[name];
    if (!entry) {
      reject(i, [&] { return std::ranges::lower_bound(refused, name, {}, &Refused::name)->error; });
      continue;
    }
    const unsigned decimals = entry->statistic->decimals();
    if (decimals == 0) {
      if (is_decimal) reject(i, [&] { return whole_numbers_only(samples.path(i), x, true); });
      continue;
    }
    std::optional<Fixed> fixed;
    if (is_decimal) {
      fixed = parse_fixed(x, decimals);
    } else if (const auto whole = to_fixed(samples.sample(i).x, decimals)) {
      fixed = {.value = *whole};
    }
    if (!fixed) reject(i, [&] { return too_large(samples.path(i), decimals); });
    taken.rounded += fixed && fixed->is_rounded ? 1 : 0;
    samples.set_x(i, fixed ? fixed->value : 0);
  }
}

// A sample that is refused makes no statistic.
std::optional<Error> SampleAdder::refuse_decimals(const NamedSamples& samples, std::size_t name) {
  const auto is_of_it = [&](const NamedSamples::Decimal& each) {
    return samples.name_of(each.index) == name;
  };
  const auto count = std::ranges::count_if(samples.decimals(), is_of_it);
  const NamedSamples::Name& of = samples.names()[name];
  if (count == 0 || static_cast<std::size_t>(count) != of.samples) return std::nullopt;
  const std::string path(of.path);
  const std::size_t slash = path.find('/');
  for (const std::string& line : rules_.lines_for(path, of.path.substr(slash + 1))) {
    const auto change = parse_change(line);
    if (change && change.value().decimals && !change.value().of) return std::nullopt;
  }
  const auto first = std::ranges::find_if(samples.decimals(), is_of_it);
  return whole_numbers_only(samples.path(first->index), first->text, false);
}

}  // namespace tallyfs::statistics
