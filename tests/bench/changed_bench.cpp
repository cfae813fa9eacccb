// The trial of "what changed most": worlds of 2,000 statistics without a fault, and in each of them
// 31 faults, one after the other, that last for 10, 30 or 60 s until the look. Prints how often a
// fault is in the first row, in the first three and unusual, each beside its goal, and the cost of
// a look. Exits with 1 if a goal is missed.
//   changed_bench [WORLDS [SEED]]     40 worlds, seed 2,001; 0 worlds: the cost alone
// The worlds were made with seeds below 2,000, and other seeds judge. Fewer worlds have goals ten
// points lower: they find what is broken, not what is a little worse.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

#include "tests/bench/changed_world.h"
#include "tools/display/most_changed.h"

namespace tallyfs {
namespace {

using Kind = Fault::Kind;

constexpr std::size_t kWorldsWhole = 40;
constexpr double kSlackOfFewer = 10;
constexpr std::array<int, 3> kDurations = {10, 30, 60};
constexpr std::array<const char*, 11> kNames = {
    "slower x2",          "slower x6",       "3 % at 5 x p99",   "25 % at x8",
    "errors x10, 0.05/s", "errors x10, 5/s", "interface silent", "silent",
    "gauge +100 %",       "load x2",         "burst x10, over"};

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec) / 1e6;
}

struct Rate {
  std::size_t hits = 0;
  std::size_t all = 0;
  void add(bool is_hit) {
    hits += is_hit ? 1 : 0;
    ++all;
  }
  double percent() const {
    return all == 0 ? 100 : 100 * static_cast<double>(hits) / static_cast<double>(all);
  }
};

struct Outcome {
  Rate first, three, unusual, all_first, all_three, quiet, since;
  std::array<Rate, kNames.size()> kinds;
  std::array<Rate, kNames.size()> all_kinds;
};

// Statistics with the pasts that most_changed() sees.
struct Scene {
  explicit Scene(std::uint64_t seed) : world(seed) {
    for (const Model& model : world.models()) pasts.push_back(world.past(model));
    for (std::size_t i = 0; i < pasts.size(); ++i) {
      watched.push_back({"if" + std::to_string(world.models()[i].interface), &pasts[i]});
    }
  }
  World world;
  std::vector<view::Past> pasts;
  std::vector<view::Watched> watched;
};

class Trial {
 public:
  explicit Trial(std::uint64_t seed) : scene_(seed), draw_(seed + 77) {}

  void run(std::map<std::size_t, Outcome>& outcomes) {
    for (auto& [spans, outcome] : outcomes) {
      const auto rows = look(scene_.watched, spans);
      outcome.quiet.add(rows.empty() || !rows.front().is_unusual);
    }
    for (std::size_t kind = 0; kind < kNames.size(); ++kind) {
      for (const int seconds : kDurations) {
        if (static_cast<Kind>(kind) == Kind::kBurst && seconds != 10) continue;
        try_fault(static_cast<Kind>(kind), seconds, outcomes);
      }
    }
  }

 private:
  static std::vector<view::ChangedRow> look(const std::vector<view::Watched>& watched,
                                            std::size_t spans) {
    return view::most_changed(watched, {.rows_max = 10, .baseline_spans = spans});
  }

  void try_fault(Kind kind, int seconds, std::map<std::size_t, Outcome>& outcomes) {
    Fault fault{.kind = kind, .begin = World::kSeconds - seconds, .end = World::kSeconds};
    if (kind == Kind::kBurst) {
      fault.begin = World::kSeconds - 20 - static_cast<int>(draw_.below(30));
      fault.end = fault.begin + 10;
    }
    const std::vector<std::size_t> victims = choose(kind);
    std::vector<view::Past> pasts;
    pasts.reserve(victims.size());
    auto watched = scene_.watched;
    for (const std::size_t each : victims) {
      pasts.push_back(scene_.world.past(scene_.world.models()[each], &fault));
      watched[each].past = &pasts.back();
    }
    const bool is_visible = visible(fault, victims);
    for (auto& [spans, outcome] : outcomes) {
      judge(fault, is_visible, {victims.begin(), victims.end()}, look(watched, spans), outcome);
    }
  }

