#include "fs/daemon/kept_state.h"

#include <malloc.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/timestamp_bytes.h"
#include "program/log.h"

namespace tallyfs {
namespace {

constexpr std::uint16_t kKeptFormat = 1;
constexpr KindBits kOwnKinds = saved_kinds(SavedKind::kKept);
constexpr KindBits kHandedKinds =
    saved_kinds(SavedKind::kPages, SavedKind::kProcesses, SavedKind::kLanes, SavedKind::kLaneRings,
                SavedKind::kLaneBindings, SavedKind::kUnseenProcesses, SavedKind::kJournal);
constexpr KindBits kOpenFileKinds = saved_kinds(SavedKind::kOpenFile);
constexpr KindBits kNumberKinds =
    saved_kinds(SavedKind::kStatisticNumbers, SavedKind::kStatsNumbers,
                SavedKind::kProgramEventNumbers);
// The C library keeps the memory in which a longer object was encoded.
constexpr std::size_t kLongBytes = 1 << 20;

void ring(const Fd& bell) {
  const std::uint64_t one = 1;
  (void)!::write(bell.get(), &one, sizeof one);
}

}  // namespace

// Takes the objects of a branch in one run: kShort all of them, with long contents only where the
// memory has none, and kLong the long contents. An object for which there is no room does not end
// the run: others may have been removed.
class KeptState::RunSink final : public ObjectSink {
 public:
  RunSink(KeptState& state, const Branch& branch, Which which)
      : state_(state), pass_(*state.store_, branch.handles().objects), which_(which) {}

  Reader reader() const override { return Reader::kSuccessor; }
  bool put(const SavedObject& object) override {
    if (state_.is_ending_) return false;
    const bool is_long = std::exchange(long_kind_, 0) == object.kind;
    if (which_ == Which::kLong && !is_long) {
      (void)pass_.keep(object.kind, object.label);
      return true;
    }
    if (object.bytes.size() > kLongBytes) state_.had_long_object_ = true;
    const auto put = is_long ? pass_.put(object, long_) : pass_.put(object);
    if (put) return true;
    done_ = put;
    (void)pass_.keep(object.kind, object.label);
    return true;
  }
  bool wants(SavedKind kind, std::string_view label, const ObjectVersion& version) override {
    return which_ == Which::kShort && pass_.wants(static_cast<std::uint16_t>(kind), label, version);
  }
  bool keeps(SavedKind kind, std::string_view label, const ObjectVersion& version) override {
    const auto number = static_cast<std::uint16_t>(kind);
    if (which_ == Which::kShort && pass_.keep(number, label, version.object)) return true;
    long_ = version;
    long_kind_ = number;
    return false;
  }
  // kInterrupted: the run was cut.
  Result<void> end() {
    if (state_.is_ending_) return Error{ErrorCode::kInterrupted, "it ends"};
    const auto ended = which_ == Which::kShort ? pass_.end() : Result<void>();
    return done_ ? ended : done_;
  }

 private:
  KeptState& state_;
  ObjectStore::Pass pass_;
  const Which which_;
  std::uint16_t long_kind_ = 0;  // of what is put next, unless it is removed; 0: any
  ObjectVersion long_;
  Result<void> done_;
};

// Takes what is at one path.
class KeptState::PathSink : public ObjectSink {
 public:
  PathSink(ObjectStore& store, KindBits kinds) : store_(store), kinds_(kinds) {}

  Reader reader() const override { return Reader::kSuccessor; }
  bool put(const SavedObject& object) override {
    const auto put = store_.put(kinds_, object, std::exchange(version_, {}));
    if (!put) done_ = put;
    return put.has_value();
  }
  bool wants(SavedKind kind, std::string_view label, const ObjectVersion& version) override {
    version_ = version;
    return !store_.has(static_cast<std::uint16_t>(kind), label, version);
  }
  bool wants_changes(std::string_view interface, std::uint64_t object) override {
    return store_.wants_part(interface, object);
  }
  bool put_changes(const SavedObject& object, const ObjectVersion& version) override {
    const auto put = store_.put_part(kinds_, object, version);
    if (!put) done_ = put.error();
    return !put || put.value();
  }
  void gone(SavedKind kind, std::string_view label) override {
    const auto removed = store_.remove(static_cast<std::uint16_t>(kind), label);
    if (!removed) done_ = removed;
  }
  const Result<void>& done() const { return done_; }

