// Orders of rows, as answers had them. A client asks for the next answer in the order of the last
// one, while the pointer or the focus is in its list. Those kMost asked for last are kept.
// Confined to its owner.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tallyfs::web {

class KeptOrders {
 public:
  static constexpr std::size_t kMost = 16;

  // `first_number`: of another start of the program there are other numbers.
  explicit KeptOrders(std::uint64_t first_number) : next_(first_number) {}

  // Puts rows into the order of that number, new ones last; if it is not known they stay as they
  // are. Returns the number of their order.
  template <typename Row, typename NameOf>
  std::uint64_t arrange(std::vector<Row>& rows, std::uint64_t number, NameOf name_of) {
    const auto found = std::ranges::find(orders_, number, &Order::number);
    if (found == orders_.end()) {
      std::vector<std::string> names;
      names.reserve(rows.size());
      for (const Row& row : rows) names.emplace_back(name_of(row));
      return keep(std::move(names));
    }
    std::rotate(found, found + 1, orders_.end());
    std::unordered_map<std::string_view, std::size_t> places;
    for (const std::string& name : orders_.back().names) places.emplace(name, places.size());
    std::ranges::stable_sort(rows, {}, [&](const Row& row) {
      const auto place = places.find(name_of(row));
      return place == places.end() ? places.size() : place->second;
    });
    return number;
  }

 private:
  struct Order {
    std::uint64_t number = 0;
    std::vector<std::string> names;
  };

  std::uint64_t keep(std::vector<std::string> names) {
    const auto same = std::ranges::find(orders_, names, &Order::names);
    if (same != orders_.end()) {
      std::rotate(same, same + 1, orders_.end());
      return orders_.back().number;
    }
    if (orders_.size() == kMost) orders_.pop_front();
    orders_.push_back({next_, std::move(names)});
    return next_++;
  }

  std::uint64_t next_;
  std::deque<Order> orders_;
};

}  // namespace tallyfs::web