  // The statistics that a fault is in. A slow one has at least 20 samples a second.
  std::vector<std::size_t> choose(Kind kind) {
    const auto& models = scene_.world.models();
    if (kind == Kind::kSilentInterface || kind == Kind::kLoad) {
      const std::size_t interface = draw_.below(scene_.world.interfaces() - 1);
      std::vector<std::size_t> all;
      for (std::size_t i = 0; i < models.size(); ++i) {
        if (models[i].interface == interface) all.push_back(i);
      }
      return all;
    }
    for (;;) {
      const std::size_t at = draw_.below(models.size());
      if (suits(models[at], kind)) return {at};
    }
  }
  static bool suits(const Model& model, Kind kind) {
    constexpr double kBusy = 20;
    const bool is_counter = model.kind == Model::Kind::kCounter;
    switch (kind) {
      case Kind::kSlower2:
      case Kind::kSlower6:
      case Kind::kTail:
      case Kind::kMode:
        return model.has_distribution() && model.rate >= kBusy;
      case Kind::kRareErrors:
        return is_counter && model.rate == 0.05;
      case Kind::kErrors:
        return is_counter && model.rate == 5;
      case Kind::kGauge:
        return model.kind == Model::Kind::kGauge;
      case Kind::kSilent:
      case Kind::kBurst:
        return model.rate >= 1;
      case Kind::kSilentInterface:
      case Kind::kLoad:
        break;
    }
    return false;
  }

  bool visible(const Fault& fault, const std::vector<std::size_t>& victims) const {
    const int seconds = fault.end - fault.begin;
    double samples = 0;
    for (const std::size_t each : victims) {
      samples += scene_.world.models()[each].rate * seconds;
    }
    switch (fault.kind) {
      case Kind::kSlower6:
      case Kind::kSilentInterface:
      case Kind::kSilent:
        return samples >= 30;
      case Kind::kSlower2:
      case Kind::kMode:
        return samples >= 300;
      case Kind::kTail:
        return samples >= 1000;
      case Kind::kRareErrors:
        return seconds >= 60;
      case Kind::kLoad:
        return seconds >= 30;
      case Kind::kErrors:
      case Kind::kGauge:
      case Kind::kBurst:
        break;
    }
    return true;
  }

  static void judge(const Fault& fault, bool is_visible, const std::set<std::size_t>& victims,
                    const std::vector<view::ChangedRow>& rows, Outcome& outcome) {
    const auto found = std::ranges::find_if(rows, [&](const view::ChangedRow& row) {
      return std::ranges::any_of(row.members,
                                 [&](std::size_t each) { return victims.contains(each); });
    });
    const auto place = found - rows.begin();
    const bool is_there = found != rows.end();
    const auto kind = static_cast<std::size_t>(fault.kind);
    outcome.all_first.add(is_there && place == 0);
    outcome.all_three.add(is_there && place < 3);
    outcome.all_kinds[kind].add(is_there && place == 0);
    if (is_there && place == 0) {
      const int began = World::kSeconds - static_cast<int>(found->onset.begin);
      outcome.since.add(std::abs(began - fault.begin) <= 5);
    }
    if (!is_visible) return;
    outcome.first.add(is_there && place == 0);
    outcome.three.add(is_there && place < 3);
    outcome.unusual.add(is_there && found->is_unusual);
    outcome.kinds[kind].add(is_there && place == 0);
  }

  Scene scene_;
  Draw draw_;
};