 private:
  ObjectStore& store_;
  const KindBits kinds_;
  ObjectVersion version_;
  Result<void> done_;
};

// Takes the tables of numbers alone.
class KeptState::NumbersSink final : public PathSink {
 public:
  using PathSink::PathSink;

  bool put(const SavedObject& object) override {
    const bool is_table = (kind_bit(object.kind) & kNumberKinds) != 0;
    return !is_table || PathSink::put(object);
  }
  bool wants(SavedKind, std::string_view, const ObjectVersion&) override { return false; }
  bool keeps(SavedKind, std::string_view, const ObjectVersion&) override { return true; }
};

// Takes nothing: the memory has each interface as the object that it is here.
class KeptState::KnownSink final : public ObjectSink {
 public:
  explicit KnownSink(ObjectStore& store) : store_(store) {}

  Reader reader() const override { return Reader::kSuccessor; }
  bool put(const SavedObject&) override { return true; }
  bool wants(SavedKind kind, std::string_view label, const ObjectVersion& version) override {
    if (static_cast<std::uint16_t>(kind) == kPartKinds.whole) {
      store_.know_whole(label, version.object);
    }
    return false;
  }
  bool keeps(SavedKind, std::string_view, const ObjectVersion&) override { return true; }

 private:
  ObjectStore& store_;
};

std::optional<StateFile> KeptState::kept_before(const ObjectStore::Contents& contents) {
  StateFile file{.header = {}, .objects = {}, .faults = contents.faults};
  bool has_mark = false;
  for (const SavedObject& each : contents.objects) {
    if (is_of(each, SavedKind::kOpenFile)) continue;
    if (!is_of(each, SavedKind::kKept)) {
      file.objects.push_back(each);
      continue;
    }
    ByteReader in(each.bytes);
    const std::string_view boot = in.take(file.header.boot.size());
    std::ranges::copy(boot, file.header.boot.begin());
    file.header.saved = get_timestamp(in);
    has_mark = in.ok() && each.format == kKeptFormat;
  }
  if (!has_mark) return std::nullopt;
  // Before what they have changed.
  std::stable_partition(
      file.objects.begin(), file.objects.end(),
      [](const SavedObject& each) { return is_of(each, SavedKind::kFedChanges); });
  return file;
}

bool KeptState::has_mark(const ObjectStore::Contents& contents) {
  return std::ranges::any_of(contents.objects, [](const SavedObject& each) {
    return is_of(each, SavedKind::kKept);
  });
}

KeptState::KeptState(std::unique_ptr<ObjectStore> store, const Dependencies& dependencies,
                     const BootId& boot)
    : store_(std::move(store)), dependencies_(dependencies), boot_(boot) {
  for (Branch* const each : dependencies_.branches) {
    if (each->handles().objects != 0) kept_.push_back(std::make_unique<Kept>(each));
  }
}

void KeptState::start() {
  stop_ = Fd(::eventfd(0, EFD_CLOEXEC));
  work_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  soon_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  urgent_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  dependencies_.counters.record("unsaved", 1, 1, dependencies_.clock.now());
  thread_ = std::thread([this] { keep_saving(); });
}

void KeptState::stop() {
  if (!thread_.joinable()) return;
  is_ending_ = true;
  ring(stop_);
  thread_.join();
  is_ending_ = false;
}

void KeptState::wake() {
  if (has_work_.exchange(true)) return;
  dependencies_.counters.record("unsaved", 1, 1, dependencies_.clock.now());
  ring(work_);
}

void KeptState::note_soon() {
  note_work();
  ring(soon_);
}

void KeptState::note_urgent() {
  note_soon();
  if (!is_failing_) ring(urgent_);
}

void KeptState::keep_saving() {
  ::prctl(PR_SET_NAME, "tallyfs-keep");
  for (;;) {
    const auto begun = std::chrono::steady_clock::now();
    // In this order: work that is noted in between rings no bell, and is saved now.
    std::uint64_t bells = 0;
    (void)!::read(work_.get(), &bells, sizeof bells);
    (void)!::read(soon_.get(), &bells, sizeof bells);
    (void)!::read(urgent_.get(), &bells, sizeof bells);
    has_work_ = false;
    const bool is_saved = save_all();
    if (had_long_object_.exchange(false)) ::malloc_trim(0);
    if (is_saved) note_saved();
    const auto took = std::chrono::ceil<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begun);
    const auto least = std::max(kShortPause, took * (kShare - 1));
    if (wait(least, urgent_.get())) return;
    if (least < kPause && wait(kPause - least, soon_.get())) return;
    if (is_saved && wait(std::nullopt, work_.get())) return;
  }
}

