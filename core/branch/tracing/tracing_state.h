// What is behind Tracing; its parts are in tracing*.cpp. Everything in it is guarded by its mutex,
// instances included, but for what says otherwise.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/reservation.h"
#include "core/branch/tracing/held_records.h"
#include "core/branch/tracing/tracing.h"

namespace tallyfs {

// The symbols of all sources together, for one call.
class SourceSymbols final : public Symbols {
 public:
  using Sources = std::vector<std::unique_ptr<const Symbols>>;
  explicit SourceSymbols(Sources sources) : sources_(std::move(sources)) {}
  Place place(std::uint64_t address) const override;
  std::string syscall(std::uint64_t number) const override;

 private:
  const Sources sources_;
};

// What is being made a text of, with its share of what readers may keep. Shared by those who read
// the same at once; the last of them lets go of it, without any lock.
struct HistReading {
  HistCopy copy;
  Reservation share;
};

// One tracing directory: the top, or one of instances/. Guarded by the State's mutex.
struct TracingInstance {
  struct System {
    NodeId node = 0;
    bool filled = false;
    std::map<std::string, NodeId, std::less<>> events;
  };

  TracingInstance(std::string its_name, const EventSet::Limits& limits, Reservation its_share)
      : name(std::move(its_name)), set(limits), share(std::move(its_share)) {}

  // The last histograms that somebody looked at, as long as that takes.
  struct LastHist {
    EventNumber event = 0;
    std::uint64_t changes = 0, hits = 0;  // as it was
    std::weak_ptr<const HistReading> reading;
  };

  void count_lost(std::uint64_t records) {
    lost += records;
    cleared_cpus.clear();
  }
  void clear_cpu(std::uint32_t cpu, std::uint32_t cpus) {
    set.clear_trace(cpu);
    cleared_cpus.insert(cpu);
    if (cleared_cpus.size() == cpus) lost = 0;
  }

  const std::string name;  // empty: the top
  EventSet set;
  Reservation share;
  std::size_t held_bytes = 0;  // of the share: histograms, and what buffer_size_kb added
  EventNumber marker = 0;      // ftrace/print
  bool markers = true;         // options/markers
  bool shows_fields = false;   // options/fields: no print formats
  std::string clock = "local";
  std::uint64_t cmdlines_max = 128;  // saved_cmdlines_size
  bool removed = false;              // files that are looked up still lead here, and change nothing
  // What its open files hold: who else owns it, beside this one.
  const std::shared_ptr<const void> open_mark = std::make_shared<char>();
  // Records that it asked for, since `trace` was cleared: at once, or of one CPU after the other,
  // as nobody knows which CPUs' they were.
  std::uint64_t lost = 0;
  std::set<std::uint32_t> cleared_cpus;  // since the last were lost
  std::uint64_t changes = 0;             // another one whenever any text of it is
  Moment last_change;
  LastHist last_hist;
  // Its nodes. Those of systems and events are there when somebody has looked.
  NodeId directory = 0, events = 0;
  bool filled = false;
  std::map<std::string, System, std::less<>> systems;
};

struct Tracing::State : public std::enable_shared_from_this<Tracing::State> {
  // Shared with its files and with directories that somebody looks into.
  using Instance = std::shared_ptr<TracingInstance>;
  using EventPath = std::pair<std::string, std::string>;  // system, event

  static constexpr std::string_view kMarkerSystem = "ftrace";
  static constexpr std::string_view kSyntheticSystem = "synthetic";
  static constexpr std::uint32_t kNoSubject = ~0u;

  // An event as it was offered, and who delivers it.
  struct Offered {
    EventOffer::Form form = EventOffer::Form::kKernelFormat;
    EventSource* source = nullptr;  // nullptr: nobody, now
    std::uint32_t source_id = 0;
    std::uint32_t use = 0;
  };
  struct TakenOver {
    EventSource* from = nullptr;
    EventPath path;
  };
  struct Target {
    TracingInstance* instance = nullptr;
    EventNumber number = 0;
  };
  // Where the records of one source_id go: to those that ask for them.
  struct Route {
    std::vector<Target> targets;
    std::uint32_t subject_at = kNoSubject;  // where in a record stands whom it is about
    std::uint32_t use = 0;                  // of the source_id
  };
  using Routes = std::vector<Route>;  // by source_id
  // What writing into a set has changed for the sources.
  struct Orders {
    std::vector<EventSource*> sources;
    bool asks = false;         // for more than before, or for something else
    bool undelivered = false;  // it asks for what nobody delivers
  };

