#include "core/latency_hist/branch/latency_branch.h"

#include <algorithm>
#include <utility>

#include "core/base/near_time.h"
#include "core/base/reservation.h"
#include "core/base/text.h"
#include "core/tree/text_file.h"

namespace tallyfs::latency_hist {
namespace {

constexpr Audience kSwitch{0644};

// A whole line that is one token.
std::string_view only_token(std::string_view line) {
  Tokens tokens(line);
  const auto token = tokens.next();
  return token && !tokens.next() ? token->text : std::string_view();
}

TextFile::Parts number_parts(
    std::function<std::int64_t()> number,
    std::function<Result<void>(std::string_view, const CallContext&)> write_line,
    std::function<Timestamp()> last_change) {
  return {.render = [=](const CallContext&, std::size_t) -> Result<std::string> {
            return std::to_string(number()) + "\n";
          },
          .last_change = [=](Timestamp) { return last_change(); },
          .write_line = std::move(write_line),
          .write_unit = File::WriteUnit::kWrite};
}

}  // namespace

// Decides what rmdir in latency_hist/ may remove.
class LatencyBranch::Rules final : public Directory {
 public:
  explicit Rules(LatencyBranch& branch) : branch_(branch) {}
  Result<void> remove_directory(std::string_view name, Timestamp now) override {
    return branch_.remove_directory(name, now);
  }

 private:
  LatencyBranch& branch_;
};

// One of the sets that the kernel's events fill.
class LatencyBranch::KernelSet final : public LockedLatencies {
 public:
  KernelSet(LatencyBranch& branch, Latencies which) : branch_(branch), which_(which) {}
  void with(const std::function<void(Set&)>& use) override {
    const MutexLock lock(branch_.kernel_mutex_);
    use(branch_.kernel_.set(which_));
  }
  void opened(const CallContext& call) override { branch_.opened(call); }
  bool waits() const override { return branch_.options_.source != nullptr; }
  Switched switched() const override {
    const MutexLock lock(branch_.kernel_mutex_);
    return {.is_on = branch_.kernel_.is_on(measuring_of(which_)), .changes = branch_.switches_};
  }

 private:
  LatencyBranch& branch_;
  const Latencies which_;
};

class LatencyBranch::FedSet final : public LockedLatencies {
 public:
  FedSet(unsigned cpus, Reservation share, Timestamp now)
      : share_(std::move(share)), latencies_(cpus, now) {}
  void with(const std::function<void(Set&)>& use) override EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    use(latencies_);
  }

 private:
  const Reservation share_;
  Mutex mutex_{LockRank::kFedLatencySet};
  Set latencies_ GUARDED_BY(mutex_);
};

class LatencyBranch::Switching {
 public:
  explicit Switching(LatencyBranch& branch) : branch_(branch) {
    const MutexLock lock(branch_.kernel_mutex_);
    while (branch_.is_switching_) branch_.switched_.wait(branch_.kernel_mutex_);
    branch_.is_switching_ = true;
  }
  ~Switching() {
    {
      const MutexLock lock(branch_.kernel_mutex_);
      branch_.is_switching_ = false;
    }
    branch_.switched_.notify_one();
  }
  Switching(const Switching&) = delete;
  Switching& operator=(const Switching&) = delete;

 private:
  LatencyBranch& branch_;
};

LatencyBranch::LatencyBranch(Tree& tree, NodeId tracing, Ledger& ledger, const Options& options,
                             Timestamp now)
    : tree_(tree),
      ledger_(ledger),
      options_(options),
      ownership_(options.owner),
      kernel_(options.cpus, now),
      last_switch_(now) {
  directory_ = tree_.add_directory(tracing, "latency_hist", std::make_shared<Rules>(*this), now);
  enter_enable(now);
  enter_kernel_directories(now);
}

LatencyBranch::~LatencyBranch() = default;

