// An interface: statistics that belong together, under one lock. A read sees all of them at one
// moment; a line without name= changes all of them in one step, or many of them in several.
//
// Thread-safe; the one lock is Interface::mutex_. Data are copied for a reader under it and
// rendered outside. An interface knows the names of its statistics but not its own: the tree names
// it.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/boot.h"
#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/base/keyed_hash.h"
#include "core/base/ledger.h"
#include "core/base/line_progress.h"
#include "core/base/mutex.h"
#include "core/base/reservation.h"
#include "core/base/result.h"
#include "core/model/input_position.h"
#include "core/model/sample.h"
#include "core/statistics/definition/change.h"
#include "core/statistics/definition/definition.h"
#include "core/statistics/definition/feed.h"
#include "core/statistics/interface/cell_looks.h"
#include "core/statistics/interface/statistic.h"
#include "core/statistics/interface/statistic_row.h"

namespace tallyfs::statistics {

// Samples of one statistic that arrived together. The statistic must be one of the interface that
// is given the run.
struct Run {
  Statistic* statistic = nullptr;
  std::span<const Sample> samples;
};

// Bytes that the ledger counts for an interface and a statistic beside their data and their texts:
// the objects themselves, what feeders see of them, and the tree's part of each (node, path,
// index). A statistic's name stands here and in its path, and counts twice; an interface's is in
// its share.
inline constexpr std::uint64_t kInterfaceBytes = 2560;
inline constexpr std::uint64_t kStatisticBytes = 704;

class Interface {
 public:
  static constexpr std::size_t kViewsBound = 16;  // of one statistic

  // Holds its share of the ledger for uid until it dies; the ledger outlives it. kNoSpace when the
  // uid has no room for one more interface.
  static Result<std::unique_ptr<Interface>> create(Ledger& ledger, uid_t uid, Timestamp now);
  ~Interface();

  // Appends a statistic. text is what a definition line may say, without name=: type and
  // attributes (all of the type's, or no type at all for the default), on=1, units=. The pointer
  // is good until the statistic is removed; only the tree, which names both, keeps it.
  // kInvalid: the name or a value (token_at counts from the start of text); kExists; kNoSpace.
  // In a strict text each word must mean something for the new statistic.
  Result<Statistic*> create_statistic(std::string_view name, std::string_view text, Timestamp now,
                                      Strictness strictness = Strictness::kTolerant);
  // Whether such a text has of=SOURCE, and so is one for create_view().
  static bool is_of_a_view(std::string_view text);
  // False, too: there is no statistic of that name.
  bool is_view(std::string_view name) const;
  // Appends a view of the statistic of=SOURCE, which is on unless the text says on=0. Without type=
  // it has the definition of its source. False: there is that very view already, and it stays as it
  // is. kNotFound: no such source; else as above.
  Result<bool> create_view(std::string_view name, std::string_view text, Timestamp now,
                           Strictness strictness = Strictness::kTolerant);
  // The difference between a statistic that is there and what such a text would make: "type=range
  // on=0". "": nothing, or no statistic of that name. Of a tolerant text, what users have asked for
  // is no difference. kInvalid: the text is refused where the statistic is new, too.
  Result<std::string> difference(std::string_view name, std::string_view text,
                                 Strictness strictness) const;
  // Such a text may say which units the samples of a feeder have, which are integers of its
  // decimals. Why it is refused: those of the statistic that is there have others, to which they do
  // not add up, whatever users have made of its units since.
  std::optional<Error> refuse_sample_units(std::string_view name, std::string_view text) const;
  // Sets these units for a statistic that is there, unless a feeder has done so before. kNoSpace.
  Result<void> note_sample_units(std::string_view name, std::string_view text);
  // Nullptr when there is none of that name.
  Statistic* find(std::string_view name) const;
  // With its views. False when there is none of that name.
  bool remove_statistic(std::string_view name, Timestamp now);
  // With views.
  std::size_t size() const;
  // The one that was created last, or that it is a view of. Nullptr: there is none.
  Statistic* last() const;
  // Removes it and its views, as a step of removing all: what it has counted is not looked at.
  void drop(Statistic& gone, Timestamp now);
  // The statistics that take samples of their own: all but views.
  std::vector<Statistic*> statistics() const;

