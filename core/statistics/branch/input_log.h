// What the branch tells the intake's journal in the order in which it takes effect, and how input
// is taken in again after a kill. Used with the branch's lock.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/model/input_position.h"
#include "core/model/sample.h"
#include "core/statistics/interface/interface.h"

namespace tallyfs::statistics {

// Samples of the statistic of this number, which are those of one feeder's thread.
struct NumberedRun {
  std::uint64_t number = 0;
  std::span<const Sample> samples;
};

// Which records of which ring the samples were.
struct RingSlice {
  std::uint64_t lane = 0;
  std::uint32_t entry = 0;  // of the lane's table of rings
  std::uint64_t until = 0;  // the ring's position behind them
};

class InputLog {
 public:
  virtual ~InputLog() = default;
  // Both return the place behind it in the stream of rings.
  virtual std::uint64_t put(const RingSlice& from, uid_t uid, Timestamp now,
                            std::span<const NumberedRun> runs) = 0;
  // An interface, or a statistic of it, was removed at this place of the socket's stream: what is
  // before it has no effect on another one of that name. Samples of rings have numbers.
  virtual std::uint64_t put_removal(std::string_view path, std::uint64_t at) = 0;
};

// Input that the server before had taken in: which statistics of those that were saved do not have
// it. The places of a stream are given in its order.
class InputReplay {
 public:
  struct Removal {
    std::string path;
    std::uint64_t at = 0;
  };

  // all: what each statistic has.
  InputReplay(Interface::SavedInput saved, const std::vector<Removal>& removals,
              const InputPosition& all)
      : saved_(std::move(saved)), all_(all) {
    for (const auto& [statistic, input] : saved_) places_.push_back(input.socket);
    for (const Removal& each : removals) {
      std::uint64_t& at = removed_[each.path];
      at = std::max(at, each.at);
      places_.push_back(each.at);
    }
    places_.push_back(all.socket);
    std::ranges::sort(places_);
    places_.erase(std::unique(places_.begin(), places_.end()), places_.end());
  }
  InputReplay(const InputReplay&) = delete;
  InputReplay& operator=(const InputReplay&) = delete;

  // Places within the span at which some statistic was saved: each part between two of them belongs
  // to a statistic whole or not at all.
  std::span<const std::uint64_t> cuts(const InputSpan& span) const {
    const auto first = std::ranges::upper_bound(places_, span.from);
    const auto last = std::ranges::lower_bound(places_, span.until);
    return first < last ? std::span(first, last) : std::span<const std::uint64_t>();
  }
  void begin(std::uint64_t InputPosition::*stream, std::uint64_t from) {
    stream_ = stream;
    from_ = from;
  }
  const Interface::Takes& takes() const { return takes_; }
  // No statistic of this name is to be made by it, which is of the socket's stream.
  bool is_removed(std::string_view path) const {
    const auto is_before = [&](std::string_view name) {
      const auto found = removed_.find(std::string(name));
      return found != removed_.end() && from_ < found->second;
    };
    return from_ < all_.*stream_ || is_before(path) || is_before(path.substr(0, path.find('/')));
  }
  // Another statistic may come to its place in memory.
  void forget(const Statistic* statistic) { saved_.erase(statistic); }

 private:
  Interface::SavedInput saved_;
  InputPosition all_;
  boost::unordered_flat_map<std::string, std::uint64_t> removed_;
  std::vector<std::uint64_t> places_;
  std::uint64_t InputPosition::*stream_ = &InputPosition::socket;
  std::uint64_t from_ = 0;
  const Interface::Takes takes_ = [this](const Statistic& statistic) {
    const auto found = saved_.find(&statistic);
    const std::uint64_t has = found == saved_.end() ? 0 : found->second.*stream_;
    return from_ >= std::max(has, all_.*stream_);
  };
};

// How far the input is taken in, whom that is told, and what comes again.
class InputState {
 public:
  // From now on the log, which outlives this, has what it needs for the case of a kill.
  void log_in(InputLog& log, const InputPosition& taken) {
    log_ = &log;
    taken_ = taken;
  }
  const InputPosition& taken() const { return taken_; }
  // Input of the socket is taken in.
  void take(const InputSpan& at) {
    if (replay_) [[unlikely]]
      replay_->begin(&InputPosition::socket, at.from);
    taken_.socket = at.until;
  }
  // A command, the last of what was taken, is to be carried out again for the rest.
  void take_back(std::uint64_t socket) { taken_.socket = socket; }
  void take(const RingSlice& from, uid_t uid, Timestamp now, std::span<const NumberedRun> runs) {
    if (log_) taken_.rings = log_->put(from, uid, now, runs);
  }
  void take_again(const InputSpan& rings) {
    replay_->begin(&InputPosition::rings, rings.from);
    taken_.rings = rings.until;
  }
  void note_removed(std::string_view path) {
    if (log_) taken_.rings = log_->put_removal(path, taken_.socket);
  }
  void note_removed(const Statistic* statistic) {
    if (replay_) replay_->forget(statistic);
  }

  // After a kill: an interface with its statistics' input that was loaded.
  void add_loaded(const std::shared_ptr<Interface>& interface) {
    loaded_.push_back(interface);
    const Interface::SavedInput input = interface->take_saved_input();
    loaded_input_.insert(input.begin(), input.end());
  }
  InputPosition most_loaded() const {
    InputPosition most;
    for (const auto& [statistic, input] : loaded_input_) {
      most = {std::max(most.socket, input.socket), std::max(most.rings, input.rings)};
    }
    return most;
  }
  void begin_replay(const std::vector<InputReplay::Removal>& removals, const InputPosition& all) {
    taken_ = all;
    replay_ = std::make_unique<InputReplay>(std::exchange(loaded_input_, {}), removals, all);
  }
  // Nullptr: nothing comes again.
  const InputReplay* replay() const { return replay_.get(); }
  // Returns what was loaded.
  std::vector<std::shared_ptr<Interface>> end_replay() {
    loaded_input_ = {};
    replay_ = nullptr;
    return std::exchange(loaded_, {});
  }

 private:
  InputLog* log_ = nullptr;  // nullptr: there is no journal
  InputPosition taken_;
  std::unique_ptr<InputReplay> replay_;
  std::vector<std::shared_ptr<Interface>> loaded_;
  Interface::SavedInput loaded_input_;
};

}  // namespace tallyfs::statistics
