// Names that give way to new ones.
#include <algorithm>
#include <utility>

#include "feeders/statsd/series/series_book.h"

namespace tallyfs::statsd {

std::uint32_t SeriesBook::used_s(const Name& name) {
  std::uint32_t used = name.made_s;
  for (const Name::Member& each : name.members) used = std::max(used, each.series->used_s());
  return used;
}

void SeriesBook::make_room(Kind kind, std::uint32_t now_s) {
  while (bounds_.is_full() && give_up_one(now_s)) {
  }
  const bool has_room = kind != Kind::kSet || sets_.size() - overflow_sets_ < kSetsMax;
  if (!has_room) give_up_one_with_sets(now_s);
}

bool SeriesBook::give_up_one(std::uint32_t now_s) {
  const auto each = [this](const auto& visit) {
    for (const Table& table : tables_) {
      for (const auto& [text, name] : table.names) visit(*name);
    }
  };
  Name* const name = unused_.take(now_s, each, used_s);
  if (name) give_up(*name);
  return name != nullptr;
}

bool SeriesBook::give_up_one_with_sets(std::uint32_t now_s) {
  if (looked_at_sets_s_ == now_s) return false;
  const auto longest =
      std::ranges::min_element(names_of_sets_, {}, [](const Name* name) { return used_s(*name); });
  if (!UnusedList<Name>::is_unused(used_s(**longest), now_s)) {
    looked_at_sets_s_ = now_s;
    return false;
  }
  Name& name = **longest;
  unused_.forget(name);
  give_up(name);
  return true;
}

void SeriesBook::give_up(Name& name) {
  Table& table = table_of(name.space);
  for (const Name::Member& each : name.members) {
    outlet_.remove(each.series->id());
    if (each.series->kind() == Kind::kSet) forget_set(*each.series);
    each.series->give_up();
    const auto found = table.series.find(each.text);
    given_up_.push_back(std::move(found->second));
    table.series.erase(found);
  }
  bounds_.remove(name.members.size() - name.overflows);
  bounds_.remove_name();
  bounds_.note_given_up(name.sent);
  table.names.erase(table.names.find(bounds_.last_given_up()));
}

void SeriesBook::forget_set(const Series& set) {
  const auto found = std::ranges::find(sets_, &set);
  names_of_sets_.erase(names_of_sets_.begin() + (found - sets_.begin()));
  sets_.erase(found);
  overflow_sets_ -= set.is_overflow() ? 1 : 0;
}

}  // namespace tallyfs::statsd