  // From now on feeders see there whether the statistic is on, and how it is counted; by default
  // nowhere.
  void publish_at(Statistic* statistic, const Published& at);

  // A feeder has cells of the statistic, under this id of its own. kNoSpace.
  Result<void> bind_cells(Statistic* statistic, std::shared_ptr<const CellSource> source,
                          std::uint32_t id);
  // As bind_cells(), where its uid may not feed the interface: cells that the server before has
  // taken out are not bound by the next one.
  void find_taken_out(Statistic* statistic, const std::shared_ptr<const CellSource>& source,
                      std::uint32_t id);
  // The feeder has ended: what its cells hold becomes the statistic's own. No others are read.
  // False: some are left, as it was late.
  bool absorb_cells(Statistic* statistic, const CellSource* source, Timestamp now,
                    const IsLate& is_late);
  // No feeder counts in cells from now on; what was counted is kept.
  void end_cells(Timestamp now, CellBudget& budget);

  // Adds samples to running statistics and their running views, and ignores the others'; each span
  // in its order, under one lock for all. Times must be set. Returns how many counters reached the
  // end of their type in this call for the first time since their reset (0: all is well).
  // takes: for input that is taken in again, which statistics and views do not have it; nullptr:
  // none has.
  using Takes = std::function<bool(const Statistic& statistic)>;
  std::size_t add(std::span<const Run> runs, Timestamp now, const Takes* takes = nullptr);

  // The origin of a change. A user's change stays when defaults come later.
  enum class By { kUser, kRule };
  // One line of the definition file, by GRAMMAR.md: takes effect whole or not at all.
  // kInvalid, kNotFound (no statistic of that name), kNoSpace; token_at is an offset into line.
  // Strict: as a line with strict=1, where each word must mean something for one of its statistics.
  // What it discards is kept for 60 s, for undo=1 (discarded_data.h).
  Result<void> define(std::string_view line, Timestamp now, By by = By::kUser,
                      Strictness strictness = Strictness::kTolerant);
  // One step of the same. False: it was cut, as it was late, and the same line with the same
  // progress goes on. So only of a line for all, which changes kLineAtOnce of them at once; if the
  // quota fills between two steps, it ends there with kNoSpace.
  static constexpr std::size_t kLineAtOnce = 1024;
  Result<bool> define_step(std::string_view line, Timestamp now, const LineStep& step,
                           Strictness strictness = Strictness::kTolerant, By by = By::kUser);
  // As define(), for a feeder's defaults, which need name=, and behind them the lines of rules that
  // can be applied, all in one step; views that rules have made begin anew, too. What users have
  // asked for since the creation of the statistic stays, and a definition that comes out as it was
  // keeps the data.
  Result<void> define_default(std::string_view line, std::span<const std::string> rules,
                              Timestamp now, Strictness strictness = Strictness::kTolerant);

  // A remark on a line that define() has taken: a key that was ignored, see find_ignored_key();
  // quantiles that are all below 1; scale=log2 that was given no range to begin at; data that were
  // discarded for good.
  std::optional<Error> remark(std::string_view line) const;
  // A remark on a text that create_statistic() has taken.
  static std::optional<Error> remark_on_new(std::string_view text, Strictness strictness);

  // The text of the definition file and of the data file at this moment. kNoSpace when it would be
  // longer than bytes_max: data are copied unless that is certain before, and measured, but not
  // rendered; definitions are rendered for no more than one line beyond. Beside the text, rendering
  // takes no more memory than the text has bytes.
  // Rendered right behind version() or look(), a text need not look again.
  enum class Look { kNow, kDone };
  Result<std::string> render_definition(std::size_t bytes_max, Look look = Look::kNow) const;
  Result<std::string> render_data(Timestamp now, std::size_t bytes_max, Look look = Look::kNow);
  // The exact length of the text of the data file, right behind look(); kNoSpace as above.
  Result<std::size_t> data_length(Timestamp now, std::size_t bytes_max);
  // Both as JSON, all of one moment: the text of data.json (docs/json.md). name: the interface's.
  // epoch: of the daemon. kNoSpace as above; a short text is rendered, one element beyond at most.
  Result<std::string> render_json(std::string_view name, std::uint64_t epoch, Timestamp now,
                                  std::size_t bytes_max);

