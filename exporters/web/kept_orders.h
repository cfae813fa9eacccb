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
      Names names;
      for (const Row& row : rows) names.add(name_of(row));
      return keep(std::move(names));
    }
    std::rotate(found, found + 1, orders_.end());
    std::unordered_map<std::string_view, std::size_t> places;
    const Names& names = orders_.back().names;
    for (std::size_t i = 0; i < names.size(); ++i) places.emplace(names.at(i), places.size());
    std::ranges::stable_sort(rows, {}, [&](const Row& row) {
      const auto place = places.find(name_of(row));
      return place == places.end() ? places.size() : place->second;
    });
    return number;
  }

 private:
  // In one text: an answer has thousands of them.
  class Names {
   public:
    void add(std::string_view name) {
      text_ += name;
      ends_.push_back(text_.size());
    }
    std::size_t size() const { return ends_.size(); }
    std::string_view at(std::size_t i) const {
      const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
      return std::string_view(text_).substr(begin, ends_[i] - begin);
    }
    bool operator==(const Names&) const = default;

   private:
    std::string text_;
    std::vector<std::size_t> ends_;
  };
  struct Order {
    std::uint64_t number = 0;
    Names names;
  };

  std::uint64_t keep(Names names) {
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
