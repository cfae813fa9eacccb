#include "feeders/log/rules/series_book.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"

namespace tallyfs::logs {
namespace {

// Rules of one name whose pieces differ meet here.
constexpr const char* kOtherScale = "another rule has other decimals or units";

bool adds_up(const tally::Definition& definition, const SampleScale& scale) {
  const bool is_same = scale.decimals == definition.decimals && scale.units == definition.units;
  return is_same || difference(scale, {definition.decimals, definition.units}).empty();
}

constexpr auto kUsedAt = [](const auto& entry) { return entry.series.used_s; };

}  // namespace

SeriesBook::Resolved SeriesBook::resolve(const SeriesName& name, const SampleAction& action,
                                         std::uint32_t now_s) {
  key_.assign(name.interface).append("/").append(name.base).append(name.labels);
  const auto found = series_.find(key_);
  if (found == series_.end()) return make(name, action, now_s);
  Entry& entry = *found->second;
  if (!adds_up(action.definition, entry.name->scale)) return {nullptr, kOtherScale};
  entry.series.used_s = now_s;
  return {&entry.series};
}

// Lines have names of any length: what is kept of them is bounded.
SeriesBook::Resolved SeriesBook::make(const SeriesName& name, const SampleAction& action,
                                      std::uint32_t now_s) {
  if (const char* const refusal = refuse_interface(name.interface)) return {nullptr, refusal};
  if (!is_name(name.base)) return {nullptr, "this is no name of a statistic"};
  Name* const known = find_or_add_name(name.interface + "/" + name.base, action, now_s);
  if (!known) return {nullptr, "there are 5,000 names already"};
  if (!adds_up(action.definition, known->scale)) return {nullptr, kOtherScale};
  SeriesName texts = name;
  const bool is_long = name.base.size() + name.labels.size() > kNameBytesMax;
  const bool is_overflow = is_long || !has_room(*known, now_s);
  if (is_overflow) {
    using enum SeriesBounds::Overflow;
    bounds_.note_overflow(known->text, is_long ? kLongName : kNoRoom);
    texts.labels = kOverflowLabels;
    const auto overflow = series_.find(known->text + texts.labels);
    if (overflow != series_.end()) {
      overflow->second->series.used_s = now_s;
      return {&overflow->second->series};
    }
  }
  const Resolved added = add(*known, texts, action, is_overflow);
  if (added.series) added.series->used_s = now_s;
  return added;
}

SeriesBook::Resolved SeriesBook::add(Name& name, const SeriesName& texts,
                                     const SampleAction& action, bool is_overflow) {
  const std::string statistic = texts.base + texts.labels;
  if (!is_name(statistic)) return {nullptr, "this is no name of a statistic"};
  const auto id = outlet_.open(texts.interface, statistic, action.definition);
  if (!id) return {nullptr, "the library has no room for another statistic"};
  if (!is_overflow) {
    name.series += 1;
    bounds_.add();
  }
  const std::string key = texts.interface + "/" + statistic;
  auto entry = std::make_unique<Entry>(Entry{key, &name, {*id, is_overflow}});
  return {&series_.emplace(key, std::move(entry)).first->second->series};
}

const char* SeriesBook::refuse_interface(const std::string& interface) {
  if (!is_name(interface)) return "this is no name of an interface";
  return bounds_.admit_interface(interface) ? nullptr : "there are 1,024 interfaces already";
}

SeriesBook::Name* SeriesBook::find_or_add_name(const std::string& text, const SampleAction& action,
                                               std::uint32_t now_s) {
  if (const auto found = names_.find(text); found != names_.end()) return found->second.get();
  while (!bounds_.has_room_for_name() && !drop_empty_name(now_s)) {
    if (!give_up_one(now_s)) return nullptr;
  }
  auto name =
      std::make_unique<Name>(Name{text, {action.definition.decimals, action.definition.units}});
  Name* const made = names_.emplace(text, std::move(name)).first->second.get();
  bounds_.add_name();
  list_empty(*made);
  return made;
}

NameScales SeriesBook::scales() const {
  NameScales scales;
  for (const auto& [text, name] : names_) scales.emplace(text, name->scale);
  return scales;
}

// ---- what gives way

bool SeriesBook::has_room(Name& name, std::uint32_t now_s) {
  if (bounds_.is_full_of(name.series)) return give_up_one_of(name, now_s);
  return !bounds_.is_full() || give_up_one(now_s);
}

bool SeriesBook::give_up_one(std::uint32_t now_s) {
  const auto each = [this](const auto& visit) {
    for (const auto& [key, entry] : series_) {
      if (!entry->series.is_overflow) visit(*entry);
    }
  };
  Entry* const entry = unused_.take(now_s, each, kUsedAt);
  if (!entry) return false;
  entry->name->unused.forget(*entry);
  give_up(*entry);
  return true;
}

bool SeriesBook::give_up_one_of(Name& name, std::uint32_t now_s) {
  const auto each = [&](const auto& visit) {
    for (const auto& [key, entry] : series_) {
      if (entry->name == &name && !entry->series.is_overflow) visit(*entry);
    }
  };
  Entry* const entry = name.unused.take(now_s, each, kUsedAt);
  if (!entry) return false;
  unused_.forget(*entry);
  give_up(*entry);
  return true;
}

void SeriesBook::give_up(Entry& entry) {
  bounds_.note_given_up(entry.key);
  bounds_.remove(1);
  Name& name = *entry.name;
  name.series -= 1;
  if (name.series == 0) list_empty(name);
  remove(entry);
}

void SeriesBook::list_empty(Name& name) {
  all_used_s_.reset();
  if (!std::exchange(name.is_listed, true)) empty_names_.push_back(&name);
}

// A look at thousands of names costs much: one in a second, unless one became empty.
bool SeriesBook::drop_empty_name(std::uint32_t now_s) {
  if (all_used_s_ == now_s) return false;
  std::erase_if(empty_names_, [](Name* name) {
    name->is_listed = name->series == 0;
    return !name->is_listed;
  });
  const auto found =
      std::ranges::find_if(empty_names_, [&](const Name* name) { return !is_used(*name, now_s); });
  if (found == empty_names_.end()) {
    all_used_s_ = now_s;
    return false;
  }
  const std::string text = (*found)->text;
  empty_names_.erase(found);
  const auto overflow = series_.find(text + std::string(kOverflowLabels));
  if (overflow != series_.end()) {
    bounds_.note_given_up(overflow->first);
    remove(*overflow->second);
  }
  names_.erase(names_.find(text));
  bounds_.remove_name();
  return true;
}

bool SeriesBook::is_used(const Name& name, std::uint32_t now_s) const {
  const auto overflow = series_.find(name.text + std::string(kOverflowLabels));
  return overflow != series_.end() &&
         !UnusedList<Entry>::is_unused(overflow->second->series.used_s, now_s);
}

void SeriesBook::remove(Entry& entry) {
  outlet_.remove(entry.series.id);
  series_.erase(series_.find(std::string(entry.key)));
}

}  // namespace tallyfs::logs
