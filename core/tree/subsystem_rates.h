// The sample rates of a subsystem of stats/: which share of its objects gets a blob of which
// template. Their text is FreeBSD's (see stats_tpl_sample_rates() in tally/stats.h); feeders follow
// the number of changes, which stands in the subsystem's switch.
//
// Thread-safe, one lock, below which only the templates' is taken.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/base/result.h"
#include "core/base/switch.h"
#include "core/blob/rates.h"
#include "core/tree/command.h"
#include "core/tree/feeder_templates.h"
#include "core/tree/file.h"

namespace tally {

class SubsystemRates {
 public:
  // So many that a feeder's answer has room for them.
  static constexpr std::size_t kRatesMax = 1000;
  // Of a text: so many rates as they are written at their longest.
  static constexpr std::size_t kTextBytesMax = 96 * kRatesMax;

  // feeder: whose templates can be named, and whose process's come first. Templates are shared with
  // the branch. its_switch: nullptr: there is none for it.
  SubsystemRates(std::shared_ptr<const FeederTemplates> templates, const Sender& feeder,
                 Switch* its_switch, Moment now);

  // kInvalid, kNoTemplate: nothing has changed.
  Result<void> set(std::string_view text, Moment now) EXCLUDES(mutex_);
  // As they are when a subsystem is made, which is no change.
  Result<void> begin(std::string_view text) EXCLUDES(mutex_);
  // A feeder comes to a subsystem that is there: by a name in rates, its template is meant from now
  // on. Its rates take the place of those that a feeder brought, but not of what set() did.
  Result<void> come_again(pid_t feeder, std::string_view text, Moment now) EXCLUDES(mutex_);
  // It is gone from the tree, and its switch is another's.
  void detach() EXCLUDES(mutex_);

  // "NAME":HASH=PERCENT,...
  std::string text() const EXCLUDES(mutex_);
  // :HASH=PERCENT,... and how often they had been changed then.
  std::string text_by_hash(std::uint32_t& changes) const EXCLUDES(mutex_);
  std::uint32_t changes() const EXCLUDES(mutex_);
  Moment last_change() const EXCLUDES(mutex_);

 private:
  Result<blob::Rates> parse(std::string_view text) const EXCLUDES(mutex_);
  void take(blob::Rates rates, Moment now) REQUIRES(mutex_);

  const std::shared_ptr<const FeederTemplates> templates_;
  mutable Mutex mutex_;
  Sender feeder_ GUARDED_BY(mutex_);
  bool set_by_user_ GUARDED_BY(mutex_) = false;
  blob::Rates rates_ GUARDED_BY(mutex_);
  std::uint32_t changes_ GUARDED_BY(mutex_) = 0;
  Switch* switch_ GUARDED_BY(mutex_);
  Moment last_change_ GUARDED_BY(mutex_);
};

class SampleRatesFile final : public File {
 public:
  // Shared with the branch and opens under way.
  explicit SampleRatesFile(std::shared_ptr<SubsystemRates> rates) : rates_(std::move(rates)) {}

  Result<std::string> render(Moment, std::size_t bytes_max) const override;
  std::optional<std::uint64_t> version(Moment) const override { return rates_->changes(); }
  Moment last_change(Moment) const override { return rates_->last_change(); }
  Result<void> write_line(std::string_view line, Moment now) override {
    return rates_->set(line, now);
  }

 private:
  const std::shared_ptr<SubsystemRates> rates_;
};

}  // namespace tally
