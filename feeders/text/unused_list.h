// Which names, or statistics, give way when a new one finds no room: those that were unused
// longest, for an hour at least. All are looked at once a second at most, since a look costs much.
// Confined to one thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace tallyfs {

template <typename Item>
class UnusedList {
 public:
  static constexpr std::chrono::hours kUnusedMin{1};

  // Seconds of CLOCK_MONOTONIC.
  static bool is_unused(std::uint32_t used_s, std::uint32_t now_s) {
    constexpr std::chrono::seconds kUnused = kUnusedMin;
    return std::chrono::seconds(now_s) - std::chrono::seconds(used_s) >= kUnused;
  }

  // Takes the one that was unused longest off the list. used_s(item): when it was used last;
  // each(visit) calls visit(item) for all that there are. nullptr: none was unused for an hour.
  template <typename Each, typename UsedS>
  Item* take(std::uint32_t now_s, const Each& each, const UsedS& used_s) {
    for (;;) {
      if (items_.empty()) list(now_s, each, used_s);
      if (items_.empty()) return nullptr;
      Item* const item = items_.back();
      items_.pop_back();
      // It may have been used since the look.
      if (is_unused(used_s(*item), now_s)) return item;
    }
  }
  // Before an item ends that take() did not return.
  void forget(const Item& item) { std::erase(items_, &item); }

 private:
  template <typename Each, typename UsedS>
  void list(std::uint32_t now_s, const Each& each, const UsedS& used_s) {
    if (std::exchange(listed_s_, now_s) == now_s) return;
    std::vector<std::pair<std::uint32_t, Item*>> found;
    each([&](Item& item) {
      if (is_unused(used_s(item), now_s)) found.emplace_back(used_s(item), &item);
    });
    std::ranges::sort(found, std::greater(), &std::pair<std::uint32_t, Item*>::first);
    for (const auto& [used, item] : found) items_.push_back(item);
  }

  std::vector<Item*> items_;  // longest last
  std::optional<std::uint32_t> listed_s_;
};

}  // namespace tallyfs
