#include "feeders/log/rules/series_book.h"

#include "core/base/text.h"

namespace tallyfs::logs {

SeriesBook::Resolved SeriesBook::resolve(const SeriesName& name,
                                         const tally::Definition& definition) {
  key_.assign(name.interface).append("/").append(name.base).append(name.labels);
  const auto found = series_.find(key_);
  return found != series_.end() ? Resolved{found->second} : make(name, definition);
}

const char* SeriesBook::refuse_interface(const std::string& interface) {
  if (interfaces_.contains(interface)) return nullptr;
  if (!is_name(interface)) return "this is no name of an interface";
  if (interfaces_.size() == kInterfacesMax) return "there are 1,024 interfaces already";
  interfaces_.emplace(interface, true);
  return nullptr;
}

SeriesBook::Resolved SeriesBook::make(const SeriesName& name, const tally::Definition& definition) {
  if (const char* const refusal = refuse_interface(name.interface)) return {{}, refusal};
  const std::string base = name.interface + "/" + name.base;
  auto of_name = of_names_.find(base);
  if (of_name == of_names_.end()) {
    if (of_names_.size() == kSeriesNamesMax) return {{}, "there are 5,000 names already"};
    of_name = of_names_.emplace(base, 0).first;
  }
  std::string statistic = name.base + name.labels;
  const bool is_overflow = !bounds_.has_room(of_name->second) || statistic.size() > kNameBytesMax;
  if (is_overflow) {
    statistic = name.base + std::string(kOverflowLabels);
    const auto overflow = series_.find(name.interface + "/" + statistic);
    if (overflow != series_.end()) return {overflow->second};
  }
  if (!is_name(statistic)) return {{}, "this is no name of a statistic"};
  const auto id = outlet_.open(name.interface, statistic, definition);
  if (!id) return {{}, "the library has no room for another statistic"};
  if (!is_overflow) {
    of_name->second += 1;
    bounds_.add();
  }
  const Series made{*id, is_overflow};
  series_.emplace(name.interface + "/" + statistic, made);
  return {made};
}

}  // namespace tallyfs::logs
