// The texts that a statistic has beside its definition: its help, and the units of its samples.
#include <memory>
#include <utility>

#include "core/statistics/interface/statistic.h"

namespace tallyfs::statistics {
namespace {

// The sample units that are kept beside a definition with these units.
std::string_view kept_sample_units(std::string_view sample_units, std::string_view units) {
  if (sample_units == units) return {};
  return sample_units.empty() ? kClearWord : sample_units;
}

}  // namespace

bool Statistic::set_help(std::string_view text) {
  if (help() == text) return false;
  set_texts({.help = std::string(text), .sample_units = texts().sample_units});
  return true;
}

const Statistic::Texts& Statistic::texts() const {
  static const Texts kNone;
  return links_ && links_->texts ? *links_->texts : kNone;
}

void Statistic::set_texts(Texts texts) {
  const bool has_any = !texts.help.empty() || !texts.sample_units.empty();
  if (!has_any && !links_) return;
  links().texts = has_any ? std::make_unique<const Texts>(std::move(texts)) : nullptr;
}

std::optional<std::string_view> Statistic::sample_units() const {
  if (!has_sample_units_) return std::nullopt;
  const std::string_view kept = texts().sample_units;
  if (kept.empty()) return definition_.units;
  return kept == kClearWord ? std::string_view() : kept;
}

void Statistic::set_sample_units(std::string_view units) {
  has_sample_units_ = true;
  const std::string_view kept = kept_sample_units(units, definition_.units);
  if (kept == texts().sample_units) return;
  set_texts({.help = std::string(help()), .sample_units = std::string(kept)});
}

void Statistic::set_definition(Definition definition) {
  definition_ = std::move(definition);
  has_full_range_ = definition_.has_full_range();
  __atomic_store_n(&decimals_, definition_.decimals, __ATOMIC_RELAXED);
  if (cells()) cells()->show_decimals(definition_.decimals);
}

// The units of samples stay when the definition gets others.
void Statistic::redefine(Definition after) {
  const bool keeps_units = has_sample_units_ && after.units != definition_.units;
  const std::string units(keeps_units ? *sample_units() : "");
  set_definition(std::move(after));
  if (keeps_units) set_sample_units(units);
}

std::size_t Statistic::text_bytes_after(const Change& change, const Definition& after) const {
  const std::size_t help_bytes = change.help ? change.help->value.size() : help().size();
  const auto units = sample_units();
  return help_bytes + (units ? kept_sample_units(*units, after.units).size() : 0);
}

std::size_t Statistic::text_bytes_with(std::string_view sample_units) const {
  return help().size() + kept_sample_units(sample_units, definition_.units).size();
}

std::size_t Statistic::new_text_bytes(const Change& change, const Definition& definition) {
  const auto& units = change.sample_units;
  return (change.help ? change.help->value.size() : 0) +
         (units ? kept_sample_units(units->value, definition.units).size() : 0);
}

}  // namespace tallyfs::statistics
