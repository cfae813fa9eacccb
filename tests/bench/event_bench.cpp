// What the engine of events costs for each record, on one thread, beside a bare loop that counts
// the same keys in a hash table: a histogram of sums over 1,000 keys, and the wakeup latency chain
// (a variable, a subtraction, onmatch, a synthetic event, its histogram); and how long a reader of
// the largest histograms keeps records from being fed, beside a bare copy of their bytes.
//   event_bench [RECORDS]
#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "core/tracing/set/event_set.h"

namespace tallyfs {
namespace {

constexpr std::size_t kKeys = 1000;
constexpr int kRounds = 40;

constexpr char kCommon[] =
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

std::string format_of(const std::string& name, const std::string& fields) {
  return "name: " + name + "\nID: 1\n" + kCommon + fields;
}

void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "event_bench: %s\n", what);
  std::exit(1);
}

struct Sent {
  std::int32_t common[2] = {0, 0};
  std::int32_t pid = 0;
  std::int32_t bytes = 0;
};

std::vector<Sent> drawn(std::size_t records) {
  std::mt19937 random(7);
  std::vector<Sent> all(records);
  for (Sent& one : all) {
    one.pid = static_cast<std::int32_t>(random() % kKeys) + 1;
    one.bytes = static_cast<std::int32_t>(random() % 65536);
  }
  return all;
}

// CPU time of this thread: others may want the CPU as well.
double now_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Nanoseconds for each of `times`, the best of kRounds.
template <typename Work>
double best_ns(std::size_t times, const Work& work) {
  double best = 1e18;
  for (int round = 0; round < kRounds; ++round) {
    const double begun = now_ns();
    work();
    best = std::min(best, (now_ns() - begun) / static_cast<double>(times));
  }
  return best;
}

double bare(const std::vector<Sent>& all) {
  struct Sum {
    std::uint64_t hits = 0, bytes = 0;
  };
  boost::unordered_flat_map<std::int32_t, Sum> sums;
  const double ns = best_ns(all.size(), [&] {
    for (const Sent& one : all) {
      Sum& sum = sums[one.pid];
      sum.hits += 1;
      sum.bytes += static_cast<std::uint64_t>(one.bytes);
    }
  });
  must(sums.size() == kKeys, "the bare loop has other keys");
  return ns;
}

EventNumber define_sent(tracing::EventSet& set) {
  return set.events
      .define_event("net", format_of("sent",
                                     "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
                                     "\tfield:int bytes;\toffset:12;\tsize:4;\tsigned:1;\n"))
      .value();
}

double histogram(const std::vector<Sent>& all) {
  tracing::EventSet set;
  const EventNumber event = define_sent(set);
  must(set.commands.write(event, "hist:keys=pid:vals=bytes:sort=bytes").has_value(), "refused");
  EventRecord record{.event = event};
  const double ns = best_ns(all.size(), [&] {
    for (const Sent& one : all) {
      record.time_ns += 10;
      record.bytes = {reinterpret_cast<const char*>(&one), sizeof one};
      set.feed(record);
    }
  });
  must(set.hists.hits(event) == all.size() * kRounds, "records are missing");
  return ns;
}

double chain(const std::vector<Sent>& all) {
  tracing::EventSet set;
  const std::string fields =
      "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
      "\tfield:int prio;\toffset:12;\tsize:4;\tsigned:1;\n";
  const EventNumber waking =
      set.events.define_event("sched", format_of("sched_waking", fields)).value();
  const EventNumber switched =
      set.events
          .define_event("sched",
                        format_of("sched_switch",
                                  "\tfield:pid_t next_pid;\toffset:8;\tsize:4;\tsigned:1;\n"
                                  "\tfield:int next_prio;\toffset:12;\tsize:4;\tsigned:1;\n"))
          .value();
  must(set.synthetic.write("wakeup_latency u64 lat; pid_t pid").has_value(), "refused");
  const EventNumber latency = set.events.find("synthetic", "wakeup_latency").value();
  must(set.commands.write(waking, "hist:keys=pid:ts0=common_timestamp.usecs").has_value(),
       "waking");
  must(set.commands
           .write(switched,
                  "hist:keys=next_pid:wakeup_lat=common_timestamp.usecs-$ts0:"
                  "onmatch(sched.sched_waking).wakeup_latency($wakeup_lat,next_pid)")
           .has_value(),
       "switch");
  must(set.commands.write(latency, "hist:keys=pid:vals=lat:sort=pid").has_value(), "latency");
  EventRecord woken{.event = waking}, run{.event = switched};
  std::uint64_t time_ns = 0;
  const double ns = best_ns(all.size(), [&] {
    for (const Sent& one : all) {
      woken.time_ns = time_ns += 10'000;
      run.time_ns = time_ns += 5'000;
      woken.bytes = run.bytes = {reinterpret_cast<const char*>(&one), sizeof one};
      set.feed(woken);
      set.feed(run);
    }
  });
  must(set.hists.hits(latency) == all.size() * kRounds, "latencies are missing");
  return ns;
}

struct Copied {
  double us, bare_us;
};

Copied copy_of_65536_entries() {
  tracing::EventSet set;
  const EventNumber event = define_sent(set);
  must(set.commands.write(event, "hist:keys=pid:vals=bytes.p99:size=65536").has_value(), "refused");
  Sent one;
  for (; one.pid < 65536; ++one.pid) {
    set.feed({.event = event, .bytes = {reinterpret_cast<const char*>(&one), sizeof one}});
  }
  const double us = best_ns(1, [&] { (void)set.hists.copy(event); }) / 1000;
  const std::vector<char> bytes(set.hists.copy(event).kept_bytes());
  std::vector<char> to(bytes.size());
  const double bare_us = best_ns(1, [&] { std::memcpy(to.data(), bytes.data(), bytes.size()); });
  return {us, bare_us / 1000};
}

void print(const char* what, double ns, double bare_ns, double limit_ns) {
  std::printf("%-58s %6.1f ns, %4.1f bare loops (at most %.0f ns)\n", what, ns, ns / bare_ns,
              limit_ns);
}

int run(std::size_t records) {
  const std::vector<Sent> all = drawn(records);
  const double bare_ns = bare(all);
  std::printf("%-58s %6.1f ns\n", "bare: boost::unordered_flat_map, 1,000 keys, two sums", bare_ns);
  print("hist:keys=pid:vals=bytes:sort=bytes, 1,000 keys, a record", histogram(all), bare_ns, 60);
  print("wakeup latency chain, 1,000 keys, a pair of records", chain(all), bare_ns, 150);
  const Copied copied = copy_of_65536_entries();
  std::printf("%-58s %6.1f us, beside %.1f us for a copy (at most 5000 us)\n",
              "a reader of 65,536 entries with a percentile, under the lock", copied.us,
              copied.bare_us);
  return 0;
}

}  // namespace
}  // namespace tallyfs

int main(int argc, char** argv) {
  return tallyfs::run(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 50'000);
}