  State(Tree& its_tree, Ledger& its_ledger, const Options& given)
      : tree(its_tree),
        ledger(its_ledger),
        options(given),
        reading({.per_uid = {.bytes = given.reading_bytes_max},
                 .total = {.bytes = given.reading_bytes_max}}) {}

  // --- tracing.cpp
  Result<Instance> create_instance(std::string name, Moment now) REQUIRES(mutex);
  static Result<EventNumber> define(TracingInstance& instance, std::string_view system,
                                    EventOffer::Form form, std::string_view text);
  // What the top has: what is offered and, if somebody has defined any, synthetic events.
  Result<void> define_all(TracingInstance& instance) REQUIRES(mutex);
  // taken: whose event it was that the kernel's took the place of.
  Result<void> take_offer(EventSource& source, const EventOffer& offer, Moment now,
                          std::vector<TakenOver>& taken) REQUIRES(mutex);
  // kExists: it is another source's, or is in use as it was.
  Result<void> may_offer(EventSource& source, const EventOffer& offer, const EventPath& path)
      REQUIRES(mutex);
  void take_over(const EventPath& path, const EventOffer& offer, Moment now,
                 std::vector<TakenOver>& taken) REQUIRES(mutex);
  // Events that nobody delivers, and nothing is set on any more.
  void forget_unused(Moment now) REQUIRES(mutex);
  void connect(const EventPath& path, const Offered& offered) REQUIRES(mutex);
  bool in_use(const EventPath& path) REQUIRES(mutex);
  void forget(const EventPath& path) REQUIRES(mutex);
  void drop_targets(const TracingInstance& instance) REQUIRES(mutex);
  static void touch(TracingInstance& instance, Moment now) {
    instance.changes += 1;
    instance.last_change = now;
  }
  std::vector<WantedEvent> wanted(EventSource& source) EXCLUDES(mutex);
  // The demands that have changed, entered into the routes.
  void update_routes(TracingInstance& instance, Orders& orders) REQUIRES(mutex);
  Orders orders_of(EventSource& source) REQUIRES(mutex);
  Result<void> give(const Orders& orders, const CancellationToken& cancel) EXCLUDES(mutex);

  // --- tracing_feed.cpp
  bool is_left_out(const Route& route, const EventRecord& record) const REQUIRES(mutex);
  // False: nobody asks for it, or it is left out.
  bool feed(const Route& route, const EventRecord& record) REQUIRES(mutex);
  void feed_held(const HeldRecords::Waiting& waiting) REQUIRES(mutex);
  void feed_marker(TracingInstance& instance, const EventRecord& record) REQUIRES(mutex);
  void release(std::uint64_t until_ns) REQUIRES(mutex);
  // Somebody looks: what happened before refresh() is all there.
  void release_drained(Moment now) REQUIRES(mutex);
  bool waits_for_late() const REQUIRES(mutex);
  bool waits_for_programs() const REQUIRES(mutex);
  // Whether others may still tell of what happened before what a source tells that is not late.
  bool may_be_overtaken() const REQUIRES(mutex);
  void note_what_is_asked() REQUIRES(mutex);
  std::uint64_t ready_until_ns(Moment now) const REQUIRES(mutex);
  void release_due(Moment now) REQUIRES(mutex);
  void release_old(Moment now) REQUIRES(mutex);
  void release_and_touch(std::uint64_t until_ns, Moment now) REQUIRES(mutex);
  // Those that ask this source for anything.
  std::set<TracingInstance*> fed_by(EventSource& source) REQUIRES(mutex);
  void count_lost(const std::set<TracingInstance*>& by, std::uint64_t records, Moment now)
      REQUIRES(mutex);
  template <typename Use>
  void each_instance(const Use& use) REQUIRES(mutex) {
    use(*top);
    for (const auto& [name, instance] : instances) use(*instance);
  }