// Work that comes meanwhile may have been recorded before.
void KeptState::note_saved() {
  const Timestamp now = dependencies_.clock.now();
  dependencies_.counters.record("unsaved", 0, 1, now);
  if (has_work_) dependencies_.counters.record("unsaved", 1, 1, now);
}

// Until the time is over, or the descriptor is readable. True: the thread shall end.
bool KeptState::wait(std::optional<std::chrono::milliseconds> time, int fd) const {
  pollfd waited[] = {{.fd = stop_.get(), .events = POLLIN, .revents = 0},
                     {.fd = fd, .events = POLLIN, .revents = 0}};
  const int timeout = time ? static_cast<int>(time->count()) : -1;
  while (::poll(waited, 2, timeout) < 0) {
  }
  return waited[0].revents != 0;
}

// An object of all lanes, or of all processes, is a few KiB.
void KeptState::write_through(TransferredPart& part) {
  const MutexLock lock(parts_mutex_);
  PathSink sink(*store_, kHandedKinds);
  part.save_for_successor(sink, dependencies_.descriptors);
  if (!sink.done()) report(sink.done());
}

// An open file that is not kept as it is now is stale after a kill.
void KeptState::put(const SavedObject& object) {
  if (is_of(object, SavedKind::kOpenFile)) {
    if (!store_->put(kOpenFileKinds, object, {})) (void)store_->remove(object.kind, object.label);
    return;
  }
  const auto done = store_->put(kHandedKinds, object, {});
  if (!done) report(done);
}

void KeptState::remove(SavedKind kind, std::string_view label) {
  const auto done = store_->remove(static_cast<std::uint16_t>(kind), label);
  if (!done) report(done);
}

void KeptState::remove_lost_bindings(const ObjectStore::Contents& before) {
  for (const SavedObject& each : before.objects) {
    if (!is_of(each, SavedKind::kLaneBindings)) continue;
    const auto has_it = [&](const TransferredPart* part) { return part->has(each); };
    if (std::ranges::any_of(dependencies_.handed, has_it)) continue;
    remove(SavedKind::kLaneBindings, std::string(each.label));
  }
}

void KeptState::write_parts() {
  for (TransferredPart* const each : dependencies_.handed) write_through(*each);
}

void KeptState::begin_parts() {
  const MutexLock lock(parts_mutex_);
  for (TransferredPart* const each : dependencies_.handed) each->begin_save();
}

void KeptState::write_numbers() {
  for (const auto& each : kept_) {
    NumbersSink sink(*store_, each->branch->handles().objects);
    each->branch->save(sink);
    if (!sink.done()) report(sink.done());
  }
}

void KeptState::resume() {
  for (const auto& each : kept_) {
    if ((each->branch->handles().objects & kind_bit(kPartKinds.whole)) == 0) continue;
    KnownSink sink(*store_);
    each->branch->save(sink);
  }
  has_mark_ = true;
}

// The last part first, as each is of those before it: a kill in between, or a failure, leaves no
// lane of a process that is not watched. Descriptors last: until then, the objects name them. They
// go behind a failure, too: what feeders leave must not wait for a memory that stays full.
Result<void> KeptState::save_parts() {
  const MutexLock lock(parts_mutex_);
  PathSink sink(*store_, kHandedKinds);
  for (auto part = dependencies_.handed.rbegin();
       part != dependencies_.handed.rend() && sink.done(); ++part) {
    (*part)->end_save(sink, dependencies_.descriptors);
  }
  dependencies_.descriptors.flush();
  return sink.done();
}

