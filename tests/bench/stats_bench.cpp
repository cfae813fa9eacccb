// What a sample costs in a blob of stats.h, beside an empty loop and a look at the clock in the
// same run; and how far the ranks of t-digests are off. Each figure is the best of kRounds, in CPU
// time of the calling thread, through libtally.so as feeders have it.
// Longer than most: one program, so that all of it is of one run.
//   stats_bench [--ranks] [--at-most PERCENT] [SAMPLES]
//   --ranks              only how far ranks are off
//   --at-most PERCENT    the error of a rank from which on the exit status is 1 (3)
//   SAMPLES              of each t-digest whose ranks are measured (1,000,000)
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tally/publish.h"
#include "tally/statistic.h"

namespace {

constexpr int kRounds = 9;
constexpr std::size_t kSamples = 1 << 16;
constexpr std::uint64_t kSeed = 20260101;

double cpu_ns(clockid_t clock = CLOCK_THREAD_CPUTIME_ID) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

void keep(std::uint64_t value) { asm volatile("" : : "r"(value) : "memory"); }

template <typename Loop>
double cost(std::size_t turns, Loop&& loop) {
  double best = std::numeric_limits<double>::max();
  for (int round = 0; round < kRounds; ++round) {
    const double begun = cpu_ns();
    loop();
    best = std::min(best, (cpu_ns() - begun) / static_cast<double>(turns));
  }
  return best;
}

double g_clock_read = 0;

void print(const char* what, double ns, double at_most) {
  std::printf("%-46s %9.2f ns  %6.2f of a clock read", what, ns, ns / g_clock_read);
  if (at_most > 0) std::printf("  (wanted: at most %g ns)", at_most);
  std::printf("\n");
}

voistatspec number(voi_stype stype) {
  voistatspec spec{};
  spec.stype = stype;
  spec.hlpr = &stats_vss_numeric_hlpr;
  return spec;
}

voistatspec histogram(vss_hist_hlpr_info& info) {
  voistatspec spec{};
  spec.stype = VS_STYPE_HIST;
  spec.hlpr = &stats_vss_hist_hlpr;
  spec.hlprinfo = reinterpret_cast<vss_hlpr_info*>(&info);
  return spec;
}

vss_hist_hlpr_info computed(hist_bkt_alloc scheme, std::uint64_t ub) {
  vss_hist_hlpr_info info{};
  info.scheme = scheme;
  info.hist_dtype = VSD_DTYPE_CRHIST32;
  info.lb = stats_ctor_vsd_numeric(0);
  info.ub = stats_ctor_vsd_numeric(ub);
  return info;
}

voistatspec digest(vss_tdgst_hlpr_info& info) {
  voistatspec spec{};
  spec.stype = VS_STYPE_TDGST;
  spec.hlpr = &stats_vss_tdgst_hlpr;
  spec.hlprinfo = reinterpret_cast<vss_hlpr_info*>(&info);
  return spec;
}

statsblob* make_blob(std::vector<voistatspec> specs, vsd_dtype dtype = VSD_DTYPE_INT_U32) {
  static int made = 0;
  const int tpl = stats_tpl_alloc(("bench" + std::to_string(made++)).c_str(), 0);
  const auto slot = static_cast<std::uint32_t>(tpl);
  if (stats_tpl_add_voistats(slot, 0, "X", dtype, static_cast<std::uint32_t>(specs.size()),
                             specs.data(), 0) != 0) {
    std::fprintf(stderr, "stats_bench: a template was refused\n");
    std::exit(1);
  }
  return stats_blob_alloc(slot, 0);
}

// Evenly distributed below `end`, or evenly over its powers of two.
std::vector<std::uint32_t> samples_below(std::uint32_t end, bool logarithmic) {
  std::mt19937_64 random(kSeed);
  std::vector<std::uint32_t> samples(kSamples);
  for (std::uint32_t& sample : samples) {
    const double share = std::uniform_real_distribution<>(0, 1)(random);
    sample =
        static_cast<std::uint32_t>(logarithmic ? std::exp2(share * std::log2(end)) : share * end);
  }
  return samples;
}

double update_cost(statsblob* blob, const std::vector<std::uint32_t>& samples) {
  const double ns = cost(4 * samples.size(), [&] {
    for (int turn = 0; turn < 4; ++turn) {
      for (const std::uint32_t sample : samples) stats_voi_update_abs_u32(blob, 0, sample);
    }
  });
  stats_blob_destroy(blob);
  return ns;
}

// Of samples that are all different and rise, or fall.
double sorted_update_cost(statsblob* blob, bool falls) {
  std::vector<std::uint32_t> samples(kRounds * kSamples);
  std::mt19937_64 random(kSeed);
  std::uint32_t last = 0;
  for (std::uint32_t& sample : samples) {
    last += 1 + static_cast<std::uint32_t>(random() % 200);
    sample = last;
  }
  if (falls) std::reverse(samples.begin(), samples.end());
  std::size_t next = 0;
  const double ns = cost(kSamples, [&] {
    for (const std::size_t end = next + kSamples; next < end; ++next) {
      stats_voi_update_abs_u32(blob, 0, samples[next]);
    }
  });
  stats_blob_destroy(blob);
  return ns;
}

// Of a Q-typed VOI with 16 bits of fraction.
constexpr unsigned kQFraction = 16;
u64q_t q_of(std::uint64_t number) {
  u64q_t q = 0;
  Q_INI(&q, 0, 0, kQFraction);
  Q_QADDI(&q, static_cast<std::int64_t>(number));
  return q;
}

void print_q_updates() {
  for (const hist_bkt_alloc scheme : {BKT_LIN, BKT_EXP}) {
    auto info = computed(scheme, 0);
    info.lb = stats_ctor_vsd_numeric(q_of(0));
    info.ub = stats_ctor_vsd_numeric(q_of(scheme == BKT_LIN ? 9'990 : 2'000'000'000));
    if (scheme == BKT_LIN) {
      info.lin.stepinc = 10;
    } else {
      info.exp.stepbase = 2;
    }
    std::vector<u64q_t> samples;
    for (const std::uint32_t each :
         samples_below(scheme == BKT_LIN ? 10'000 : 2'000'000'000, scheme == BKT_EXP)) {
      samples.push_back(q_of(each));
    }
    statsblob* const blob = make_blob({histogram(info)}, VSD_DTYPE_Q_U64);
    print(scheme == BKT_LIN ? "CRHIST, LIN, 1000 buckets, of Q numbers"
                            : "CRHIST, EXP, base 2, of Q numbers",
          cost(4 * samples.size(),
               [&] {
                 for (int turn = 0; turn < 4; ++turn) {
                   for (const u64q_t sample : samples) stats_voi_update_abs_uq64(blob, 0, sample);
                 }
               }),
          15);
    stats_blob_destroy(blob);
  }
}

void print_updates() {
  const auto even = samples_below(1000, false);
  print("SUM", update_cost(make_blob({number(VS_STYPE_SUM)}), even), 6);
  print("SUM, MAX, MIN",
        update_cost(make_blob({number(VS_STYPE_SUM), number(VS_STYPE_MAX), number(VS_STYPE_MIN)}),
                    even),
        10.5);
  for (const unsigned buckets : {10u, 100u, 1000u}) {
    auto info = computed(BKT_LIN, buckets * 10 - 10);
    info.lin.stepinc = 10;
    print(("CRHIST, LIN, " + std::to_string(buckets) + " buckets").c_str(),
          update_cost(make_blob({histogram(info)}), samples_below(buckets * 10, false)), 15);
  }
  for (const unsigned base : {2u, 10u}) {
    auto info = computed(BKT_EXP, 2'000'000'000);
    info.exp.stepbase = base;
    print(("CRHIST, EXP to 2*10^9, base " + std::to_string(base)).c_str(),
          update_cost(make_blob({histogram(info)}), samples_below(2'000'000'000, true)), 15);
  }
  for (const unsigned steps : {4u, 32u}) {
    auto info = computed(BKT_LINEXP, 2'000'000'000);
    info.linexp.stepbase = 2;
    info.linexp.linstepdiv = steps;
    print(("CRHIST, LINEXP to 2*10^9, base 2 in " + std::to_string(steps)).c_str(),
          update_cost(make_blob({histogram(info)}), samples_below(2'000'000'000, true)), 0);
  }
  for (const vsd_dtype dtype : {VSD_DTYPE_TDGSTCLUST32, VSD_DTYPE_TDGSTCLUST64}) {
    for (const unsigned centroids : {20u, 100u}) {
      vss_tdgst_hlpr_info info{VSD_DTYPE_VOISTATE, dtype, centroids, 1};
      print(("t-digest of " + std::to_string(centroids) + " centroids, " +
             (dtype == VSD_DTYPE_TDGSTCLUST32 ? "32 bits" : "64 bits"))
                .c_str(),
            update_cost(make_blob({digest(info)}), samples_below(1'000'000, false)),
            centroids == 100 ? 100 : 0);
    }
  }
}

void print_sorted_updates() {
  for (const unsigned centroids : {20u, 100u}) {
    for (const bool falls : {false, true}) {
      vss_tdgst_hlpr_info info{VSD_DTYPE_VOISTATE, VSD_DTYPE_TDGSTCLUST32, centroids, 1};
      print(("t-digest of " + std::to_string(centroids) + " centroids, 32 bits, " +
             (falls ? "falling" : "rising"))
                .c_str(),
            sorted_update_cost(make_blob({digest(info)}), falls), 100);
    }
  }
}

void print_json() {
  auto info = computed(BKT_LIN, 990);
  info.lin.stepinc = 10;
  statsblob* const blob = make_blob({histogram(info)});
  for (const std::uint32_t sample : samples_below(1000, false))
    stats_voi_update_abs_u32(blob, 0, sample);
  sbuf* const text = sbuf_new_auto();
  constexpr std::size_t kTurns = 2000;
  print("JSON of 100 buckets",
        cost(kTurns,
             [&] {
               for (std::size_t i = 0; i < kTurns; ++i) {
                 sbuf_clear(text);
                 stats_blob_tostr(blob, text, SB_STRFMT_JSON, 0);
               }
             }),
        10'000);
  sbuf_delete(text);
  stats_blob_destroy(blob);
}

// ---- Publishing, to the daemon of $TALLY_SOCKET

// No more at a time than the daemon's queue holds, so that none is refused.
constexpr std::size_t kQueued = 200;

void print_bare_send(const statsblob* blob) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_DGRAM, 0, ends.data()) != 0) return;
  std::vector<char> buffer(blob->cursz);
  const double bare = cost(kQueued, [&] {
    for (std::size_t i = 0; i < kQueued; ++i) {
      if (::send(ends[0], blob, blob->cursz, MSG_DONTWAIT) < 0) break;
      if (i % 8 == 7)
        while (::recv(ends[1], buffer.data(), buffer.size(), MSG_DONTWAIT) > 0) {
        }
    }
  });
  print(("a bare send of the " + std::to_string(blob->cursz) + " bytes, and its receipt").c_str(),
        bare, 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

void print_publishing() {
  auto info = computed(BKT_LIN, 990);
  info.lin.stepinc = 10;
  statsblob* const blob = make_blob({histogram(info)});
  stats_object *asked = nullptr, *always = nullptr;
  if (stats_object_create(&asked, "bench", "asked", 0) != 0 ||
      stats_object_create(&always, "bench", "always", STATS_PUBLISH_ALWAYS) != 0) {
    return;
  }
  stats_object_publish(asked, blob);
  stats_object_publish(always, blob);
  if (const int error = statistic_sync(2000); error != 0) {
    std::printf("publishing: not measured, no daemon at TALLY_SOCKET\n");
    return;
  }
  constexpr std::size_t kOff = 10'000'000, kNamed = 100'000;
  print("publish without demand, by handle",
        cost(kOff,
             [&] {
               for (std::size_t i = 0; i < kOff; ++i)
                 keep(static_cast<std::uint64_t>(stats_object_publish(asked, blob)));
             }),
        0);
  print("publish without demand, by names",
        cost(kNamed,
             [&] {
               for (std::size_t i = 0; i < kNamed; ++i) stats_publish("bench", "asked", blob);
             }),
        0);
  print_bare_send(blob);
  double best = std::numeric_limits<double>::max();
  for (int round = 0; round < kRounds; ++round, statistic_sync(2000)) {
    const double begun = cpu_ns();
    for (std::size_t i = 0; i < kQueued; ++i) stats_object_publish(always, blob);
    best = std::min(best, (cpu_ns() - begun) / kQueued);
  }
  print("publish it always", best, 0);
  stats_withdraw("bench", nullptr);
  statistic_sync(2000);
  stats_blob_destroy(blob);
}

// ---- Ranks

std::vector<std::uint32_t> distributed(const std::string& name, std::size_t count,
                                       std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::lognormal_distribution<> lognormal(10, 1);
  std::exponential_distribution<> exponential(1e-4);
  std::normal_distribution<> low(10'000, 1'000), high(100'000, 500);
  std::vector<std::uint32_t> samples(count);
  for (std::uint32_t& sample : samples) {
    const double x = name == "uniform"       ? static_cast<double>(random() % 1'000'000)
                     : name == "lognormal"   ? lognormal(random)
                     : name == "exponential" ? exponential(random)
                     : name == "bimodal"     ? (random() % 10 < 7 ? low(random) : high(random))
                                             : 12'345;
    sample = static_cast<std::uint32_t>(std::clamp(x, 0.0, 1e8));
  }
  return samples;
}

// From `sorted`; "random" is taken before.
std::vector<std::uint32_t> ordered(const std::vector<std::uint32_t>& sorted,
                                   const std::string& order) {
  std::vector<std::uint32_t> samples = sorted;
  const std::size_t count = samples.size();
  if (order == "reversed") std::reverse(samples.begin(), samples.end());
  for (std::size_t i = 0; i < count && order == "interleaved"; ++i) {
    samples[i] = i % 2 ? sorted[count / 2 + i / 2] : sorted[i / 2];
  }
  for (std::size_t i = 0; i < count && order == "outside-in"; ++i) {
    samples[i] = i % 2 ? sorted[count - 1 - i / 2] : sorted[i / 2];
  }
  return samples;
}

// How far q is from the ranks that `value` has, in percent of min(q, 1 - q).
double rank_error(const std::vector<std::uint32_t>& sorted, double q, double value) {
  const auto rank = [&](auto at) {
    return static_cast<double>(at - sorted.begin()) / static_cast<double>(sorted.size());
  };
  const double below = rank(std::lower_bound(sorted.begin(), sorted.end(), value));
  const double up_to = rank(std::upper_bound(sorted.begin(), sorted.end(), value));
  return 100 * (q < below ? below - q : q > up_to ? q - up_to : 0) / std::min(q, 1 - q);
}

constexpr std::array<double, 6> kQuantiles = {0.01, 0.5, 0.9, 0.99, 0.999, 0.9999};
using RankErrors = std::array<double, kQuantiles.size()>;

void note_ranks(const std::vector<std::uint32_t>& drawn, const std::string& order,
                RankErrors& worst) {
  auto sorted = drawn;
  std::sort(sorted.begin(), sorted.end());
  vss_tdgst_hlpr_info info{VSD_DTYPE_VOISTATE, VSD_DTYPE_TDGSTCLUST32, 100, 1};
  statsblob* const blob = make_blob({digest(info)});
  const auto samples = order == "random" ? drawn : ordered(sorted, order);
  for (const std::uint32_t sample : samples) stats_voi_update_abs_u32(blob, 0, sample);
  for (std::size_t i = 0; i < worst.size(); ++i) {
    double value = 0;
    stats_voistat_fetch_quantile(blob, 0, kQuantiles[i], &value);
    worst[i] = std::max(worst[i], rank_error(sorted, kQuantiles[i], value));
  }
  stats_blob_destroy(blob);
}

// A sample more or less is no error of the digest's.
bool is_within(const RankErrors& worst, std::size_t count, double at_most) {
  bool is = true;
  for (std::size_t i = 0; i < worst.size(); ++i) {
    const double two_samples =
        200 / static_cast<double>(count) / std::min(kQuantiles[i], 1 - kQuantiles[i]);
    is &= worst[i] < std::max(at_most, two_samples) + 0.01;
  }
  return is;
}

// False: some errors are above at_most percent.
bool print_ranks(std::size_t count, double at_most) {
  constexpr std::uint64_t kSeeds = 6;
  bool is_right = true;
  std::printf(
      "rank errors in percent of min(q, 1 - q), %zu samples, 100 centroids of 32 bits, the worst "
      "of %llu seeds\n(wanted: at most %g)\n%-24s %7s %7s %7s %7s %7s %7s\n",
      count, static_cast<unsigned long long>(kSeeds), at_most, "", "p1", "p50", "p90", "p99",
      "p99.9", "p99.99");
  for (const char* name : {"uniform", "lognormal", "exponential", "bimodal", "constant"}) {
    for (const char* order : {"random", "sorted", "reversed", "interleaved", "outside-in"}) {
      RankErrors worst{};
      for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        note_ranks(distributed(name, count, seed), order, worst);
      }
      std::printf("%-11s %-12s", name, order);
      for (const double error : worst) std::printf(" %7.2f", error);
      const bool is_row_right = is_within(worst, count, at_most);
      std::printf("%s\n", is_row_right ? "" : "  TOO FAR OFF");
      std::fflush(stdout);
      is_right &= is_row_right;
    }
  }
  return is_right;
}

struct Options {
  bool only_ranks = false;
  double at_most = 3;
  std::size_t samples = 1'000'000;
};

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    char* end = nullptr;
    if (argv[i] == std::string("--ranks")) {
      options.only_ranks = true;
    } else if (argv[i] == std::string("--at-most") && i + 1 < argc) {
      options.at_most = std::strtod(argv[++i], &end);
      if (*end != '\0' || end == argv[i]) return std::nullopt;
    } else {
      options.samples = std::strtoull(argv[i], &end, 10);
      if (*end != '\0' || options.samples == 0 || i + 1 != argc) return std::nullopt;
    }
  }
  return options;
}

void print_costs() {
  g_clock_read = cost(1'000'000, [] {
    for (int i = 0; i < 1'000'000; ++i) keep(static_cast<std::uint64_t>(cpu_ns(CLOCK_MONOTONIC)));
  });
  print("clock_gettime(CLOCK_MONOTONIC)", g_clock_read, 0);
  print("empty loop",
        cost(10'000'000,
             [] {
               for (std::uint64_t i = 0; i < 10'000'000; ++i) keep(i);
             }),
        0);
  print_updates();
  print_sorted_updates();
  print_q_updates();
  print_json();
  print_publishing();
}

}  // namespace

int main(int argc, char** argv) {
  const bool asked = argc == 2 && argv[1] == std::string("--help");
  const auto options = parse(argc, argv);
  if (asked || !options) {
    std::fprintf(asked ? stdout : stderr,
                 "usage: stats_bench [--ranks] [--at-most PERCENT] [SAMPLES]\n"
                 "What samples cost in blobs, and the rank errors of t-digests of so many samples "
                 "(1000000).\nThe exit status is 1 if one is above so many percent (3).\n");
    return asked ? 0 : 2;
  }
  if (!options->only_ranks) print_costs();
  if (print_ranks(options->samples, options->at_most)) return 0;
  std::fprintf(stderr, "stats_bench: rank errors are above %g %%\n", options->at_most);
  return 1;
}
