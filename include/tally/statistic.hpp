// The C++ face of libtally: statistic.h with owners, durations and names that C++ expects. Header
// only; link libtally. What the calls promise of threads, signals, forks and daemons that come and
// go stands in statistic.h.
//
//   tally::Interface web("web");
//   tally::Statistic latency(web, "latency_us", {.units = "microseconds/requests",
//                                                .type = tally::Array{.range = {0, 1'000'000}},
//                                                .begin = tally::Begin::kOn});
//   latency.inc(1750);
//   latency.inc<std::chrono::microseconds>(elapsed);
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "tally/clock.h"
#include "tally/statistic.h"

namespace tally {

// ---- definitions; numbers out of their bounds make the Statistic's constructor throw

// Of X; what lies outside counts as out of range.
struct Range {
  std::int64_t min = STATISTIC_RANGE_MIN;
  std::int64_t max = STATISTIC_RANGE_MAX;
};

enum class Mode {
  kIncrements = STATISTIC_MODE_INCREMENTS,
  kProducts = STATISTIC_MODE_PRODUCTS,
  kRange = STATISTIC_MODE_RANGE,
};
enum class Scale { kLin = STATISTIC_SCALE_LIN, kLog2 = STATISTIC_SCALE_LOG2 };

struct Value {
  Range range{};
  Mode mode = Mode::kIncrements;
};
struct MinMax {
  Range range{};
};
struct Array {
  Range range{};
  std::uint64_t base_interval = 1;
  Scale scale = Scale::kLog2;
};
struct List {
  Range range{};
  std::uint32_t entries_max = 256;
  std::uint8_t base = 16;  // or 10: how X is shown
};
struct Raw {
  Range range{};
  std::uint32_t entries_max = 256;
};
struct History {
  Range range{};
  std::uint32_t entries_max = 256;
  std::chrono::microseconds period = std::chrono::seconds(1);
  Mode mode = Mode::kIncrements;
};
// quantiles: "50,99,99.9".
struct Quantiles {
  Range range{};
  unsigned precision = 5;
  std::string quantiles = "50,90,99,99.9";
};
struct QuantileHistory {
  Range range{};
  std::uint32_t entries_max = 300;
  std::chrono::microseconds period = std::chrono::seconds(1);
  unsigned precision = 5;
  std::string quantiles = "50,90,99,99.9";
};
struct Last {
  Range range{};
};
using Type =
    std::variant<Value, MinMax, Array, List, Raw, History, Quantiles, QuantileHistory, Last>;

enum class Begin { kOff, kOn };

// What a statistic is until its users decide otherwise.
struct Definition {
  std::string units{};
  Type type = Value{};
  Begin begin = Begin::kOff;
  // Decimal places of X, up to 9: then floating-point numbers are samples, too. Ranges and
  // base_interval are X times 10^decimals, as integers of X are.
  unsigned decimals = 0;
  // What it is, for people; see statistic_define_help().
  std::string help{};
};

// ---- errors

// Throws std::system_error for a negative errno. what() is "CALL: REASON: ERRNO'S TEXT".
inline void check(int result, const char* what) {
  if (result >= 0) return;
  throw std::system_error(-result, std::generic_category(),
                          std::string(what) + ": " + ::statistic_last_error());
}

// ---- names

// The name of a statistic of these labels: labelled("latency", {{"route", "/cart"}}). Keys and
// values are texts of any bytes but 0; the name is statistic_name_with_labels()'s. Throws
// std::system_error: EINVAL.
inline std::string labelled(const std::string& family,
                            const std::vector<std::pair<std::string, std::string>>& labels) {
  std::vector<const char*> keys;
  std::vector<const char*> values;
  for (const auto& [key, value] : labels) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  char name[STATISTIC_NAME_SIZE];
  check(::statistic_name_with_labels(name, sizeof name, family.c_str(), keys.data(), values.data(),
                                     keys.size()),
        "statistic_name_with_labels");
  return name;
}

// ---- owners

enum class Lifetime : unsigned { kForGood = 0, kFeeder = STATISTIC_LIFETIME_FEEDER };
// kExact: a statistic that is there with samples of other units is refused.
enum class Units : unsigned { kAny = 0, kExact = STATISTIC_UNITS_EXACT };
// kOwner: of a new interface, samples of other users are refused.
enum class Feed : unsigned { kAny = 0, kOwner = STATISTIC_FEED_OWNER };

// Leaves everything in the tree when it dies, to be looked at; remove() does not.
// Outlives its Statistics. Moves, does not copy.
class Interface {
 public:
  explicit Interface(const std::string& name, Lifetime lifetime = Lifetime::kForGood,
                     Units units = Units::kAny, Feed feed = Feed::kAny) {
    const unsigned flags = static_cast<unsigned>(lifetime) | static_cast<unsigned>(units) |
                           static_cast<unsigned>(feed);
    check(::statistic_create_interface(&interface_, name.c_str(), flags),
          "statistic_create_interface");
  }
  ~Interface() { ::statistic_interface_release(&interface_); }
  Interface(Interface&& other) noexcept : interface_(std::exchange(other.interface_, nullptr)) {}
  Interface& operator=(Interface&& other) noexcept {
    std::swap(interface_, other.interface_);
    return *this;
  }

