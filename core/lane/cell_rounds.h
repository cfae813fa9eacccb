// Which uids have more cells than one open reads. Several opens, one behind the other, are a round
// of such a uid: none of its statistics is looked at again before all of them have been looked at.
// So those that are late in the order are shown as often as those that are early.
//
// A value, confined to its owner.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <utility>

namespace tallyfs {

class CellRounds {
 public:
  void begin_open() {
    ++open_;
    cut_.clear();
  }
  // Its number.
  std::uint64_t open() const { return open_; }

  bool is_in_round(uid_t uid) const { return find(uid) != nullptr; }
  // Whether what was looked at in that open was so in this round.
  bool has_in_round(uid_t uid, std::uint64_t open) const {
    const Round* const its = find(uid);
    return its && open >= its->first_open;
  }
  void note_cut(uid_t uid) {
    if (std::ranges::find(cut_, uid) == cut_.end()) cut_.push_back(uid);
  }
  // Ends the rounds of uids whose cells this open has read completely.
  void end_open() {
    Rounds rounds;
    for (const uid_t uid : cut_) {
      const Round* const its = find(uid);
      rounds.push_back({.uid = uid, .first_open = its ? its->first_open : open_});
    }
    rounds_ = std::move(rounds);
  }
  // Ends an open that ran while others did, on its own copy of the rounds: they become that copy's.
  void end_open(CellRounds& copy) {
    copy.end_open();
    rounds_ = std::move(copy.rounds_);
  }

 private:
  struct Round {
    uid_t uid = 0;
    std::uint64_t first_open = 0;
  };
  using Rounds = boost::container::small_vector<Round, 1>;

  const Round* find(uid_t uid) const {
    const auto found = std::ranges::find(rounds_, uid, &Round::uid);
    return found == rounds_.end() ? nullptr : &*found;
  }

  std::uint64_t open_ = 0;
  Rounds rounds_;
  boost::container::small_vector<uid_t, 1> cut_;
};

}  // namespace tallyfs
