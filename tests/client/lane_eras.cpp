// Threads that add samples to web/eras all the while, and definitions of it that begin anew or keep
// the data, by cells and by rings. X of a sample says whether its call began before the definition
// was written (but for one call of each thread, which may be under way), during that, or when it
// was over. Of the first the data have none, of the last each once.
//   tally-lane-eras DEFINITIONS STATISTICS
//   STATISTICS: the directory of that name; the socket is $TALLY_SOCKET
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <mutex>
#include <numeric>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tally/statistic.h"

namespace {

constexpr std::size_t kThreads = 8;
constexpr std::size_t kTags = 8;  // X, in turn
constexpr std::uint64_t kCallsOfEach = 400;

using ByTag = std::array<std::uint64_t, kTags>;

std::uint64_t sum(const ByTag& all) { return std::accumulate(all.begin(), all.end(), 0ULL); }

// Where threads stop between two calls.
class Gate {
 public:
  void pass() {
    if (!is_closed_.load(std::memory_order_relaxed)) return;
    std::unique_lock lock(mutex_);
    waiting_ += 1;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !is_closed_; });
    waiting_ -= 1;
  }
  // Returns when all have stopped.
  void close() {
    std::unique_lock lock(mutex_);
    is_closed_ = true;
    changed_.wait(lock, [this] { return waiting_ == kThreads; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    is_closed_ = false;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> is_closed_{true};
  std::size_t waiting_ = 0;
};

class Threads {
 public:
  explicit Threads(statistic* of) {
    for (auto& own : calls_) threads_.emplace_back([this, of, &own] { run(of, own); });
  }
  // Between close() and open() nothing is added.
  void close() { gate_.close(); }
  void open() { gate_.open(); }
  void end() {
    ends_ = true;
    gate_.open();
    for (std::thread& each : threads_) each.join();
  }

  // X of the calls that begin from now on.
  void set_tag(std::size_t tag) { tag_ = tag; }
  ByTag calls() const {
    ByTag all{};
    for (const auto& own : calls_) {
      for (std::size_t tag = 0; tag < kTags; ++tag) all[tag] += own.by_tag[tag].load();
    }
    return all;
  }
  // Waits for so many more calls.
  void await_calls(std::size_t tag, std::uint64_t more) const {
    const std::uint64_t until = calls()[tag] + more;
    while (calls()[tag] < until) std::this_thread::sleep_for(std::chrono::microseconds(20));
  }

 private:
  struct alignas(64) OfThread {
    std::array<std::atomic<std::uint64_t>, kTags> by_tag{};
  };
  // They let others go first now and then.
  void run(statistic* of, OfThread& own) {
    constexpr std::uint64_t kAtOnce = 4096;
    for (std::uint64_t i = 1; !ends_; ++i) {
      if (i % kAtOnce == 0) std::this_thread::yield();
      gate_.pass();
      const std::size_t tag = tag_;
      statistic_inc(of, static_cast<std::int64_t>(tag));
      own.by_tag[tag].store(own.by_tag[tag].load(std::memory_order_relaxed) + 1);
    }
  }

  Gate gate_;
  std::atomic<bool> ends_{false};
  std::atomic<std::size_t> tag_{0};
  std::array<OfThread, kThreads> calls_{};
  std::vector<std::thread> threads_;
};

// ---- what the daemon shows

struct Shown {
  ByTag by_tag{};  // of a value there is the total alone
  std::uint64_t total = 0;
};

// Lines `eras <=X N`, `eras >X N`, `eras 0xX N`, or `eras N`.
Shown read_shown(const std::string& statistics) {
  Shown shown;
  std::ifstream file(statistics + "/web/data");
  for (std::string name, at, line; std::getline(file, line);) {
    std::istringstream words(line);
    std::uint64_t count = 0;
    words >> name >> at;
    if (!(words >> count)) {
      shown.total += std::stoull(at);
      continue;
    }
    shown.total += count;
    const bool is_listed = at.starts_with("0x");
    const std::uint64_t tag = at.starts_with(">") ? 0 : std::stoull(at.substr(2), nullptr,
                                                                    is_listed ? 16 : 10);
    shown.by_tag.at(tag) += count;
  }
  return shown;
}

// Readings that did not wait until all was taken.
std::uint64_t count_cut(const std::string& statistics) {
  std::ifstream file(statistics + "/tallyfs/data");
  for (std::string name, line; std::getline(file, line);) {
    std::istringstream words(line);
    std::uint64_t count = 0;
    if (words >> name >> count && name == "drains_cut") return count;
  }
  return 0;
}

std::uint64_t held() {
  statistic_counts counts{};
  statistic_count(&counts, sizeof counts);
  return counts.held;
}

// ---- definitions

enum class Data { kDiscarded, kKept };
enum class Way { kCell, kRing };

struct Definition {
  const char* line;
  Data data;
  Way way;  // from then on
};

constexpr std::array<Definition, 10> kDefinitions{{
    {"type=array scale=lin base_interval=1 range_min=0 range_max=7", Data::kDiscarded, Way::kCell},
    {"data=reset", Data::kDiscarded, Way::kCell},
    {"data=reset", Data::kDiscarded, Way::kCell},
    {"type=list entries_max=8", Data::kDiscarded, Way::kRing},
    {"data=reset", Data::kDiscarded, Way::kRing},
    {"range_max=8", Data::kKept, Way::kRing},
    {"type=value mode=increments", Data::kDiscarded, Way::kCell},
    {"range_max=9", Data::kKept, Way::kCell},
    {"range_max=10", Data::kKept, Way::kCell},
    {"data=reset", Data::kDiscarded, Way::kCell},
}};

class Eras {
 public:
  Eras(std::string statistics, statistic* of) : statistics_(std::move(statistics)), threads_(of) {}
  // The process has a lane, with cells and rings, before threads fill the socket's queue: what it
  // asks for waits there, too. False: it gets none.
  bool begin(statistic* of) {
    for (const char* const type : {"list entries_max=8", "value mode=increments"}) {
      write("name=eras type=" + std::string(type));
      do {
        if (statistic_sync(60'000) != 0) return false;
        statistic_inc(of, 1);
        added_before_ += 1;
      } while (held() != 0);
    }
    threads_.open();
    return true;
  }
  // False: the data are wrong, or cannot be had.
  bool define(std::size_t number) {
    const Definition& now = kDefinitions[number % kDefinitions.size()];
    const Tags tags{2 * number % kTags, (2 * number + 1) % kTags, (2 * number + 2) % kTags};
    await_lane(tags.before);
    threads_.set_tag(tags.during);
    const bool is_written = write(std::string("name=eras ") + now.line);
    threads_.set_tag(tags.behind);
    threads_.await_calls(tags.behind, kCallsOfEach);
    threads_.close();
    const bool is_right = is_written && statistic_sync(60'000) == 0 && check(now, tags);
    if (!is_right) std::cout << "definition " << number << ", " << now.line << "\n";
    way_before_ = now.way;
    if (is_right) threads_.open();
    return is_right;
  }
  // Whether each call was counted once by the feeder.
  bool end() {
    threads_.close();
    threads_.end();
    if (statistic_sync(60'000) != 0) return false;
    statistic_counts counts{};
    statistic_count(&counts, sizeof counts);
    const std::uint64_t added = added_before_ + sum(threads_.calls());
    std::cerr << added << " samples, " << missing_ << " of calls during a definition missing\n";
    if (counts.added == added && counts.confirmed == added) return true;
    std::cout << counts.added << " added, " << counts.confirmed << " confirmed, " << counts.lost
              << " lost, " << counts.dropped << " dropped, of " << added << " calls\n";
    return false;
  }

 private:
  struct Tags {
    std::size_t before, during, behind;
  };
  struct Bounds {
    std::uint64_t least = 0;
    std::uint64_t most = 0;
  };

  bool write(const std::string& line) const {
    std::ofstream definition(statistics_ + "/web/definition");
    definition << line << std::endl;
    return !!definition;
  }
  // What waits to be sent would come behind the definition. A thread holds what it sends for
  // milliseconds.
  void await_lane(std::size_t tag) const {
    for (int seen = 0; seen < 3;) {
      threads_.await_calls(tag, kCallsOfEach / 4);
      seen = held() == 0 ? seen + 1 : 0;
    }
  }
  // Between close() and open().
  bool check(const Definition& now, const Tags& tags) {
    const ByTag calls = threads_.calls();
    const std::uint64_t cut = count_cut(statistics_);
    const Shown shown = read_shown(statistics_);
    // A definition of what goes by rings waits for their records, but not for ever.
    const bool may_be_late = way_before_ == Way::kRing && cut != cut_;
    // The cells were read once more when the feeders had been told of another way.
    const std::uint64_t astray = way_before_ == Way::kCell ? kThreads : 0;
    std::array<Bounds, kTags> bounds{};
    for (std::size_t tag = 0; tag < kTags; ++tag) {
      const std::uint64_t more = calls[tag] - calls_[tag];
      const bool is_behind = tag == tags.behind;
      if (now.data == Data::kKept) {
        const std::uint64_t most = shown_.by_tag[tag] + more;
        bounds[tag] = {is_behind ? most : most - std::min(more, astray), most};
      } else {
        const std::uint64_t late = may_be_late ? more : std::min<std::uint64_t>(more, kThreads);
        bounds[tag] = {is_behind ? more : 0, tag == tags.before ? late : more};
      }
    }
    const bool has_tags = sum(shown.by_tag) != 0;
    const bool is_right = has_tags ? is_each_in(bounds, shown) : is_total_in(now, bounds, shown);
    if (now.data == Data::kKept) {
      const std::uint64_t all = shown_.total + sum(calls) - sum(calls_);
      missing_ += all - shown.total;
      // One of each thread, whenever it began.
      if (shown.total > all || all - shown.total > astray) return tell(shown, {all - astray, all});
    }
    calls_ = calls;
    shown_ = shown;
    cut_ = cut;
    return is_right;
  }
  static bool is_each_in(const std::array<Bounds, kTags>& bounds, const Shown& shown) {
    for (std::size_t tag = 0; tag < kTags; ++tag) {
      const Bounds& of = bounds[tag];
      if (shown.by_tag[tag] >= of.least && shown.by_tag[tag] <= of.most) continue;
      std::cout << "of X " << tag << " there are " << shown.by_tag[tag] << ", instead of "
                << of.least << " to " << of.most << "\n";
      return false;
    }
    return true;
  }
  bool is_total_in(const Definition& now, const std::array<Bounds, kTags>& bounds,
                   const Shown& shown) const {
    Bounds all;
    for (const Bounds& each : bounds) {
      all.least += each.least;
      all.most += each.most;
    }
    if (now.data == Data::kKept) all.most += shown_.total;
    if (shown.total >= all.least && shown.total <= all.most) return true;
    return tell(shown, all);
  }
  static bool tell(const Shown& shown, const Bounds& wanted) {
    std::cout << shown.total << " samples, instead of " << wanted.least << " to " << wanted.most
              << "\n";
    return false;
  }

  const std::string statistics_;
  Threads threads_;
  Way way_before_ = Way::kCell;
  ByTag calls_{};
  Shown shown_;
  std::uint64_t cut_ = 0;
  std::uint64_t added_before_ = 0;
  std::uint64_t missing_ = 0;
};

}  // namespace

int main(int, char** arguments) {
  constexpr std::size_t kLeast = 50;  // of a slow daemon, in 40 s
  const auto definitions = static_cast<std::size_t>(std::atoi(arguments[1]));
  statistic_settings settings = STATISTIC_SETTINGS_DEFAULT;
  settings.wait_ms = 60'000;
  statistic_configure(&settings);
  statistic_interface* interface = nullptr;
  statistic* eras = nullptr;
  if (statistic_create_interface(&interface, "web", 0) != 0) return 1;
  if (statistic_create(&eras, interface, "eras", nullptr) != 0) return 1;
  statistic_start(eras);
  if (statistic_sync(60'000) != 0) return 1;
  const auto begun = std::chrono::steady_clock::now();
  Eras all(arguments[2], eras);
  if (!all.begin(eras)) std::_Exit(1);
  const auto until = begun + std::chrono::seconds(40);
  std::size_t done = 0;
  for (; done < definitions; ++done) {
    if (done >= kLeast && std::chrono::steady_clock::now() > until) break;
    if (all.define(done)) continue;
    std::cout << std::flush;
    std::_Exit(1);
  }
  if (!all.end()) return 1;
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
  std::cerr << done << " definitions in " << taken.count() << " s\n";
  std::cout << "ok\n";
  return 0;
}
