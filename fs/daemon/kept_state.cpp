#include "fs/daemon/kept_state.h"

#include <malloc.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/moment_bytes.h"
#include "program/log.h"

namespace tallyfs {
namespace {

constexpr std::uint16_t kKeptFormat = 1;
constexpr KindBits kOwnKinds = saved_kinds(SavedKind::kKept);
// The C library keeps the memory in which a longer object was encoded.
constexpr std::size_t kLongBytes = 1 << 20;

void ring(const Fd& bell) {
  const std::uint64_t one = 1;
  (void)!::write(bell.get(), &one, sizeof one);
}

}  // namespace

// Takes all objects of a branch, and keeps long contents that the memory has. What finds no room
// does not end it: others may have gone.
class KeptState::ShortSink final : public ObjectSink {
 public:
  ShortSink(ObjectStore& store, KindBits kinds, const std::atomic<bool>& is_ending,
            std::atomic<bool>& had_long_object)
      : pass_(store, kinds), is_ending_(is_ending), had_long_object_(had_long_object) {}

  bool put(const SavedObject& object) override {
    if (is_ending_) return false;
    const bool is_long = std::exchange(long_kind_, 0) == object.kind;
    if (object.bytes.size() > kLongBytes) had_long_object_ = true;
    const auto put = is_long ? pass_.put(object, long_) : pass_.put(object);
    if (put) return true;
    done_ = put;
    (void)pass_.keep(object.kind, object.label);
    return true;
  }
  bool wants(SavedKind kind, std::string_view label, const ObjectVersion& version) override {
    return pass_.wants(static_cast<std::uint16_t>(kind), label, version);
  }
  bool keeps(SavedKind kind, std::string_view label, const ObjectVersion& version) override {
    const auto number = static_cast<std::uint16_t>(kind);
    if (pass_.keep(number, label, version.object)) return true;
    long_ = version;
    long_kind_ = number;
    return false;
  }
  Result<void> end() {
    if (is_ending_) return Error{ErrorCode::kInterrupted, "it ends"};
    const auto ended = pass_.end();
    return done_ ? ended : done_;
  }

 private:
  ObjectStore::Pass pass_;
  const std::atomic<bool>& is_ending_;
  std::atomic<bool>& had_long_object_;
  std::uint16_t long_kind_ = 0;  // of what is put next, unless it is removed; 0: any
  ObjectVersion long_;
  Result<void> done_;
};

// Takes the long contents of a branch.
class KeptState::LongSink final : public ObjectSink {
 public:
  LongSink(ObjectStore& store, KindBits kinds, const std::atomic<bool>& is_ending)
      : pass_(store, kinds), is_ending_(is_ending) {}

  bool put(const SavedObject& object) override {
    if (is_ending_) return false;
    if (std::exchange(long_kind_, 0) != object.kind) {
      (void)pass_.keep(object.kind, object.label);
      return true;
    }
    if (const auto put = pass_.put(object, long_); !put) done_ = put;
    return true;
  }
  bool wants(SavedKind, std::string_view, const ObjectVersion&) override { return false; }
  bool keeps(SavedKind kind, std::string_view, const ObjectVersion& version) override {
    long_kind_ = static_cast<std::uint16_t>(kind);
    long_ = version;
    return false;
  }
  const Result<void>& done() const { return done_; }

 private:
  ObjectStore::Pass pass_;
  const std::atomic<bool>& is_ending_;
  std::uint16_t long_kind_ = 0;  // of what is put next, unless it is removed; 0: any
  ObjectVersion long_;
  Result<void> done_;
};

// Takes what is at one path.
class KeptState::PathSink final : public ObjectSink {
 public:
  PathSink(ObjectStore& store, KindBits kinds) : store_(store), kinds_(kinds) {}