  // --- tracing_access.cpp: what files call
  using Write = std::function<Result<void>(EventSet&)>;
  using Undo = std::function<void(EventSet&)>;
  // Drains the sources, so that the write has its place among the records, writes, and asks the
  // sources for what that needs; if they refuse, undo takes it back. Without an undo, that does not
  // count.
  Result<void> change(TracingInstance& instance, const CallContext& call, const Write& write,
                      const Undo& undo = {}) EXCLUDES(mutex);
  // The same without sweep().
  Result<void> change_only(TracingInstance& instance, const CallContext& call, const Write& write,
                           const Undo& undo = {}) EXCLUDES(mutex);
  // What is there only because something was set on it goes.
  void sweep(Moment now) EXCLUDES(mutex);
  // A synthetic event is one of all instances, as in the kernel. removed: its name, "*" for all,
  // empty if it is to be defined; one that is in use in any of them is removed from none.
  Result<void> change_synthetic(const Write& write, std::string_view removed, Moment now)
      EXCLUDES(mutex);
  static bool is_synthetic_used(const TracingInstance& instance, std::string_view name);
  Result<void> hold_memory(TracingInstance& instance) REQUIRES(mutex);
  // What the sources have recorded so far is fed; only: in as far as it matters to this instance.
  // Sources that nobody asks for anything are left alone.
  void refresh(const CallContext& call, const TracingInstance* only = nullptr) EXCLUDES(mutex);
  // kInvalid: options/markers is off.
  Result<void> mark(TracingInstance& instance, std::string_view text, pid_t writer, Moment now)
      EXCLUDES(mutex);
  SourceSymbols symbols(const CancellationToken& cancel) EXCLUDES(mutex);
  std::string lost_line(const TracingInstance& instance) EXCLUDES(mutex);
  // A share of what readers may keep. kNoSpace: others have it.
  Result<Reservation> reserve_reading(std::uint64_t bytes);
  using Reading = std::shared_ptr<const HistReading>;
  Result<Reading> read_hist(TracingInstance& instance, EventNumber event) REQUIRES(mutex);
  // Whether anybody delivers any.
  bool has_kernel_events() EXCLUDES(mutex);

  // --- tracing_directories.cpp
  Result<void> make_instance(std::string_view name, Moment now) EXCLUDES(mutex);
  Result<void> remove_instance(std::string_view name, Moment now) EXCLUDES(mutex);
  void enter_files(const Instance& instance, Moment now) REQUIRES(mutex);
  void enter_buffers(const Instance& instance, Moment now) REQUIRES(mutex);
  void enter_options(const Instance& instance, Moment now) REQUIRES(mutex);
  // The directories of systems and events, in as far as somebody has looked, are those of the set.
  void update_directories(const Instance& instance, Moment now) REQUIRES(mutex);
  void update_all_directories(Moment now) REQUIRES(mutex);
  void update_all_directories(const EventPath& path, Moment now) REQUIRES(mutex);
  // The same where only this event has come or gone.
  void update_directories(const Instance& instance, const EventPath& path, Moment now)
      REQUIRES(mutex);
  void update_system(const Instance& instance, const std::string& system, Moment now)
      REQUIRES(mutex);
  void enter_event(const Instance& instance, const EventPath& path, Moment now) REQUIRES(mutex);
  void enter_system(const Instance& instance, const std::string& system, Moment now)
      REQUIRES(mutex);

  Tree& tree;
  Ledger& ledger;
  const Options options;
  Ledger reading;

  Mutex mutex{LockRank::kTracing};
  Instance top;
  std::map<std::string, Instance, std::less<>> instances GUARDED_BY(mutex);
  NodeId instances_directory GUARDED_BY(mutex) = 0;
  std::map<EventPath, Offered> offered GUARDED_BY(mutex);
  std::set<EventPath> undelivered GUARDED_BY(mutex);  // those of `offered` that have no source
  std::map<EventSource*, Routes> routes GUARDED_BY(mutex);
  std::vector<EventSource*> sources GUARDED_BY(mutex);
  HeldRecords held GUARDED_BY(mutex);
  std::uint64_t drained_ns GUARDED_BY(mutex) = 0;  // until when no late source has anything left
  // waits_for_late(), waits_for_programs(), as of the last change.
  bool late_is_asked GUARDED_BY(mutex) = false, programs_are_asked GUARDED_BY(mutex) = false;
  std::uint64_t late_told_ns GUARDED_BY(mutex) = 0;   // the youngest record of a late source
  std::vector<pid_t> left_out GUARDED_BY(mutex);      // in order
  std::uint64_t left_out_mask GUARDED_BY(mutex) = 0;  // a bit for each, by its lower six
};

// Of a file that was looked up before its instance went.
inline Error removed_instance() { return {ErrorCode::kStale, "the instance was removed"}; }

}  // namespace tallyfs