  // All statistics at one moment, for metrics. What the copies hold is used again. Here and below,
  // the budget is for all interfaces that are looked at together.
  void copy(std::vector<StatisticCopy>& copies, Timestamp now, CellBudget& budget);

  // The interface's members in statistics.json.
  struct Overview {
    std::uint64_t statistics = 0;
    std::uint64_t on = 0;
    std::uint64_t samples = 0;  // taken since its creation; those for views too count once
    std::uint64_t version = 0;
  };
  Overview overview(Timestamp now, CellBudget& budget);

  // Counts the changes of data and definition so far.
  std::uint64_t version(Timestamp now, CellBudget& budget);
  std::uint64_t version(Timestamp now);
  // The version at the last look.
  std::uint64_t changes() const;
  // When data or definition last changed (a history whose period ended has changed).
  Timestamp last_change(Timestamp now);
  // Both, by one look at what feeders count in cells.
  struct State {
    std::uint64_t version = 0;
    Timestamp last_change;
  };
  State look(Timestamp now);

  uid_t uid() const;
  // The owner's uid, and which uids may feed it, as members of an object. Returns the writer.
  JsonWriter& write_rights(JsonWriter& json) const;
  // A look without a lock. The branch looks before it adds samples or binds cells.
  Feed feed() const { return feed_.load(std::memory_order_relaxed); }
  // kOwner: cells of uids that may not feed it are taken out. What they hold until then counts, and
  // what comes later is refused. False: some are left, as it was late; the same call goes on.
  bool set_feed(Feed feed, Timestamp now, const IsLate& is_late = never_late);
  // Where samples are counted that are refused in cells. The counter outlives the interface.
  void count_refused_in(std::atomic<std::uint64_t>& refused) { refused_ = &refused; }

  // Everything, versioned; load() gives an interface whose files read as the saved one's. Of more
  // than kLineAtOnce statistics as many are of one moment, those that it has when it begins.
  // kInvalid: not what save() writes; kNoSpace.
  void save(ByteWriter& out, CellBudget& budget) const;
  static Result<std::unique_ptr<Interface>> load(ByteReader& in, Ledger& ledger);
  // As save(), for the next server of a mount, in which feeders go on as if it were this one:
  // load() and resume() in one. Each statistic that feeders knew is to be given to resume_at() or
  // publish_at() before anything else. save_for_successor() completes what has ended by now, too.
  // Each statistic is saved with the input that it has then.
  void save_for_successor(ByteWriter& out, CellBudget& budget,
                          const AtInput& at_input = at_no_input) const;
  void save_for_successor(ByteWriter& out, Timestamp now, CellBudget& budget);
  static Result<std::unique_ptr<Interface>> load_transferred(ByteReader& in, Ledger& ledger);
  // As save_for_successor(), of statistics alone that were changed, each as a line may name it,
  // with its views; and which of them are not there any more. It saves at least one of the names,
  // under one hold of the lock; the caller saves the others in further calls.
  struct SavedChanges {
    std::size_t names;
    std::uint64_t version;  // up to which these are the interface's changes
  };
  SavedChanges save_changes(ByteWriter& out, std::span<const std::string> names,
                            const AtInput& at_input = at_no_input) const;
  // Right behind load_transferred(): such changes in their order, but for those that the interface
  // has already. Of changes that cannot be taken nothing is taken, and the first error is returned:
  // kInvalid: not what save_changes() writes; kNoSpace.
  Result<void> load_changes(std::span<const std::string> all);
  // Which input the statistics had when they were saved, views too: once, behind load_transferred()
  // and load_changes().
  using SavedInput = boost::unordered_flat_map<const Statistic*, InputPosition>;
  SavedInput take_saved_input();
  // SavedChanges::version of what save_changes() has written.
  static std::uint64_t version_of_changes(std::string_view changes);
  // The version is this one from now on, unless it is higher.
  void raise_version(std::uint64_t version);
  // As publish_at(), with what the server before has published there: cells go on in their era.
  void resume_at(Statistic* statistic, const Published& at);
  // Definitions and data of the statistics that both have, and the other's views of these. Returns
  // the names of those for which there is no room. The other one is not used any more.
  std::vector<std::string> take_data(Interface& other, Timestamp now);
  // After load() in another daemon: until now nothing was measured, so that histories have no
  // periods for the time between. Of another boot, times are 0, and data that consist of times
  // begin empty.
  void resume(Boot boot, Timestamp now);