  bool put(const SavedObject& object) override {
    const auto put = store_.put(kinds_, object, std::exchange(version_, {}));
    if (!put) done_ = put;
    return put.has_value();
  }
  bool wants(SavedKind kind, std::string_view label, const ObjectVersion& version) override {
    version_ = version;
    return !store_.has(static_cast<std::uint16_t>(kind), label, version);
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

std::optional<StateFile> KeptState::kept_before(const ObjectStore::Contents& contents) {
  StateFile file{.header = {}, .objects = {}, .faults = contents.faults};
  bool has_mark = false;
  for (const SavedObject& each : contents.objects) {
    if (!is_of(each, SavedKind::kKept)) {
      file.objects.push_back(each);
      continue;
    }
    ByteReader in(each.bytes);
    const std::string_view boot = in.take(file.header.boot.size());
    std::ranges::copy(boot, file.header.boot.begin());
    file.header.saved = get_moment(in);
    has_mark = in.ok() && each.format == kKeptFormat;
  }
  return has_mark ? std::optional(std::move(file)) : std::nullopt;
}

KeptState::KeptState(std::unique_ptr<ObjectStore> store, const Parts& parts, const BootId& boot)
    : store_(std::move(store)), parts_(parts), boot_(boot) {
  for (Branch* const each : parts_.branches) {
    if (each->handles().objects != 0) kept_.push_back(std::make_unique<Kept>(each));
  }
}

void KeptState::start() {
  stop_ = Fd(::eventfd(0, EFD_CLOEXEC));
  work_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  parts_.counters.record(DaemonCounter::kUnsaved, 1, 1, parts_.clock.now());
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
  parts_.counters.record(DaemonCounter::kUnsaved, 1, 1, parts_.clock.now());
  ring(work_);
}

void KeptState::keep_saving() {
  ::prctl(PR_SET_NAME, "tallyfs-keep");
  for (;;) {
    const auto begun = std::chrono::steady_clock::now();
    // In this order: work that is noted in between rings no bell, and is saved now.
    std::uint64_t bells = 0;
    (void)!::read(work_.get(), &bells, sizeof bells);
    has_work_ = false;
    // Looked at before: the cells of a feeder that ends meanwhile are saved once more.
    const bool goes_on = parts_.has_cells();
    const bool is_saved = save_all() && !goes_on;
    if (had_long_object_.exchange(false)) ::malloc_trim(0);
    if (is_saved) note_saved();
    const auto took = std::chrono::ceil<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begun);
    if (wait(std::max(kPause, took * (kShare - 1)), stop_.get())) return;
    if (is_saved && wait(std::nullopt, work_.get())) return;
  }
}

// Work that comes meanwhile may have been recorded before.
void KeptState::note_saved() {
  const Moment now = parts_.clock.now();
  parts_.counters.record(DaemonCounter::kUnsaved, 0, 1, now);
  if (has_work_) parts_.counters.record(DaemonCounter::kUnsaved, 1, 1, now);
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

bool KeptState::save_all() {
  Result<void> done;
  for (const auto& each : kept_) {
    if (auto saved = save_short(*each); !saved) done = std::move(saved);
    if (auto saved = save_long(*each); !saved) done = std::move(saved);
  }
  if (done && !has_mark_.exchange(true)) done = put_mark();
  if (!done && done.error().code == ErrorCode::kInterrupted) return false;
  report(done);
  return done.has_value();
}

// The stamp is older than what is saved: a change meanwhile is saved again.
Result<void> KeptState::save_short(Kept& kept) {
  const MutexLock lock(kept.short_mutex);
  const std::uint64_t stamp = kept.branch->stamp(parts_.clock.now());
  if (kept.short_stamp == stamp) return {};
  ShortSink sink(*store_, kept.branch->handles().objects, is_ending_, had_long_object_);
  kept.branch->save(sink);
  auto done = sink.end();
  if (done) kept.short_stamp = stamp;
  return done;
}

Result<void> KeptState::save_long(Kept& kept) {
  const MutexLock lock(kept.long_mutex);
  const std::uint64_t stamp = kept.branch->stamp(parts_.clock.now());
  if (kept.long_stamp == stamp || !kept.branch->has_long_contents()) return {};
  LongSink sink(*store_, kept.branch->handles().objects, is_ending_);
  kept.branch->save(sink);
  if (sink.done() && !is_ending_) kept.long_stamp = stamp;
  return sink.done();
}

void KeptState::write_through(std::string_view path) {
  note_work();
  if (path.empty()) return;
  // The first one: what the memory has counts only when it has all.
  if (!has_mark_ && !is_failing_) return void(save_all());
  const Moment now = parts_.clock.now();
  for (const auto& each : kept_) {
    PathSink sink(*store_, each->branch->handles().objects);
    const auto where = each->branch->save_at(path, sink, now);
    if (where == Branch::SavedAt::kElsewhere) continue;
    const auto done = where == Branch::SavedAt::kAll ? save_short(*each) : sink.done();
    if (!done) report(done);
    return;
  }
}

Result<void> KeptState::put_mark() {
  std::string bytes(reinterpret_cast<const char*>(boot_.data()), boot_.size());
  ByteWriter out(bytes);
  put_moment(out, parts_.clock.now());
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
  if (done && was_failing) log_info("the state is kept again");
  if (done || was_failing) return;
  const std::string reason = "the state is not kept: " + done.error().reason +
                             ": after a kill of the server, it is as it was before";
  log_error(reason);
  parts_.errors.report(ErrorLog::kDaemon, "state", "keeper", {done.error().code, reason},
                       parts_.clock.now());
}

}  // namespace tallyfs
