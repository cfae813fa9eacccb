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

class Subjects {
 public:
  // With one more of them it is anything.
  static constexpr std::size_t kFew = 8;

  static Subjects anything() {
    Subjects all;
    all.is_anything_ = true;
    return all;
  }
  void add(Subject subject) {
    if (std::ranges::find(few_, subject) != few_.end()) return;
    is_anything_ = is_anything_ || subject == nullptr || few_.size() == kFew;
    if (!is_anything_) few_.push_back(subject);
  }
  bool are_anything() const { return is_anything_; }
  // Unless they are anything.
  std::span<const Subject> few() const { return few_; }

 private:
  boost::container::static_vector<Subject, kFew> few_;
  bool is_anything_ = false;
};

// To which any thread adds, and from which one takes what has been added by then.
class SharedSubjects {
 public:
  void add(Subject subject) {
    for (std::atomic<Subject>& place : few_) {
      if (subject == nullptr) break;
      Subject there = nullptr;
      if (place.compare_exchange_strong(there, subject) || there == subject) return;
    }
    is_anything_ = true;
  }
  Subjects take() {
    Subjects all = is_anything_.exchange(false) ? Subjects::anything() : Subjects();
    for (std::atomic<Subject>& place : few_) {
      if (const Subject subject = place.exchange(nullptr)) all.add(subject);
    }
    return all;
  }

 private:
  std::array<std::atomic<Subject>, Subjects::kFew> few_{};
  std::atomic<bool> is_anything_{false};
};

}  // namespace tallyfs