 private:
  struct NameOf {
    std::string_view operator()(const Statistic& statistic) const { return statistic.name(); }
  };
  using ByName = boost::unordered_flat_set<Statistic*, NameHash<Statistic, NameOf>,
                                           NameEqual<Statistic, NameOf>>;

  Interface(Reservation reservation, Timestamp now);

  // The holdings of a statistic for the ledger.
  static Holdings holdings_of(std::string_view name, const Definition& definition,
                              std::uint64_t data_bytes);
  static Holdings holdings_of(const Statistic& statistic);

  Statistic* find_locked(std::string_view name) const REQUIRES(mutex_);
  // Finds a name as labels.h says that it may be typed.
  Statistic* find_typed(std::string_view name) const REQUIRES(mutex_);
  Statistic* append(std::unique_ptr<Statistic> statistic) REQUIRES(mutex_);
  Result<Statistic*> find_source(const Change& change, std::string_view view) const
      REQUIRES(mutex_);
  Result<void> check_view(const Change& change, const Statistic& named) const REQUIRES(mutex_);
  static Result<Definition> view_definition(const Change& change, const Statistic& source);
  static Result<void> check_decimals(const Change& change, const Statistic& source);
  // kInvalid: it would change the decimals of one whose feeder sends integers of them.
  static Result<void> keep_sample_scale(const Change& change, const Statistic& statistic);
  void forget_discarded_scale(const Statistic& statistic) REQUIRES(mutex_);
  // Gives views the decimals that their source has been given.
  void sync_views(Statistic& source, Timestamp now) REQUIRES(mutex_);
  Result<void> append_view(std::string_view name, Statistic& source, std::string_view line,
                           const Change& change, Timestamp now, By by) REQUIRES(mutex_);
  void follow(const Statistic& source, const Change& change, Timestamp now) REQUIRES(mutex_);
  Result<bool> define_view(std::string_view line, const Change& change, Timestamp now, By by)
      REQUIRES(mutex_);
  static Result<void> check_all_read(std::string_view line, const Change& change,
                                     const Statistic& named);
  // Visits those that a line is for, until a visit fails or the step is over, which is false.
  template <typename Visit>
  Result<bool> each_change(const Change& change, Statistic* named, const LineStep& step,
                           Visit visit) REQUIRES(mutex_);
  static Result<Definition> definition_after(const Change& line, const Statistic& statistic,
                                             const Change& change);
  struct Effect;
  Result<bool> plan(std::string_view line, const Change& change, Statistic* named, bool is_whole,
                    const LineStep& step) REQUIRES(mutex_);
  Result<bool> redefine(std::string_view line, const Change& change, Statistic* named,
                        Timestamp now, By by, const LineStep& step) REQUIRES(mutex_);
  Result<void> change_one(Statistic& statistic, const Change& change, Effect& effect)
      REQUIRES(mutex_);
  Result<void> make_room(std::uint64_t more, Effect& effect) REQUIRES(mutex_);
  Result<void> become(Statistic& statistic, const Change& change, Definition after, Timestamp now)
      REQUIRES(mutex_);
  void remove(Statistic& gone) REQUIRES(mutex_);
  // As remove(), without the ledger.
  void take_out(Statistic& gone) REQUIRES(mutex_);
  Result<bool> undo(const Change& change, Statistic* named, Timestamp now, const LineStep& step)
      REQUIRES(mutex_);
  std::uint64_t restore(Statistic& statistic, Timestamp now, CellBudget& budget) REQUIRES(mutex_);
  // As the statistic's, and keeps what the change discards, if there is room.
  bool carry_out(Statistic& statistic, const Change& change, Definition after, Timestamp now,
                 CellBudget& budget) REQUIRES(mutex_);
  bool carry_out(Statistic& statistic, const Change& change, Timestamp now, CellBudget& budget)
      REQUIRES(mutex_);
  std::optional<Discarded> discarded_just_before(const Statistic& statistic, const Change& change,
                                                 Timestamp now) const REQUIRES(mutex_);
  std::optional<Discarded> room_for_discarded(const Statistic& statistic, const Change& change,
                                              const Definition& after, Timestamp now)
      REQUIRES(mutex_);
  void forget_discarded(const Statistic& statistic) REQUIRES(mutex_);
  void forget_expired(Timestamp now) REQUIRES(mutex_);
  void write_undo(const Statistic& statistic, JsonWriter& json) const REQUIRES(mutex_);
  std::optional<Error> remark_on_discarded(const Change& change) const REQUIRES(mutex_);
  Result<void> take_data(Statistic& from, Statistic& to) REQUIRES(mutex_);
  Result<void> take_view(Statistic& from, Timestamp now) REQUIRES(mutex_);
  // Statistics that changes replace: those of these names, with their views.
  using Replaced = boost::unordered_flat_set<Statistic*>;
  Replaced replaced_by(std::span<const std::string_view> names) const REQUIRES(mutex_);
  Result<void> take_changes(ByteReader& in) EXCLUDES(mutex_);
  Result<void> make_room_for(std::span<const std::unique_ptr<Statistic>> changed,
                             const Replaced& replaced) REQUIRES(mutex_);
  void take_changed(std::vector<std::unique_ptr<Statistic>> changed, Replaced replaced)
      REQUIRES(mutex_);
  void take_one_changed(std::unique_ptr<Statistic> changed) REQUIRES(mutex_);
  SavedChanges save_changes_at(ByteWriter& out, std::span<const std::string> names,
                               const InputPosition& input) const;
  template <typename Begin, typename Each>
  void save_in_steps(ByteWriter& out, CellBudget& budget, const AtInput& at_input, Begin begin,
                     Each each) const;
  void save_head(ByteWriter& out, std::uint64_t samples, std::uint32_t count) const
      REQUIRES(mutex_);
  static void save_statistic(ByteWriter& out, const Statistic& statistic, Statistic::Cells cells);
  void advance(Timestamp now, CellBudget& budget) REQUIRES(mutex_);
  // Advances by a look at the cells of its own, unless another's has served.
  template <typename Call>
  void advance_for(const Call& call, Timestamp now) REQUIRES(mutex_);
  void pass_time(Timestamp now) REQUIRES(mutex_);
  void read_cells(CellBudget& budget) const REQUIRES(mutex_);
  bool count_cells(Statistic& statistic) REQUIRES(mutex_);
  static Error too_long(std::size_t bytes_max);
  // The contents of the data file, and how many bytes they take.
  struct Measured;
  Result<Measured> measure_data(Timestamp now, std::size_t bytes_max, Look look) EXCLUDES(mutex_);
  std::uint64_t data_bytes_min() const REQUIRES(mutex_);
  std::uint64_t definition_bytes_min() const REQUIRES(mutex_);
  // Samples came, or time passed. Whatever else changes is noted by note_change().
  void note_samples(Timestamp now) REQUIRES(mutex_);
  void note_change(Timestamp now) REQUIRES(mutex_);
  // A summary of all statistics, which holds as long as they get nothing but samples, so that an
  // interface in which nothing moves by itself is not walked through at each look.
  struct Standing {
    std::uint64_t on;
    bool has_running_history;
  };
  const Standing& standing() REQUIRES(mutex_);

