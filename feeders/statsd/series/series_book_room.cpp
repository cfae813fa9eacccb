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

bool SeriesBook::is_unused(const Name& name, std::uint32_t now_s) {
  constexpr std::chrono::seconds kUnused = kUnusedMin;
  return std::chrono::seconds(now_s) - std::chrono::seconds(used_s(name)) >= kUnused;
}

void SeriesBook::make_room(Kind kind, std::uint32_t now_s) {
  while (bounds_.is_full() && give_up_one(now_s)) {
  }
  const bool has_room = kind != Kind::kSet || sets_.size() - overflow_sets_ < kSetsMax;
  if (!has_room) give_up_one_with_sets(now_s);
}

bool SeriesBook::give_up_one(std::uint32_t now_s) {
  for (;;) {
    if (unused_.empty()) list_unused(now_s);
    if (unused_.empty()) return false;
    Name* const name = unused_.back();
    unused_.pop_back();
    // It may have been used since the look.
    if (!is_unused(*name, now_s)) continue;
    give_up(*name);
    return true;
  }
}

void SeriesBook::list_unused(std::uint32_t now_s) {
  if (std::exchange(listed_s_, now_s) == now_s) return;
  std::vector<std::pair<std::uint32_t, Name*>> found;
  for (const Table& table : tables_) {
    for (const auto& [text, name] : table.names) {
      if (is_unused(*name, now_s)) found.emplace_back(used_s(*name), name.get());
    }
  }
  std::ranges::sort(found, std::greater(), &std::pair<std::uint32_t, Name*>::first);
  for (const auto& [used, name] : found) unused_.push_back(name);
}

bool SeriesBook::give_up_one_with_sets(std::uint32_t now_s) {
  if (looked_at_sets_s_ == now_s) return false;
  const auto longest =
      std::ranges::min_element(names_of_sets_, {}, [](const Name* name) { return used_s(*name); });
  if (!is_unused(**longest, now_s)) {
    looked_at_sets_s_ = now_s;
    return false;
  }
  Name& name = **longest;
  std::erase(unused_, &name);
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
  names_ -= 1;
  names_given_up_ += 1;
  last_given_up_ = name.sent;
  table.names.erase(table.names.find(last_given_up_));
}

void SeriesBook::forget_set(const Series& set) {
  const auto found = std::ranges::find(sets_, &set);
  names_of_sets_.erase(names_of_sets_.begin() + (found - sets_.begin()));
  sets_.erase(found);
  overflow_sets_ -= set.is_overflow() ? 1 : 0;
}

}  // namespace tallyfs::statsd
