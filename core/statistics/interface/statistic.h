// A statistic: a definition, whether it is on, since when, and what it has gathered. One that is a
// view gets every sample that its source gets, and none else; only the switch of the source tells
// feeders whether samples are wanted, by the source or by one of its views.
//
// Confined to its Interface's lock, except name(), which never changes, decimals() and prefetch().
// Outside of the Interface, a Statistic* is only a handle, to be passed back in a Run. What the
// types promise is in statistic_type.h.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/boot.h"
#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/result.h"
#include "core/model/sample.h"
#include "core/statistics/definition/change.h"
#include "core/statistics/definition/definition.h"
#include "core/statistics/interface/discarded_data.h"
#include "core/statistics/interface/feeder_cells.h"
#include "core/statistics/interface/shared_run.h"
#include "core/statistics/interface/statistic_copy.h"
#include "core/statistics/types/snapshot_of.h"
#include "core/statistics/types/types.h"

namespace tallyfs::statistics {

class StatisticRow;

class Statistic {
 public:
  // Off and empty; data, started and stopped are all `now`. The definition came out of apply().
  Statistic(std::string_view name, Definition definition, Timestamp now);

  const std::string& name() const { return name_; }
  const Definition& definition() const { return definition_; }
  // The definition's. A thread without the lock may see the former ones for a moment.
  unsigned decimals() const { return __atomic_load_n(&decimals_, __ATOMIC_RELAXED); }
  // The source of a view; nullptr: this is not a view.
  const Statistic* source() const { return links_ ? links_->source : nullptr; }
  bool has_views() const { return has_views_; }
  std::span<Statistic* const> views() const {
    return links_ ? std::span(links_->views.get(), links_->views_size)
                  : std::span<Statistic* const>();
  }
  // As LineState has it.
  std::string_view help() const { return texts().help; }
  // The units that feeders have said their samples have. What users make of units= later is a label
  // for people, and does not change them. Nothing: no feeder has said any.
  std::optional<std::string_view> sample_units() const;
  void set_sample_units(std::string_view units);
  // The bytes of both texts: as they are, with these units of samples, and of a statistic that is
  // created.
  std::size_t text_bytes() const { return texts().help.size() + texts().sample_units.size(); }
  std::size_t text_bytes_with(std::string_view sample_units) const;
  static std::size_t new_text_bytes(const Change& change, const Definition& definition);
  // The view has no source yet. It must be detached before either goes.
  void attach_view(Statistic& view);
  void detach_view(Statistic& view);

  // Heap that its data may come to hold: what the ledger is told.
  std::uint64_t worst_case_bytes() const;
  // The bytes that the ledger is to count in addition when the change has been carried out, with
  // `after` as its definition; below 0 it wraps.
  std::uint64_t growth_by(const Change& change, const Definition& after) const;

  struct Added {
    bool changed = false;    // it was on, and there was a sample, in range or not
    bool saturated = false;  // a counter reached its end, and none had since the last reset
  };
  Added add(std::span<const Sample> samples, std::chrono::nanoseconds now);
  // As add() above, for one of a source and its views.
  Added add(const SharedRun& run, std::chrono::nanoseconds now);
  // Has the processor fetch what add() will look at; changes nothing, and needs no lock.
  void prefetch() const {
    __builtin_prefetch(this, 1);
    __builtin_prefetch(reinterpret_cast<const char*>(&hits_out_of_range_) - 1, 1);
  }
  // As prefetch(), for what the data hold elsewhere; under the lock.
  void prefetch_data() const {
    std::visit(
        [](const auto& gathered) {
          if constexpr (requires { gathered.prefetch(); }) gathered.prefetch();
        },
        gathered_);
  }

  // As prefetch(), for copy(), which reads nearly all of it.
  void prefetch_whole() const {
    constexpr std::size_t kLine = 64;
    const char* const begin = reinterpret_cast<const char*>(this);
    for (std::size_t at = 0; at < sizeof *this; at += kLine) __builtin_prefetch(begin + at);
  }

  // Carries out what a line asks for; `after` is what apply() made of the change and definition().
  // False when nothing is different now.
  // budget: for what cells hold, as far as it is to be known before they begin anew. kept: nullptr,
  // or where the data that it discards are to go.
  bool carry_out(const Change& change, Definition after, Timestamp now, CellBudget& budget,
                 Discarded* kept = nullptr);
  // As above, for a change that leaves the definition as it is.
  bool carry_out(const Change& change, Timestamp now, CellBudget& budget,
                 Discarded* kept = nullptr);
  // Has that definition and data again, and adds what was gathered since if both have the same
  // definition and a type that adds up. Returns how many samples are lost else.
  std::uint64_t restore(Discarded discarded, Timestamp now, CellBudget& budget);