bool KeptState::save_all() {
  const MutexLock lock(saving_mutex_);
  Result<void> done;
  begin_parts();
  for (const auto& each : kept_) {
    if (auto saved = save_short(*each); !saved) done = std::move(saved);
    if (auto saved = save_long(*each); !saved) done = std::move(saved);
  }
  if (!done && done.error().code == ErrorCode::kInterrupted) return false;
  if (auto saved = save_parts(); !saved) done = std::move(saved);
  if (done && !has_mark_.exchange(true)) done = put_mark();
  if (done) {
    for (TransferredPart* const each : dependencies_.handed) each->note_saved();
  }
  report(done);
  return done.has_value();
}

Result<void> KeptState::save_short(Kept& kept) {
  const MutexLock lock(kept.short_mutex);
  return save(*kept.branch, Which::kShort, kept.short_stamp);
}

Result<void> KeptState::save_long(Kept& kept) {
  if (!kept.branch->has_long_contents()) return {};
  const MutexLock lock(kept.long_mutex);
  return save(*kept.branch, Which::kLong, kept.long_stamp);
}

// The stamp is older than what is saved: a change meanwhile is saved again.
Result<void> KeptState::save(const Branch& branch, Which which,
                             std::optional<std::uint64_t>& saved) {
  const std::uint64_t stamp = branch.stamp(dependencies_.clock.now());
  if (saved == stamp) return {};
  RunSink sink(*this, branch, which);
  branch.save(sink);
  auto done = sink.end();
  if (done) saved = stamp;
  return done;
}

bool KeptState::write_through(std::string_view path) {
  note_work();
  if (path.empty()) return false;
  // The first one: what the memory has counts only when it has all.
  if (!has_mark_ && !is_failing_) return save_all();
  const Timestamp now = dependencies_.clock.now();
  for (const auto& each : kept_) {
    PathSink sink(*store_, each->branch->handles().objects);
    const auto where = each->branch->save_at(path, sink, now);
    if (where == Branch::SavedAt::kElsewhere) continue;
    const auto done = where == Branch::SavedAt::kAll ? save_short(*each) : sink.done();
    if (!done) report(done);
    return done.has_value() && has_mark_;
  }
  return false;
}

bool KeptState::write_through(const Branch& branch,
                              const std::function<void(ObjectSink& sink)>& put) {
  note_work();
  if (!has_mark_ && !is_failing_) {
    save_all();
    return false;
  }
  PathSink sink(*store_, branch.handles().objects);
  put(sink);
  if (!sink.done()) report(sink.done());
  return true;
}

Result<void> KeptState::put_mark() {
  std::string bytes(reinterpret_cast<const char*>(boot_.data()), boot_.size());
  ByteWriter out(bytes);
  put_timestamp(out, dependencies_.clock.now());
  const SavedObject mark = saved_object(SavedKind::kKept, kKeptFormat, "kept", bytes);
  auto done = store_->put(kOwnKinds, mark, {});
  if (!done) has_mark_ = false;
  return done;
}

void KeptState::withdraw() {
  has_mark_ = false;
  (void)store_->remove(static_cast<std::uint16_t>(SavedKind::kKept), "kept");
}

// A failure is reported once, until it is over. What was saved before stays.
void KeptState::report(const Result<void>& done) {
  const bool was_failing = is_failing_.exchange(!done);
  if (!done) dependencies_.counters.count("keep_failures", 1, dependencies_.clock.now());
  if (done && was_failing) log_info("the state is kept again");
  if (done || was_failing) return;
  const std::string reason = "the state is not kept: " + done.error().reason +
                             ": after a kill of the server, it is as it was before";
  log_error(reason);
  dependencies_.errors.report(ErrorLog::kDaemon, "state", "keeper", {done.error().code, reason},
                              dependencies_.clock.now());
}

}  // namespace tallyfs
