// The sample rates of a subsystem of stats/: which share of its objects gets a blob of which
// template. Their text is FreeBSD's (see stats_tpl_sample_rates() in tally/stats.h); feeders follow
// the number of changes, which stands in the subsystem's switch.
//
// A rate for a name alone holds for every template of that name which a feeder of the subsystem
// has, now and later; one with a hash, for that template. A process is told of those that it has.
//
// Thread-safe, one lock, below which only the templates' is taken.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/base/result.h"
#include "core/branch/command.h"
#include "core/model/switch.h"
#include "core/stats3/branch/feeder_templates.h"
#include "core/tree/file.h"

namespace tallyfs::stats3 {

class SubsystemRates {
 public:
  // A reply to a feeder has room for so many rates.
  static constexpr std::size_t kRatesMax = 1000;
  // The longest text: kRatesMax rates, each written at its longest.
  static constexpr std::size_t kTextBytesMax = 96 * kRatesMax;

  // uid: the owner of the templates that can be named. Templates are shared with the branch.
  // its_switch: nullptr: there is none for it.
  SubsystemRates(std::shared_ptr<const FeederTemplates> templates, uid_t uid, Switch* its_switch,
                 Timestamp now);

  // kInvalid, kNoTemplate: nothing has changed.
  Result<void> set(std::string_view text, Timestamp now) EXCLUDES(mutex_);
  // Sets the rates that a feeder brings when its subsystem is made; changes() stays. A rate with a
  // hash becomes one for the template's name, since a process has one template of each name.
  // Errors: those of set().
  Result<void> begin(std::string_view text) EXCLUDES(mutex_);
  // Versioned; load() is for rates that nothing was done with yet. Fails the reader on what save()
  // never wrote.
  void save(ByteWriter& out) const EXCLUDES(mutex_);
  void load(ByteReader& in, Timestamp now) EXCLUDES(mutex_);
  // Saves and loads for a successor, with the changes that feeders know of: for feeders nothing has
  // changed.
  void save_for_successor(ByteWriter& out) const EXCLUDES(mutex_);
  void load_transferred(ByteReader& in) EXCLUDES(mutex_);
  // A feeder comes to a subsystem that is there. Its rates, read as by begin(), take the place of
  // those that a feeder brought. Nothing changes if the text is blank, or after a set().
  Result<void> come_again(std::string_view text, Timestamp now) EXCLUDES(mutex_);
  // The watched process has templates here from now on; or no more.
  void add_feeder(pid_t process) EXCLUDES(mutex_);
  void drop_feeder(pid_t process) EXCLUDES(mutex_);
  // A process has registered a template of that name; 0: it is not known which. Counts as a change
  // if a rate is for the name and the process, if known, is a feeder here.
  void template_told(pid_t process, std::string_view name, Timestamp now) EXCLUDES(mutex_);
  // Call when the subsystem was removed from the tree: its switch belongs to another one then.
  void detach() EXCLUDES(mutex_);

  // "NAME":HASH=PERCENT,... and "NAME"=PERCENT where that is not just one template.
  std::string text() const EXCLUDES(mutex_);
  // The reply to a process: :HASH=PERCENT,... for its templates, or for the last template of each
  // name if its templates are not known. nullopt: it keeps its own rates, since feeders brought
  // these and none is for its templates. An empty text: there are no rates, or those of set() are
  // for others.
  struct Told {
    std::optional<std::string> text;
    std::uint32_t changes = 0;  // how often the rates had been changed then
  };
  Told tell(const Sender& sender) const EXCLUDES(mutex_);
  // Rates above 0 for which no running feeder has a template, while some feeder has templates. A
  // rate that the last call found idle too is left out.
  std::vector<std::string> take_idle() EXCLUDES(mutex_);
  // How often the rates were changed; the subsystem's switch has the same number.
  std::uint32_t changes() const EXCLUDES(mutex_);
  // Another number whenever text() may have changed: by rates, templates or feeders.
  std::uint64_t version() const EXCLUDES(mutex_);
  Timestamp last_change() const EXCLUDES(mutex_);

 private:
  struct Rate {
    std::optional<std::string> name;
    std::uint32_t hash = 0;  // 0: all of the name
    std::uint32_t percent = 0;

    bool operator==(const Rate&) const = default;
  };
  using Rates = std::vector<Rate>;
  using Hashes = std::vector<std::uint32_t>;
  using Processes = FeederTemplates::Processes;

  Result<Rates> parse(std::string_view text) const;
  Result<Rates> parse_brought(std::string_view text) const;
  void take(Rates rates, Timestamp now) REQUIRES(mutex_);
  void save_locked(ByteWriter& out) const REQUIRES(mutex_);
  static Rates load_rates(ByteReader& in);
  void note_change(Timestamp now) REQUIRES(mutex_);
  // The hashes of the feeders' templates that the rate is for.
  Hashes hashes(const Rate& rate) const REQUIRES(mutex_);
  // The hashes of the given processes' templates that the rate is for.
  Hashes hashes_of(const Rate& rate, const Processes& processes) const;
  static std::string words_for(const Rate& rate, const Hashes& hashes);

  const std::shared_ptr<const FeederTemplates> templates_;
  const uid_t uid_;
  mutable Mutex mutex_{LockRank::kSubsystemRates};
  Processes feeders_ GUARDED_BY(mutex_);
  std::uint64_t feeders_changes_ GUARDED_BY(mutex_) = 0;
  bool set_by_user_ GUARDED_BY(mutex_) = false;
  Rates rates_ GUARDED_BY(mutex_);
  std::vector<std::string> idle_ GUARDED_BY(mutex_);  // as take_idle() has told
  std::uint32_t changes_ GUARDED_BY(mutex_) = 0;
  Switch* switch_ GUARDED_BY(mutex_);
  Timestamp last_change_ GUARDED_BY(mutex_);
};

class SampleRatesFile final : public File {
 public:
  // Shared with the branch and opens under way.
  explicit SampleRatesFile(std::shared_ptr<SubsystemRates> rates) : rates_(std::move(rates)) {}

  Result<std::string> render(const CallContext&, std::size_t bytes_max) const override;
  std::optional<std::uint64_t> version(Timestamp) const override { return rates_->version(); }
  Timestamp last_change(Timestamp) const override { return rates_->last_change(); }
  Result<void> write_line(std::string_view line, const CallContext& call) override {
    return rates_->set(line, call.now);
  }

 private:
  const std::shared_ptr<SubsystemRates> rates_;
};

}  // namespace tallyfs::stats3