  // With all that is in it; only without Statistics of it that are still alive.
  void remove() noexcept { ::statistic_interface_remove(&interface_); }
  ::statistic_interface* get() const noexcept { return interface_; }

 private:
  ::statistic_interface* interface_ = nullptr;
};

// Moves, does not copy; all calls but remove() may be made by several threads at once.
class Statistic {
 public:
  Statistic(const Interface& interface, const std::string& name,
            const Definition& definition = {}) {
    check(::statistic_create(&statistic_, interface.get(), name.c_str(), definition.units.c_str()),
          "statistic_create");
    try {
      if (definition.decimals != 0) {
        check(::statistic_define_decimals(statistic_, definition.decimals),
              "statistic_define_decimals");
      }
      define(definition.type);
      if (!definition.help.empty()) define_help(definition.help);
      if (definition.begin == Begin::kOn) start();
    } catch (...) {
      ::statistic_release(&statistic_);
      throw;
    }
  }
  ~Statistic() { ::statistic_release(&statistic_); }
  // A further way to look at what is fed to this statistic; takes no samples itself. On, until
  // stop() or its users say otherwise.
  Statistic create_view(const std::string& name, const Type& type) const {
    Statistic view;
    check(::statistic_create_view(&view.statistic_, statistic_, name.c_str()),
          "statistic_create_view");
    view.define(type);
    return view;
  }
  Statistic(Statistic&& other) noexcept : statistic_(std::exchange(other.statistic_, nullptr)) {}
  Statistic& operator=(Statistic&& other) noexcept {
    std::swap(statistic_, other.statistic_);
    return *this;
  }

  void define(const Type& type) {
    check(std::visit([this](const auto& settings) { return define_as(settings); }, type),
          "statistic_define");
  }
  // What it, or a view, is for people.
  void define_help(const std::string& help) {
    check(::statistic_define_help(statistic_, help.c_str()), "statistic_define_help");
  }
  void start() { check(::statistic_start(statistic_), "statistic_start"); }
  void stop() { check(::statistic_stop(statistic_), "statistic_stop"); }
  void reset() { check(::statistic_reset(statistic_), "statistic_reset"); }
  void remove() noexcept { ::statistic_remove(&statistic_); }

  bool is_on() const noexcept { return ::statistic_is_on(statistic_) != 0; }
  void add(std::int64_t x, std::uint64_t y) noexcept { ::statistic_add(statistic_, x, y); }
  // One sample of x: inc(2) is one whose value is 2. A counter, tally::Value of increments, goes up
  // by 1; add(x, 2) counts 2.
  void inc(std::int64_t x) noexcept { ::statistic_inc(statistic_, x); }
  // Throws std::system_error while it is on if the statistic has no decimals, or x is no number
  // that it can have (statistic_to_x()).
  template <std::floating_point Number>
  void add(Number x, std::uint64_t y) {
    check(::statistic_add_decimal(statistic_, static_cast<double>(x), y), "statistic_add_decimal");
  }
  template <std::floating_point Number>
  void inc(Number x) {
    add(x, 1);
  }
  // A duration as X, in Unit, rounded up: what took a moment took some time.
  template <typename Unit, typename Rep, typename Period>
  void inc(std::chrono::duration<Rep, Period> x) noexcept {
    ::statistic_inc(statistic_, static_cast<std::int64_t>(std::chrono::ceil<Unit>(x).count()));
  }
  // As of a time of steady_clock, which is CLOCK_MONOTONIC.
  void add_at(std::int64_t x, std::uint64_t y,
              std::chrono::steady_clock::time_point time) noexcept {
    ::statistic_add_at(statistic_, x, y, std::chrono::nanoseconds(time.time_since_epoch()).count());
  }
  void add(std::span<const ::statistic_sample> samples) noexcept {
    ::statistic_add_batch(statistic_, samples.data(), samples.size());
  }