// False: the goal is missed.
bool print(const char* what, const Rate& rate, double goal, bool is_whole) {
  const bool is_met = rate.percent() >= goal - (is_whole ? 0 : kSlackOfFewer);
  std::printf("  %-28s %6.1f %% of %5zu   goal %3.0f %%%s\n", what, rate.percent(), rate.all, goal,
              is_met ? "" : "   MISSED");
  return is_met;
}

bool report(std::size_t spans, const Outcome& outcome, bool is_whole) {
  const bool is_long = spans == view::Past::kBaselineSpans;
  std::printf("%zu spans of baseline\n", spans);
  bool is_met = print("visible: first row", outcome.first, is_long ? 94 : 85, is_whole);
  is_met &= print("visible: first three", outcome.three, is_long ? 96 : 94, is_whole);
  is_met &= print("visible: unusual", outcome.unusual, is_long ? 82 : 50, is_whole);
  is_met &= print("all: first row", outcome.all_first, is_long ? 80 : 69, is_whole);
  is_met &= print("all: first three", outcome.all_three, is_long ? 85 : 80, is_whole);
  is_met &= print("since within 5 s", outcome.since, is_long ? 98 : 0, is_whole);
  if (is_long) is_met &= print("worlds with nothing unusual", outcome.quiet, 95, is_whole);
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    // Of a few worlds a kind has a handful of faults, which say nothing.
    const double goal = is_long && is_whole ? 80 : 0;
    is_met &= print(kNames[i], outcome.kinds[i], goal, is_whole);
  }
  return is_met;
}

bool run_trial(std::size_t worlds, std::uint64_t seed) {
  const bool is_whole = worlds >= kWorldsWhole;
  std::map<std::size_t, Outcome> outcomes{{view::Past::kBaselineSpans, {}}, {2, {}}};
  for (std::size_t i = 0; i < worlds; ++i) Trial(seed + i).run(outcomes);
  std::printf("%zu worlds of %zu statistics, seeds from %llu\n", worlds, World::kStatistics,
              static_cast<unsigned long long>(seed));
  bool is_met = report(view::Past::kBaselineSpans, outcomes[view::Past::kBaselineSpans], is_whole);
  is_met &= report(2, outcomes[2], is_whole);
  return is_met;
}

// 10,000 statistics, half of them distributions: CPU of one look.
bool measure_cost(std::uint64_t seed) {
  constexpr std::size_t kWorlds = 5;
  constexpr double kGoalMs = 50;
  std::vector<Scene> scenes;
  scenes.reserve(kWorlds);
  std::vector<view::Watched> watched;
  for (std::size_t i = 0; i < kWorlds; ++i) {
    scenes.emplace_back(seed + i);
    for (const view::Watched& each : scenes.back().watched) {
      watched.push_back({std::to_string(i) + each.interface, each.past});
    }
  }
  std::vector<double> took;
  for (int i = 0; i < 5; ++i) {
    const double begin = cpu_seconds();
    const auto rows = view::most_changed(watched);
    took.push_back(1e3 * (cpu_seconds() - begin));
    if (rows.empty()) return false;
  }
  std::ranges::sort(took);
  std::printf("a look at %zu statistics: %.1f ms of CPU, median of 5   goal %.0f ms\n",
              watched.size(), took[2], kGoalMs);
  return took[2] <= kGoalMs;
}

}  // namespace
}  // namespace tallyfs

int main(int argc, char** argv) {
  const auto number = [&](int at, std::uint64_t otherwise) {
    return argc > at ? std::strtoull(argv[at], nullptr, 10) : otherwise;
  };
  const std::uint64_t seed = number(2, 2001);
  const std::uint64_t worlds = number(1, tallyfs::kWorldsWhole);
  const bool is_met = worlds == 0 || tallyfs::run_trial(worlds, seed);
  // It makes five worlds; a small trial has no time for them.
  const bool is_small = worlds > 0 && worlds < tallyfs::kWorldsWhole;
  const bool is_cheap = is_small || tallyfs::measure_cost(seed);
  return is_met && is_cheap ? 0 : 1;
}