  // Lets a running history's time pass; true when a period ended.
  bool advance(std::chrono::nanoseconds now);
  // Whether there is such time. It changes with the definition, with on, and with other data.
  bool moves_by_itself() const {
    constexpr auto has_time = []<typename Type>(const Type&) {
      return requires(Type& gathered) { gathered.advance(std::chrono::nanoseconds()); };
    };
    return on_ && std::visit(has_time, gathered_);
  }

  // From now on feeders see there whether it is on, and how it is counted; by default nowhere.
  void publish_at(const Published& at);
  // No feeder counts its samples in cells any more.
  void end_cells(CellBudget& budget);
  // Cells of it are there under this id of the feeder's. owner: the interface's. False: there is no
  // room for more.
  bool bind_cells(std::shared_ptr<const CellSource> source, std::uint32_t id, uid_t owner);
  // As Interface.
  void find_taken_out(const std::shared_ptr<const CellSource>& source, std::uint32_t id);
  // Makes what the cells of a feeder that has ended hold its own. No other cells are read. False:
  // some are left, as it was late.
  bool absorb_cells(const CellSource* source, const IsLate& is_late);
  // As above, for all feeders of uids that are neither trusted nor the interface's owner. What they
  // add from now on is refused. False: some are left, as it was late.
  bool take_out_cells_of_others(const IsLate& is_late);
  void let_others_feed();
  // Samples in cells of others, since the last call.
  std::uint64_t take_refused();
  // Looks at what the cells hold now. What is shown from then on includes it.
  void read_cells(CellBudget& budget) const;
  // Counts the samples that cells held at the last look, and were not counted yet.
  std::uint64_t count_cells();
  // How many samples cells held at the last look that were not counted yet.
  std::uint64_t uncounted_in_cells() const { return has_cells_ ? cells()->uncounted() : 0; }
  // As above, with the samples that count_cells() has not returned yet.
  std::uint64_t untold_in_cells() const { return cells() ? cells()->untold() : 0; }

  // Remembers what users have asked for, which stays when a feeder's defaults come.
  void note_asked(const Change& change) {
    asked_definition_ = asked_definition_ || change.redefines();
    asked_on_ = asked_on_ || change.on.has_value();
  }
  // A feeder's default without the parts that its users have set.
  Change left_of(Change change) const;
  // Remembers that a rule has made this view.
  void note_rule() { of_rule_ = true; }
  // A rule has made it, and no user has redefined it since. On and off do not count.
  bool is_as_ruled() const { return of_rule_ && !asked_definition_; }

  // Samples taken while on, since it was created: in range or not, whatever was reset since.
  std::uint64_t samples() const { return samples_; }
  // Since when it gathers: its creation, or when data were discarded.
  std::chrono::nanoseconds data_since() const { return data_since_; }
  bool is_on() const { return on_; }

  // Appends its line of the definition file, of at least definition_bytes_min().
  void render_definition(std::string& out) const;
  std::uint64_t definition_bytes_min() const;
  // Writes the same, and its samples, as members of an object.
  void write_members(JsonWriter& json) const;

  // The contents of its lines of the data file; a copy, confined to its owner.
  class Snapshot {
   public:
    // How many bytes render() appends.
    std::uint64_t text_length() const;
    // Appends the lines, and keeps nothing that they were made of.
    void render(std::string& out) &&;

   private:
    friend Statistic;
    using Copied = SnapshotsOf<TypeData>;

    Snapshot(std::string name, unsigned decimals, Copied copied)
        : name_(std::move(name)), decimals_(decimals), copied_(std::move(copied)) {}

    std::string name_;
    unsigned decimals_;
    Copied copied_;
  };
  // The data of the statistic and its cells, as of the last advance() and read_cells().
  TypeData gathered() const;
  // Copies what metrics need, as of the last advance().
  void copy(StatisticCopy& to) const;
  // As of the last advance().
  Snapshot snapshot() const;
  // Its lines of the data file have at least so many bytes; 0 when there are none. O(1).
  std::uint64_t data_bytes_min() const;
  // Its `values` in JSON have at least so many bytes. O(1).
  std::uint64_t values_bytes_min() const;