  const uid_t uid_;
  std::atomic<Feed> feed_{Feed::kAny};
  mutable CellLooks cell_looks_;
  mutable Mutex mutex_{LockRank::kInterface};
  Reservation reservation_ GUARDED_BY(mutex_);
  Timestamp last_change_ GUARDED_BY(mutex_);
  std::uint64_t version_ GUARDED_BY(mutex_) = 0;
  std::optional<Standing> standing_ GUARDED_BY(mutex_);  // nothing: to be counted anew
  std::uint64_t samples_ GUARDED_BY(mutex_) = 0;
  std::atomic<std::uint64_t>* refused_ = nullptr;  // nullptr: they are counted nowhere
  // The rounds of opens of this one alone. Nullptr: no statistic has had cells of feeders.
  std::unique_ptr<CellRounds> cell_rounds_ GUARDED_BY(mutex_);
  // In the order of their creation, which is that of the files.
  StatisticRow statistics_ GUARDED_BY(mutex_);
  ByName by_name_ GUARDED_BY(mutex_);
  std::unique_ptr<DiscardedData> discarded_ GUARDED_BY(mutex_);  // nullptr: nothing was
  std::unique_ptr<SavedInput> saved_input_ GUARDED_BY(mutex_);   // until take_saved_input()
};

}  // namespace tallyfs::statistics
