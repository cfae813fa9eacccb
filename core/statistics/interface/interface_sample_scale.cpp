// The scale of the samples of feeders: integers of two scales are never added up.
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/unit_factor.h"
#include "core/statistics/interface/interface.h"

namespace tallyfs::statistics {
namespace {

std::string scale_text(const XScale& scale) {
  std::string text = scale.units.empty() ? "no units" : "units=" + std::string(scale.units);
  if (scale.decimals != 0) text.append(" decimals=").append(std::to_string(scale.decimals));
  return text;
}

std::string decimals_text(unsigned decimals) { return "decimals=" + std::to_string(decimals); }

}  // namespace

// A feeder that has not said its units may have sent anything, but no decimals that differ.
std::optional<Error> Interface::refuse_sample_units(std::string_view name,
                                                    std::string_view text) const {
  const auto change = parse_new_statistic(text);
  if (!change || !change.value().sample_units) return std::nullopt;
  const auto& units = *change.value().sample_units;
  const MutexLock lock(mutex_);
  const Statistic* const named = find_locked(name);
  if (!named || named->source()) return std::nullopt;
  const auto there = named->sample_units();
  const auto& asked = change.value().decimals;
  const XScale is{there ? *there : named->definition().units, named->decimals()};
  const XScale other{units.value, asked ? asked->value : 0u};
  if (!there && is.decimals == other.decimals) return std::nullopt;
  if (have_one_scale(is, other)) return std::nullopt;
  const std::string known =
      there ? "its samples have " + scale_text(is) : "it has " + decimals_text(is.decimals);
  return invalid(known + ", to which samples with " + scale_text(other) + " do not add up",
                 units.at);
}

Result<void> Interface::note_sample_units(std::string_view name, std::string_view text) {
  const auto change = parse_new_statistic(text);
  if (!change || !change.value().sample_units) return {};
  const MutexLock lock(mutex_);
  Statistic* const named = find_locked(name);
  if (!named || named->source() || named->sample_units()) return {};
  const auto& asked = change.value().decimals;
  // Those that come to its own by other decimals are noted in its words, as it keeps its decimals.
  const bool has_its_decimals = (asked ? asked->value : 0u) == named->decimals();
  const std::string units(has_its_decimals ? change.value().sample_units->value
                                           : named->definition().units);
  const std::size_t more = named->text_bytes_with(units) - named->text_bytes();
  if (auto grown = reservation_.grow({.bytes = more}); !grown) return grown;
  named->set_sample_units(units);
  forget_discarded_scale(*named);
  return {};
}

// An undo would bring back a scale that the feeder does not know.
void Interface::forget_discarded_scale(const Statistic& statistic) {
  const Discarded* const kept = discarded_ ? discarded_->find(statistic) : nullptr;
  if (kept && kept->definition.decimals != statistic.decimals()) forget_discarded(statistic);
}

Result<void> Interface::keep_sample_scale(const Change& change, const Statistic& statistic) {
  if (!change.decimals) return {};
  const unsigned decimals = statistic.decimals();
  if (!statistic.sample_units() || decimals == change.decimals->value) return {};
  return invalid("its feeder sends samples with " + decimals_text(decimals) +
                     ": change the feeder, then remove the statistic",
                 change.decimals->at);
}

}  // namespace tallyfs::statistics