  // kApart: without what cells of feeders hold that live. See save_marks().
  enum class Cells { kIncluded, kApart };
  void save(ByteWriter& out, Cells cells = Cells::kIncluded) const;
  // kInvalid: not what save() writes. Takes no more memory than the bytes and one array account
  // for.
  static Result<Statistic> load(ByteReader& in);
  // See Interface::resume().
  void resume(Boot boot, Timestamp now);
  // Extra state for a reload, which save() leaves out; to be restored after load(). Fails the
  // reader.
  void save_marks(ByteWriter& out) const;
  void load_marks(ByteReader& in);
  // The number under which feeders knew it in the server before; nothing: they did not. Behind
  // load_marks(), before anything else.
  std::optional<std::uint64_t> number_before() const;
  // See Interface.
  void resume_at(const Published& at);
  void take_data(Statistic& from);

 private:
  std::uint64_t worst_case_bytes_after(const Change& change, const Definition& after) const;
  std::size_t text_bytes_after(const Change& change, const Definition& after) const;
  friend StatisticRow;

  struct Links;

  bool start(std::chrono::nanoseconds now);
  void start_history(std::chrono::nanoseconds now);
  std::optional<std::uint64_t> missed() const;
  LineState line_state() const;
  bool stop(std::chrono::nanoseconds now);
  void publish();
  bool goes_by_cell() const;
  std::uint32_t route() const;
  std::uint32_t needs() const;
  void note_has_cells();
  bool has_cells() const { return has_cells_; }
  // Nullptr: no feeder sees it.
  FeederCells* cells() const { return links_ ? links_->cells.get() : nullptr; }
  Links& links();
  void merge(const CellSums& cells);
  void note_cells();
  void add_cells(TypeData& all) const;
  std::optional<CellSums> ended_sums(Cells cells) const;
  std::uint64_t hits_apart(Cells cells) const;
  std::optional<TypeData> gathered_apart(Cells cells) const;
  std::uint64_t hits_out_of_range() const;
  enum class CellData { kKept, kDiscarded };
  void end_era(CellData data, CellBudget& budget);
  void begin_era();
  bool is_wanted() const;
  enum class Gathering { kGoesOn, kAnew };
  bool take_effect(const Change& change, Gathering gathering, Timestamp now);
  void gather_anew(Timestamp now);
  void keep(Discarded& discarded, Timestamp now);
  bool set_help(std::string_view help);
  void redefine(Definition after);
  void set_definition(Definition definition);
  template <typename AddTo>
  Added add_by(std::span<const Sample> samples, std::chrono::nanoseconds now, AddTo add_to);
  template <typename Type>
  bool add_to(Type& gathered, std::span<const Sample> samples);
  template <typename Type>
  bool add_shared(Type& gathered, const SharedRun& run);
  template <typename Type>
  bool add_in_range(Type& gathered, std::span<const Sample> samples);
  bool is_in_range(std::int64_t x) const {
    return x >= definition_.range_min && x <= definition_.range_max;
  }

  struct Texts {
    std::string help;
    // Empty: those of the definition, or none have been said.
    std::string sample_units;
  };
  const Texts& texts() const;
  void set_texts(Texts texts);

  // Its links to feeders and to other statistics, and texts. Few statistics have any of it.
  struct Links {
    std::unique_ptr<FeederCells> cells{};
    Statistic* source = nullptr;
    std::unique_ptr<Statistic* []> views {};  // in the order of their creation
    std::unique_ptr<const Texts> texts{};
    std::uint32_t views_size = 0;
  };

  // All that add() touches comes first, in 64 bytes (two lines of memory at most), but for what
  // arrays, lists, quantiles, histories and raw samples have on the heap, and for samples out of
  // range.
  [[no_unique_address]] TypeData gathered_;
  bool on_ = false;
  std::uint8_t decimals_;  // the definition's, for threads without the lock
  bool has_views_ : 1 = false;
  bool has_full_range_ : 1 = true;  // as the definition says
  bool saturated_ : 1 = false;      // and said so
  bool has_cells_ : 1 = false;      // some feeder may have
  std::uint32_t place_ = 0;         // the StatisticRow's
  std::uint64_t samples_ = 0;

  std::uint64_t hits_out_of_range_ = 0;
  Definition definition_;
  std::string name_;
  std::unique_ptr<Links> links_;      // null: there are none
  std::chrono::nanoseconds created_;  // or last reset, on the wall clock; 0: not known
  std::chrono::nanoseconds data_since_;
  std::chrono::nanoseconds started_;
  std::chrono::nanoseconds stopped_;
  // Whether users, or a rule, have asked for it. Not saved: defaults are for what was made in this
  // daemon.
  bool asked_definition_ : 1 = false;
  bool asked_on_ : 1 = false;
  bool of_rule_ : 1 = false;
  bool has_sample_units_ : 1 = false;
};

}  // namespace tallyfs::statistics