  unsigned decimals() const noexcept { return ::statistic_decimals(statistic_); }
  std::uint64_t dropped() const noexcept { return ::statistic_dropped(statistic_); }
  ::statistic* get() const noexcept { return statistic_; }

 private:
  int define_as(const Value& s) {
    return ::statistic_define_value(statistic_, s.range.min, s.range.max, to_c(s.mode));
  }
  int define_as(const MinMax& s) {
    return ::statistic_define_range(statistic_, s.range.min, s.range.max);
  }
  int define_as(const Array& s) {
    return ::statistic_define_array(statistic_, s.range.min, s.range.max, s.base_interval,
                                    static_cast<::statistic_scale>(s.scale));
  }
  int define_as(const List& s) {
    if (s.base != 16) {
      return ::statistic_define_list_base(statistic_, s.range.min, s.range.max, s.entries_max,
                                          s.base);
    }
    return ::statistic_define_list(statistic_, s.range.min, s.range.max, s.entries_max);
  }
  int define_as(const Raw& s) {
    return ::statistic_define_raw(statistic_, s.range.min, s.range.max, s.entries_max);
  }
  int define_as(const History& s) {
    // A period below 0 is beyond the bounds of an unsigned one.
    return ::statistic_define_history(statistic_, s.range.min, s.range.max, s.entries_max,
                                      static_cast<std::uint64_t>(s.period.count()), to_c(s.mode));
  }
  int define_as(const Quantiles& s) {
    return ::statistic_define_quantiles(statistic_, s.range.min, s.range.max, s.precision,
                                        s.quantiles.c_str());
  }
  int define_as(const QuantileHistory& s) {
    if (s.period.count() < 0) return -EINVAL;
    return ::statistic_define_quantile_history(statistic_, s.range.min, s.range.max, s.entries_max,
                                               static_cast<std::uint64_t>(s.period.count()),
                                               s.precision, s.quantiles.c_str());
  }
  int define_as(const Last& s) {
    return ::statistic_define_last(statistic_, s.range.min, s.range.max);
  }
  static ::statistic_mode to_c(Mode mode) { return static_cast<::statistic_mode>(mode); }

  Statistic() = default;  // none yet

  ::statistic* statistic_ = nullptr;
};

// Adds how long it lived to a statistic, in Unit. Does not look at the clock, which is that of
// clock.h as long as the program has it on, while the statistic is off.
template <typename Unit = std::chrono::microseconds>
class Timer {
 public:
  explicit Timer(Statistic& statistic) noexcept
      : statistic_(statistic),
        runs_(statistic.is_on()),
        begun_(runs_ ? now() : std::chrono::nanoseconds()) {}
  ~Timer() {
    if (runs_) statistic_.inc<Unit>(now() - begun_);
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  // CLOCK_MONOTONIC, both ways, so that the clock may be switched in between.
  static std::chrono::nanoseconds now() noexcept {
    const std::chrono::nanoseconds ns(::sched_clock());
    return ns.count() != 0 ? ns : std::chrono::steady_clock::now().time_since_epoch();
  }

  Statistic& statistic_;
  const bool runs_;
  const std::chrono::nanoseconds begun_;
};

// ---- the process

// False: what could not be sent is still held; see statistic_flush().
inline bool flush() noexcept { return ::statistic_flush() == 0; }
// Until the daemon has taken everything in; the errors of statistic_sync().
inline std::error_code sync(std::chrono::milliseconds time_max) noexcept {
  const auto ms = time_max.count() < 0 ? 0 : time_max.count() > 60'000 ? 60'000 : time_max.count();
  return {-::statistic_sync(static_cast<unsigned>(ms)), std::generic_category()};
}
inline ::statistic_counts counts() noexcept {
  ::statistic_counts counts{};
  ::statistic_count(&counts, sizeof counts);
  return counts;
}

}  // namespace tally