void LatencyBranch::enter_enable(Timestamp now) {
  const NodeId enable =
      tree_.add_directory(directory_, "enable", std::make_shared<Directory>(), now);
  enter_switch(enable, "preemptirqsoff", Measuring::kSections, now);
  enter_switch(enable, "wakeup", Measuring::kWakeup, now);
  enter_switch(enable, "missed_timer_offsets", Measuring::kMissedTimerOffsets, now);
  enter_switch(enable, "timerandwakeup", Measuring::kTimerAndWakeup, now);
}

void LatencyBranch::enter_kernel_directories(Timestamp now) {
  constexpr auto kNone = MaxLatencyFiles::kNone;
  constexpr auto kPerCpu = MaxLatencyFiles::kPerCpu;
  enter_kernel_directory(directory_, "irqsoff", Latencies::kIrqsOff, kNone, now);
  enter_kernel_directory(directory_, "preemptoff", Latencies::kPreemptOff, kNone, now);
  enter_kernel_directory(directory_, "preemptirqsoff", Latencies::kPreemptIrqsOff, kNone, now);
  const NodeId wakeup =
      enter_kernel_directory(directory_, "wakeup", Latencies::kWakeup, kPerCpu, now);
  enter_pid(wakeup, Measuring::kWakeup, now);
  enter_kernel_directory(wakeup, "sharedprio", Latencies::kWakeupShared, kPerCpu, now);
  const NodeId missed = enter_kernel_directory(directory_, "missed_timer_offsets",
                                               Latencies::kMissedTimerOffsets, kPerCpu, now);
  enter_pid(missed, Measuring::kMissedTimerOffsets, now);
  enter_kernel_directory(directory_, "timerandwakeup", Latencies::kTimerAndWakeup, kPerCpu, now);
}

NodeId LatencyBranch::enter_kernel_directory(NodeId parent, std::string_view name, Latencies which,
                                             MaxLatencyFiles files, Timestamp now) {
  const NodeId made = tree_.add_directory(parent, name, std::make_shared<Directory>(), now);
  enter_latency_files(tree_, made, {std::string(name), options_.epoch},
                      std::make_shared<KernelSet>(*this, which), files, now);
  return made;
}

void LatencyBranch::enter_switch(NodeId directory, std::string_view name, Measuring what,
                                 Timestamp now) {
  auto parts = number_parts([=, this] { return enabled(what); },
                            [=, this](std::string_view line, const CallContext& call) {
                              return enable(what, line, call);
                            },
                            [this] { return last_switch(); });
  tree_.add_file(directory, name, kSwitch, std::make_shared<TextFile>(std::move(parts)), now);
}

void LatencyBranch::enter_pid(NodeId directory, Measuring what, Timestamp now) {
  auto parts = number_parts([=, this] { return std::int64_t{selected(what)}; },
                            [=, this](std::string_view line, const CallContext& call) {
                              return select(what, line, call);
                            },
                            [this] { return last_switch(); });
  tree_.add_file(directory, "pid", kSwitch, std::make_shared<TextFile>(std::move(parts)), now);
}

std::int64_t LatencyBranch::enabled(Measuring what) const {
  const MutexLock lock(kernel_mutex_);
  return kernel_.enabled(what);
}

pid_t LatencyBranch::selected(Measuring what) const {
  const MutexLock lock(kernel_mutex_);
  return kernel_.selected(what);
}

Timestamp LatencyBranch::last_switch() const {
  const MutexLock lock(kernel_mutex_);
  return last_switch_;
}

// It is on before the feeder is asked, so that concurrent requests ask for this too;
// and off again if the feeder refuses.
Result<void> LatencyBranch::enable(Measuring what, std::string_view line, const CallContext& call) {
  const auto value = parse_signed(only_token(line));
  if (!value) return invalid("an integer is wanted: 0 is off, all others are on", 0);
  const Switching only(*this);
  std::int64_t before = 0;
  {
    const MutexLock lock(kernel_mutex_);
    before = kernel_.enabled(what);
    if (auto done = kernel_.enable(what, *value); !done) return done;
    note_switch(call.now);
  }
  auto asked = ask_source(call.cancel);
  // Switching off succeeds even if the source does not answer.
  if (asked || *value == 0) return {};
  const MutexLock lock(kernel_mutex_);
  (void)kernel_.enable(what, before);
  return asked;
}

