// One statistic that metrics feed: what is carried from one sample to the next, a gauge's value,
// and a set's members. Confined to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "core/base/int128.h"
#include "feeders/statsd/grammar/metric_line.h"
#include "feeders/statsd/series/distinct_values.h"
#include "feeders/statsd/series/outlet.h"

namespace tallyfs::statsd {

class Series {
 public:
  // is_overflow: it is the `name{*}` of its name.
  Series(Outlet::Id id, Kind kind, unsigned scale, bool is_overflow);

  Outlet::Id id() const { return id_; }
  Kind kind() const { return kind_; }
  unsigned scale() const { return scale_; }
  bool is_overflow() const { return is_overflow_; }

  // The second of CLOCK_MONOTONIC in which it last had a sample.
  std::uint32_t used_s() const { return used_s_; }
  void note_use(std::uint32_t now_s) { used_s_ = now_s; }
  // Its statistic is gone. Lines that are known by it are to be looked up again.
  void give_up();
  bool is_given_up() const { return is_given_up_; }

  // Y of a sample of that weight, and what is left of it for the next one.
  std::uint64_t weigh(const Weight& weight);
  // X of Y samples of a counter's value in units of 10^-18. The rest of X * Y is carried, so that
  // the sum of products is exact whatever the rates are.
  std::int64_t carry(Int128 units, std::uint64_t y);
  bool has_rest() const { return rest_ != 0; }

  std::int64_t gauge() const { return gauge_; }
  void set_gauge(std::int64_t value) { gauge_ = value; }

  void add_member(std::string_view member) { members_->add(member); }
  // The number of members of the window that ends. Nothing: it had none, and the statistic keeps
  // the number of the last window that had some.
  std::optional<std::int64_t> end_window();

 private:
  alignas(64) const Outlet::Id id_;  // all of it is one line of a CPU's cache
  const Kind kind_;
  const std::uint8_t scale_;
  const bool is_overflow_;
  bool is_given_up_ = false;
  std::uint32_t used_s_ = 0;
  std::uint64_t rest_of_weight_ = 0;  // in units of 10^-18
  std::int64_t gauge_ = 0;
  Int128 rest_ = 0;                          // of X * Y, in units of 10^-18
  std::unique_ptr<DistinctValues> members_;  // of a set
};
static_assert(sizeof(Series) == 64);

}  // namespace tallyfs::statsd
