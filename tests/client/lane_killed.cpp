// Longer than most: a way to be killed each.
// Feeders that are killed with SIGKILL while they count in cells, or put samples into rings, ROUNDS
// of them one after the other. Each tells in memory that it shares with us how many calls it has
// begun and ended, and the statistic web/killed must have every sample of a call that was over, and
// none that was not begun.
//   tally-lane-killed ROUNDS DATA [list] [handler|fork|eras|restart|lost]
//   DATA: statistics/web/data of the mount; the socket is $TALLY_SOCKET
//   list: of that type, which goes by rings
//   handler: a signal handler adds, too. What interrupts a call counts when that call is over.
//   fork: the feeder has one child after the other, which are killed, too
//   eras: we change the definition meanwhile. Calls during the change may count or not.
//   restart: "restart" is printed, the caller ends the daemon, starts another one with its state,
//     and says so by a line. What was added before that must be there.
//   lost: the same where the daemon is killed: nothing may be there that was not added
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tally/statistic.h"

namespace {

using Micros = std::chrono::microseconds;

enum class Mode { kPlain, kHandler, kFork, kEras, kRestart, kLost };

// How many calls there were. Each word is written by one thread, or a handler on it.
struct Calls {
  std::atomic<std::uint64_t> begun{0};
  std::atomic<std::uint64_t> ended{0};

  void begin() { add(begun, 1); }
  void end(std::uint64_t calls = 1) { add(ended, calls); }
  static void add(std::atomic<std::uint64_t>& to, std::uint64_t more) {
    to.store(to.load(std::memory_order_relaxed) + more, std::memory_order_release);
  }
};

struct Told {
  Calls of_feeder;
  Calls of_handler;   // ended: and the call that they interrupted, too
  Calls of_children;
  std::atomic<std::uint64_t> handled{0};  // calls of the handler that have returned
  std::atomic<bool> counts{false};        // in the lane
  std::atomic<bool> is_in_call{false};
  std::atomic<bool> is_in_handler{false};