Result<void> LatencyBranch::select(Measuring what, std::string_view line, const CallContext& call) {
  const std::string_view text = only_token(line);
  const bool is_decimal = std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  const auto pid = is_decimal ? parse_unsigned(text) : std::nullopt;
  if (!pid || *pid > INT32_MAX) return invalid("a process id is wanted, or 0 for none", 0);
  const Switching only(*this);
  pid_t before = 0;
  {
    const MutexLock lock(kernel_mutex_);
    before = kernel_.selected(what);
    kernel_.select(what, static_cast<pid_t>(*pid));
    note_switch(call.now);
    if (!kernel_.is_on(what)) return {};
  }
  auto asked = ask_source(call.cancel);
  if (asked) return {};
  const MutexLock lock(kernel_mutex_);
  kernel_.select(what, before);
  return asked;
}

WantedEvents LatencyBranch::wanted() const {
  const MutexLock lock(kernel_mutex_);
  return {.wakeups = kernel_.is_on(Measuring::kWakeup),
          .timers = kernel_.is_on(Measuring::kMissedTimerOffsets),
          .sections = kernel_.is_on(Measuring::kSections),
          .wakeup_pid = kernel_.selected(Measuring::kWakeup),
          .timer_pid = kernel_.selected(Measuring::kMissedTimerOffsets)};
}

Result<void> LatencyBranch::ask_source(const CancellationToken& cancel) {
  if (options_.source) return options_.source->want([this] { return wanted(); }, cancel);
  return Error{ErrorCode::kNoDevice,
               "the kernel's events are not read: tallyfs runs without -o tracefs"};
}

void LatencyBranch::opened(const CallContext& call) {
  if (options_.source && wanted().any()) options_.source->drain(call.cancel);
  const MutexLock lock(kernel_mutex_);
  kernel_.pass(call.now);
}

Result<void> LatencyBranch::take(std::span<const KernelEvent> events, uid_t sender, Timestamp now) {
  if (!ownership_.is_trusted(sender)) {
    return Error{ErrorCode::kNotPermitted,
                 "the kernel's events come from root or the daemon's own uid"};
  }
  take_kernel(events, now);
  return {};
}

void LatencyBranch::take_kernel(std::span<const KernelEvent> events, Timestamp now) {
  std::string warning;
  {
    const MutexLock lock(kernel_mutex_);
    kernel_.take(events, now);
    warning = kernel_.take_warning();
  }
  if (!warning.empty()) options_.warn(warning);
}

void LatencyBranch::feeder_changed(Timestamp now) {
  const KernelEvent lost{.kind = KernelEventKind::kLost, .cpu = KernelEvent::kNoCpu, .number = 1};
  take_kernel({&lost, 1}, now);
}

void LatencyBranch::feeder_refused(Timestamp now) {
  const MutexLock lock(kernel_mutex_);
  note_switch(now);
  for (const Measuring what : {Measuring::kTimerAndWakeup, Measuring::kMissedTimerOffsets,
                               Measuring::kWakeup, Measuring::kSections}) {
    (void)kernel_.enable(what, 0);
  }
}

Error LatencyBranch::no_such_cpu() {
  return {ErrorCode::kInvalid, "a latency on a CPU that there is not"};
}

