// The cost to a record of the kernel's of waiting for those of programs: the same records into the
// same histogram, while events of programs are not wanted, and while they are.
//   held_bench [RECORDS]
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "core/tracing/branch/tracing.h"

namespace tallyfs {
namespace {

constexpr int kRounds = 20;
constexpr std::size_t kRun = 256;  // as they arrive
constexpr std::chrono::nanoseconds kApart{2'000};

class Source final : public tracing::EventSource {
 public:
  using tracing::EventSource::EventSource;
  Result<void> want(const Wanted&, const CancellationToken&) override { return {}; }
  void drain(const CancellationToken&) override {}
};

constexpr char kFields[] =
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n";

double cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

class Fixture {
 public:
  Fixture() {
    offer(kernel_, "sched", "sched_switch", 1);
    offer(programs_, "web", "request", 2);
    write("events/sched/sched_switch/trigger", "hist:keys=pid");
  }
  ~Fixture() {
    tracing_.withdraw(kernel_, now_);
    tracing_.withdraw(programs_, now_);
  }

  void want_programs() { write("events/web/request/trigger", "hist:keys=pid"); }
  // Nanoseconds for each, the best of kRounds.
  double feed(std::size_t records) {
    double best = 1e18;
    for (int round = 0; round < kRounds; ++round) {
      const double begun = cpu_ns();
      for (std::size_t i = 0; i < records; i += kRun) feed_run();
      best = std::min(best, (cpu_ns() - begun) / static_cast<double>(records));
    }
    return best;
  }

 private:
  void offer(tracing::EventSource& source, std::string_view system, const std::string& name,
             unsigned id) {
    const std::string text =
        "name: " + name + "\nID: " + std::to_string(id) + "\nformat:\n" + kFields;
    must(tracing_.offer(source, {.system = system, .text = text, .source_id = id}, now_));
  }
  void write(std::string_view path, std::string_view text) {
    NodeId at = directory_;
    for (;;) {
      const std::string_view name = path.substr(0, path.find('/'));
      tree_.rules(at).value()->entered(now_);
      at = tree_.lookup(at, name).value().id;
      if (name.size() == path.size()) break;
      path.remove_prefix(name.size() + 1);
    }
    must(tree_.file(at).value()->write_line(text, now_));
  }
  void feed_run() {
    std::array<EventRecord, kRun> run;
    for (EventRecord& each : run) {
      now_.monotonic += kApart;
      // Of a sched_switch, with its task's name.
      each = {.event = 1,
              .time_ns = static_cast<std::uint64_t>(now_.monotonic.count()),
              .pid = 7,
              .bytes = {bytes_.data(), bytes_.size()},
              .comm = "some-worker"};
    }
    tracing_.feed(kernel_, run, now_);
  }
  static void must(const Result<void>& done) {
    if (done) return;
    std::fprintf(stderr, "held_bench: %s\n", done.error().reason.c_str());
    std::exit(1);
  }

  Timestamp now_{.monotonic = std::chrono::seconds(1000)};
  Ledger ledger_{Ledger::Limits{}};
  Tree tree_{now_};
  NodeId directory_ =
      tree_.add_directory(Tree::kRoot, "tracing", std::make_shared<Directory>(), now_);
  Source kernel_{tracing::EventSource::Delay::kLate}, programs_;
  std::string bytes_ = std::string(64, '\0');
  tracing::Tracing tracing_{tree_, directory_, ledger_, {}, now_};
};

int run(std::size_t records) {
  Fixture fixture;
  const double bare_ns = fixture.feed(records);
  fixture.want_programs();
  const double held_ns = fixture.feed(records);
  std::printf("%-58s %6.1f ns\n", "a kernel record into a histogram", bare_ns);
  std::printf("%-58s %6.1f ns, %4.1f of that\n", "the same, held for records of programs", held_ns,
              held_ns / bare_ns);
  return 0;
}

}  // namespace
}  // namespace tallyfs

int main(int argc, char** argv) {
  return tallyfs::run(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 102'400);
}