  std::uint64_t begun() const { return of_feeder.begun + of_handler.begun + of_children.begun; }
  std::uint64_t ended() const { return of_feeder.ended + of_handler.ended + of_children.ended; }
};

// ---- the feeder

statistic* g_killed = nullptr;
Told* g_told = nullptr;

void call(Calls& calls) {
  calls.begin();
  statistic_inc(g_killed, 1);
  calls.end();
}

// The last sample was counted in a cell, or put into a ring: else it is held for a while.
bool counts_in_lane() {
  statistic_counts counts{};
  statistic_count(&counts, sizeof counts);
  return counts.held == 0 && counts.added == counts.sent;
}

void reach_lane(Calls& calls) {
  std::uint64_t added = 0;
  do {
    if (statistic_sync(60'000) != 0) ::_exit(1);
    calls.begin();
    statistic_inc(g_killed, 1);
    ++added;
  } while (!counts_in_lane());
  calls.end(added);
}

// So that many are killed there.
void take_time() {
  for (std::atomic<int> i{0}; i < 1'000; ++i) {
  }
}

// A call has room for 64 that interrupt it.
void handle(int) {
  constexpr std::uint64_t kNestedMax = 60;
  Told& told = *g_told;
  told.is_in_handler = true;
  for (int i = 0; i < 8 && told.handled - told.of_handler.ended < kNestedMax; ++i) {
    told.of_handler.begin();
    statistic_inc(g_killed, 1);
    told.handled = told.handled + 1;
    if (!told.is_in_call) told.of_handler.ended = told.handled.load();
    take_time();
  }
  told.is_in_handler = false;
}

[[noreturn]] void feed_with_handler() {
  struct sigaction action {};
  action.sa_handler = handle;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often{{0, 30}, {0, 30}};
  setitimer(ITIMER_REAL, &often, nullptr);
  Told& told = *g_told;
  for (;;) {
    told.of_feeder.begin();
    told.is_in_call = true;
    statistic_inc(g_killed, 1);
    // Here a handler leaves `ended` alone.
    told.of_handler.ended = told.handled.load();
    told.is_in_call = false;
    told.of_feeder.end();
  }
}

// A child is killed right behind the fork, or when it counts in a lane of its own.
[[noreturn]] void feed_and_fork() {
  std::mt19937 random(static_cast<unsigned>(::getpid()));
  for (;;) {
    for (auto i = random() % 2'000; i != 0; --i) call(g_told->of_feeder);
    const pid_t child = ::fork();
    if (child == 0) {
      reach_lane(g_told->of_children);
      for (;;) call(g_told->of_children);
    }
    const unsigned longest = random() % 4 == 0 ? 2'000'000 : 20'000;
    for (auto i = random() % longest; i != 0; --i) call(g_told->of_feeder);
    if (child > 0) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
  }
}

[[noreturn]] void feed(Mode mode, bool as_list) {
  statistic_interface* interface = nullptr;
  if (statistic_create_interface(&interface, "web", 0) != 0) ::_exit(1);
  if (statistic_create(&g_killed, interface, "killed", nullptr) != 0) ::_exit(1);
  if (as_list) {
    statistic_define_list(g_killed, STATISTIC_RANGE_MIN, STATISTIC_RANGE_MAX, 4);
  }
  statistic_start(g_killed);
  reach_lane(g_told->of_feeder);
  g_told->counts = true;
  if (mode == Mode::kHandler) feed_with_handler();
  if (mode == Mode::kFork) feed_and_fork();
  for (;;) call(g_told->of_feeder);
}

// ---- what the daemon shows

// Of a value or a list the last number of its line, of a range the first; 0 without a line.
std::uint64_t number_of(const std::string& data, std::string_view name) {
  std::ifstream file(data);
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    if (words.empty() || words[0] != name) continue;
    return std::stoull(words.size() == 5 ? words[1] : words.back());
  }
  return 0;
}

// How many samples it may show now.
struct Bounds {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};

// ---- changes of the definition

// One of them and what it means for the data, as calls were counted around it.
class Change {
 public:
  Change(const std::string& data, unsigned which, bool as_list)
      : definition_(data.substr(0, data.rfind('/')) + "/definition"),
        effect_(static_cast<Effect>(which % 4)),
        lines_(lines_for(effect_, which / 4 % 2 != 0, as_list)),
        is_ring_(as_list) {
    // A thread gets its ring some milliseconds later, and what it holds until then is lost.
    needs_ring_ = as_list && effect_ == Effect::kType && which / 4 % 2 != 0;
  }

  void carry_out() {
    for (const std::string& line : lines_) {
      Around around{.before = g_told->ended()};
      std::ofstream file(definition_);
      file << line << std::endl;
      is_refused_ |= !file;
      around.behind = g_told->begun();
      around_.push_back(around);
    }
  }

  Bounds bounds(std::uint64_t before) const {
    if (is_refused_) return {1, 0};
    const std::uint64_t begun = g_told->begun();
    const std::uint64_t ended = g_told->ended();
    const Around& first = around_.front();
    const Around& last = around_.back();
    const std::uint64_t behind = ended - std::min(ended, last.behind);
    // What a killed feeder left in a ring may be taken behind the change.
    if (is_ring_ && effect_ != Effect::kKept) {
      const std::uint64_t kept = effect_ == Effect::kOff ? before : 0;
      return {kept + (needs_ring_ ? 0 : behind), kept + begun};
    }
    switch (effect_) {
      case Effect::kKept:
        return {before + first.before + behind, before + begun};
      case Effect::kReset:
      case Effect::kType:
        return {behind, begun - first.before};
      case Effect::kOff:
        return {before + first.before + behind, before + first.behind + begun - last.before};
    }
    std::abort();
  }

 private:
  enum class Effect { kKept, kReset, kType, kOff };
  struct Around {
    std::uint64_t before = 0;  // calls that had ended
    std::uint64_t behind = 0;  // that had begun
  };
  static std::vector<std::string> lines_for(Effect effect, bool is_second, bool as_list) {
    constexpr const char* kList = "type=list entries_max=4";
    constexpr const char* kValue = "type=value mode=increments";
    const std::string name = "name=killed ";
    switch (effect) {
      case Effect::kKept:
        return {name + (is_second ? "range_max=10" : "range_max=11")};
      case Effect::kReset:
        return {name + "data=reset"};
      case Effect::kType:
        if (is_second) return {name + (as_list ? kList : kValue)};
        return {name + (as_list ? kValue : "type=range")};
      case Effect::kOff:
        return {name + "on=0", name + "on=1"};
    }
    std::abort();
  }

  const std::string definition_;
  const Effect effect_;
  const std::vector<std::string> lines_;
  const bool is_ring_;
  bool needs_ring_ = false;
  bool is_refused_ = false;
  std::vector<Around> around_;
};

// ---- a round

class Rounds {
 public:
  Rounds(std::string data, Mode mode, bool as_list)
      : data_(std::move(data)), mode_(mode), as_list_(as_list) {}

  // False: the feeder ended by itself, or the data are wrong.
  bool run(unsigned round) {
    new (g_told) Told{};
    feeder_ = ::fork();
    if (feeder_ == 0) {
      ::setpgid(0, 0);
      feed(mode_, as_list_);
    }
    ::setpgid(feeder_, feeder_);
    while (!g_told->counts) {
      if (::waitpid(feeder_, nullptr, WNOHANG) != 0) return false;
      std::this_thread::sleep_for(Micros(200));
    }
    nap(3'000);
    const Bounds bounds = kill_in(round);
    if (as_list_) await_end_of_rings();
    const std::uint64_t total = number_of(data_, "killed");
    if (total < bounds.least || total > bounds.most) {
      std::cout << "seed " << seed_ << ", round " << round << ": " << total
                << " samples counted, instead of " << bounds.least << " to " << bounds.most << "\n";
      return false;
    }
    before_ = total;
    return true;
  }

  void tell() const {
    std::cerr << within_calls_ << " were killed within a call, " << within_handlers_
              << " in a handler\n";
  }

 private:
  // How many samples are there then.
  Bounds kill_in(unsigned round) {
    if (mode_ == Mode::kEras) {
      Change change(data_, round, as_list_);
      std::thread changes([&] { change.carry_out(); });
      nap(400);
      kill_feeder();
      changes.join();
      return change.bounds(before_);
    }
    const std::uint64_t ended = g_told->ended();
    if (mode_ == Mode::kRestart || mode_ == Mode::kLost) {
      std::cout << "restart" << std::endl;
      nap(300'000);
      kill_feeder();
      std::string line;
      std::getline(std::cin, line);
      before_ = mode_ == Mode::kLost ? all_begun_ : before_;
      all_begun_ += g_told->begun();
      return {mode_ == Mode::kLost ? 0 : before_ + ended, before_ + g_told->begun()};
    }
    if (mode_ == Mode::kFork) nap(30'000);
    kill_feeder();
    return {before_ + g_told->ended(), before_ + g_told->begun()};
  }

  // And its child, which it may outlive by a moment. Nothing of theirs runs behind it.
  void kill_feeder() {
    if (random_() % 2 == 0) ::kill(feeder_, SIGKILL);
    if (mode_ == Mode::kFork) nap(500);
    ::kill(-feeder_, SIGKILL);
    while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
    }
    within_calls_ += g_told->begun() != g_told->ended() ? 1 : 0;
    within_handlers_ += g_told->is_in_handler ? 1 : 0;
  }
  // What a slow daemon has not taken out of them in time for a read comes later.
  void await_end_of_rings() {
    const std::string own = data_.substr(0, data_.rfind("/web/")) + "/tallyfs/data";
    while (number_of(own, "lanes") != 0) nap(1'000);
  }
  void nap(unsigned micros) { std::this_thread::sleep_for(Micros(random_() % micros)); }

  const std::string data_;
  const Mode mode_;
  const bool as_list_;
  const unsigned seed_ = std::random_device{}();
  std::mt19937 random_{seed_};
  pid_t feeder_ = 0;
  std::uint64_t before_ = 0;
  std::uint64_t all_begun_ = 0;
  unsigned within_calls_ = 0;
  unsigned within_handlers_ = 0;
};

Mode mode_of(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, Mode>, 5> kModes{{{"handler", Mode::kHandler},
                                                                     {"fork", Mode::kFork},
                                                                     {"eras", Mode::kEras},
                                                                     {"restart", Mode::kRestart},
                                                                     {"lost", Mode::kLost}}};
  for (const auto& [name, mode] : kModes) {
    if (word == name) return mode;
  }
  return Mode::kPlain;
}

}  // namespace

int main(int count, char** arguments) {
  const auto rounds = static_cast<unsigned>(std::atoi(arguments[1]));
  const bool as_list = count > 3 && std::string_view(arguments[3]) == "list";
  const Mode mode = mode_of(count > 3 ? arguments[count - 1] : "");
  statistic_settings settings = STATISTIC_SETTINGS_DEFAULT;
  settings.wait_ms = 60'000;
  // Not the library yet: each feeder is a child that has it for itself.
  if (statistic_configure(&settings) != 0) return 1;
  // What a killed feeder leaves is ours to wait for.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  // Else our naps end together with the feeders' timers, before their handlers.
  ::prctl(PR_SET_TIMERSLACK, 1);
  void* const shared =
      ::mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  g_told = static_cast<Told*>(shared);
  Rounds all(arguments[2], mode, as_list);
  for (unsigned round = 0; round < rounds; ++round) {
    if (!all.run(round)) return 1;
  }
  all.tell();
  std::cout << "ok\n";
  return 0;
}
