// Probes that users have removed and the kernel still has (real_probes.h), and when each of them
// goes. The oldest goes first.
//
// Limits: kMost, and what was refused besides. Confined to one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <utility>

namespace tallyfs {

class LeavingProbes {
 public:
  using Time = std::chrono::nanoseconds;

  // While something is recorded, one goes after kStay, or while there are more than kEnough; the
  // next one after kApart. Beyond kMost the oldest goes at once: as many as all probes of a mount
  // may leave together.
  static constexpr std::size_t kEnough = 1'024;
  static constexpr std::size_t kMost = 4'096;
  static constexpr std::chrono::minutes kStay{10};
  static constexpr std::chrono::seconds kApart{1};
  // Until another try, when another tool uses one of them.
  static constexpr std::chrono::seconds kTryAgain{10};

  enum class Activity { kIdle, kRecording };

  // event: the real one, which is not among them. not_before: nor while nothing is recorded.
  void add(std::string event, Time now, Time not_before = {});
  // One that the kernel refuses to remove now.
  void put_back(std::string event, Time now);
  bool has(const std::string& event) const;

  // Takes out one that goes now. Nothing: none does.
  std::optional<std::string> take_due(Time now, Activity activity);
  // The same beyond kMost.
  std::optional<std::string> take_surplus(Time now);
  // The kernel has removed one, and with it what was recorded.
  void note_removal(Time now) { next_removal_from_ = now + kApart; }
  // When the first of them goes. Nothing: there is none.
  std::optional<Time> next(Activity activity) const;

 private:
  struct Leaving {
    std::string event;
    Time stays_until{};  // while something is recorded, and there are no more than kEnough
    Time not_before{};
  };

  Time when(const Leaving& each, Activity activity) const;
  template <typename Goes>
  std::optional<std::string> take(const Goes& goes);  // the oldest that does

  std::deque<Leaving> leaving_;
  Time next_removal_from_{};  // while something is recorded
};

}  // namespace tallyfs