Result<std::size_t> LatencyBranch::add(std::string_view name,
                                       std::span<const LatencySample> samples, std::uint64_t lost,
                                       uid_t sender, Timestamp now) {
  const auto is_somewhere = [this](const auto& sample) { return sample.cpu < options_.cpus; };
  const auto somewhere = static_cast<std::size_t>(std::ranges::count_if(samples, is_somewhere));
  // A message without any valid sample must not create a directory.
  if (somewhere == 0 && !samples.empty() && lost == 0) return no_such_cpu();
  auto fed = find_or_create(name, sender, now);
  if (!fed) return fed.error();
  fed.value()->with([&](Set& set) {
    set.count_lost(lost, Set::kNoCpu, now);
    for (const LatencySample& sample : samples) {
      if (!is_somewhere(sample)) continue;
      const std::chrono::nanoseconds time(sample.time_ns);
      set.add({.time = clamped_past(time, now.monotonic),
               .cpu = sample.cpu,
               .latency = std::chrono::nanoseconds(sample.latency_ns),
               .victim = sample.task},
              now);
    }
  });
  return samples.size() - somewhere;
}

Result<std::shared_ptr<LockedLatencies>> LatencyBranch::find_or_create(std::string_view name,
                                                                       uid_t creator,
                                                                       Timestamp now) {
  const MutexLock lock(fed_mutex_);
  const auto found = fed_.find(std::string(name));
  if (found != fed_.end()) {
    if (auto allowed = may_change(found->second, creator); !allowed) return allowed.error();
    return found->second.latencies;
  }
  if (!is_name(name)) return Error{ErrorCode::kInvalid, "not a name for a directory", 0};
  if (tree_.lookup(directory_, name)) {
    return Error{ErrorCode::kInvalid, "these latencies are the kernel's", 0};
  }
  auto share = Reservation::create(
      ledger_, creator, {.interfaces = 1, .bytes = Set::worst_case_bytes(options_.cpus)});
  if (!share) return share.error();
  const std::shared_ptr<LockedLatencies> made =
      std::make_shared<FedSet>(options_.cpus, std::move(share.value()), now);
  const NodeId node = tree_.add_directory(directory_, name, std::make_shared<Directory>(), now);
  enter_latency_files(tree_, node, {std::string(name), options_.epoch}, made,
                      MaxLatencyFiles::kPerCpu, now);
  fed_.emplace(name, FedDirectory{made, node, creator});
  return made;
}

// The owner's: what the mount's modes have let pass.
Result<void> LatencyBranch::remove_directory(std::string_view name, Timestamp now) {
  return remove(name, options_.owner, now);
}

Result<void> LatencyBranch::may_change(const FedDirectory& directory, uid_t sender) const {
  return ownership_.check(directory.creator, sender,
                          {.thing = "directory",
                           .change = "feed, reset or remove it",
                           .since = ", which has fed it first"});
}

Result<LatencyBranch::FedDirectory*> LatencyBranch::find_for(std::string_view name, uid_t sender) {
  const auto found = fed_.find(std::string(name));
  if (found == fed_.end()) {
    if (tree_.lookup(directory_, name)) {
      return Error{ErrorCode::kBusy, "these latencies are the kernel's", 0};
    }
    return Error{ErrorCode::kNotFound, "there is no such directory", 0};
  }
  if (auto allowed = may_change(found->second, sender); !allowed) return allowed.error();
  return &found->second;
}

Result<void> LatencyBranch::reset(std::string_view name, uid_t sender, Timestamp now) {
  std::shared_ptr<LockedLatencies> latencies;
  {
    const MutexLock lock(fed_mutex_);
    const auto found = find_for(name, sender);
    if (!found) return found.error();
    latencies = found.value()->latencies;
  }
  latencies->with([&](Set& set) { set.reset(now); });
  return {};
}

Result<void> LatencyBranch::remove(std::string_view name, uid_t sender, Timestamp now) {
  const MutexLock lock(fed_mutex_);
  const auto found = find_for(name, sender);
  if (!found) return found.error();
  tree_.remove(found.value()->node, now);
  fed_.erase(std::string(name));
  return {};
}

}  // namespace tallyfs::latency_hist
