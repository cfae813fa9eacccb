// Chooses the name, or the statistic, that is removed when a new one finds no room: the one that
// was unused longest, for at least an hour. It goes through all at most once a second, since that
// is slow. Confined to one thread.
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

  // Removes the item that was unused longest from the list, and returns it. used_s(item): when it
  // was last used; each(visit) calls visit(item) for all items. nullptr: none was unused for an
  // hour.
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
  // Call before an item ends that take() did not return.
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
