// The subjects (core/tree/subject.h) that several readers wait for, together: a few, or anything.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/container/static_vector.hpp>
#include <cstddef>
#include <span>

#include "core/tree/subject.h"

namespace tallyfs {

class InterfaceFilter {
 public:
  // With one more of them it is anything.
  static constexpr std::size_t kFew = 8;

  static InterfaceFilter all() {
    InterfaceFilter all;
    all.is_all_ = true;
    return all;
  }
  void add(Subject subject) {
    if (std::ranges::find(few_, subject) != few_.end()) return;
    is_all_ = is_all_ || subject == nullptr || few_.size() == kFew;
    if (!is_all_) few_.push_back(subject);
  }
  bool is_all() const { return is_all_; }
  // Unless they are anything.
  std::span<const Subject> few() const { return few_; }

 private:
  boost::container::static_vector<Subject, kFew> few_;
  bool is_all_ = false;
};

// To which any thread adds, and from which one takes what has been added by then.
class SharedInterfaceFilter {
 public:
  void add(Subject subject) {
    for (std::atomic<Subject>& place : few_) {
      if (subject == nullptr) break;
      Subject there = nullptr;
      if (place.compare_exchange_strong(there, subject) || there == subject) return;
    }
    is_all_ = true;
  }
  InterfaceFilter take() {
    InterfaceFilter all = is_all_.exchange(false) ? InterfaceFilter::all() : InterfaceFilter();
    for (std::atomic<Subject>& place : few_) {
      if (const Subject subject = place.exchange(nullptr)) all.add(subject);
    }
    return all;
  }

 private:
  std::array<std::atomic<Subject>, InterfaceFilter::kFew> few_{};
  std::atomic<bool> is_all_{false};
};

}  // namespace tallyfs
