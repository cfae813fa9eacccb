// Reports to the program that wait until no lock is held. Confined to the Client's lock. Bounded:
// of more than kReportsMax the oldest are forgotten.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <utility>

#include "feeders/client/client_settings.h"

namespace tallyfs {

class Reports {
 public:
  static constexpr std::size_t kReportsMax = 64;

  explicit Reports(const ClientSettings& settings) : settings_(settings) {}

  void add(std::string text) {
    if (!settings_.report) return;
    texts_.push_back(std::move(text));
    if (texts_.size() > kReportsMax) texts_.pop_front();
  }
  void swap(std::deque<std::string>& texts) { texts_.swap(texts); }
  void clear() { texts_.clear(); }

 private:
  const ClientSettings& settings_;
  std::deque<std::string> texts_;
};

}  // namespace tallyfs
