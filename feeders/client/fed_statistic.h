// The objects that a feeder's handles point at. Adding a sample reads the atomics; the Client's
// lock guards everything else.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>

#include "core/model/shape.h"
#include "core/model/switch.h"
#include "tally/statistic.h"

struct statistic_interface {};

namespace tallyfs {

// How far the registration of an interface, a statistic, an object or an event with the daemon is.
enum class Registration : std::uint8_t {
  kUnregistered,  // a request is due
  kRequested,     // a request is pending
  kRegistered,
  kRefused,  // by the daemon; a request is due after the back-off
  kRemoved,  // in the daemon, by a user; a statistic is requested again when it has samples
};

struct FedStatistic;

struct FedInterface : ::statistic_interface {
  std::uint32_t id = 0;  // in the Registry
  std::string name;
  unsigned flags = 0;
  Registration registration = Registration::kUnregistered;
  int refusal = 0;  // the errno with which the daemon refused it; 0: not refused
  // Dropped by the program, while statistics in it may have samples that are not sent yet. Its name
  // is free for another.
  bool lingers = false;
  bool removed = false;  // not only released: the daemon hears nothing more of it
  std::unordered_set<FedStatistic*> statistics;
};

// The members that adding a sample reads are in the first 64 bytes, one line of a CPU's cache.
struct alignas(64) FedStatistic : ::statistic {
  // The switches of statistics whose own is not known.
  static constexpr std::uint32_t kOn = 1;
  static constexpr std::uint32_t kOff = 0;
  // In a forked child, of all statistics: the first sample of any wakes the library up.
  static constexpr std::uint32_t kAsleep = 1;

  FedStatistic() : ::statistic{&kOff} {}

  // The switch of a view stays off: it takes no samples.
  void set_switch(const std::uint32_t* at) {
    if (source.empty()) __atomic_store_n(&on, at, __ATOMIC_RELEASE);
  }
  // Its switch in the page; nullptr while that is not known.
  const std::uint32_t* page_switch() const {
    const std::uint32_t* const at = __atomic_load_n(&on, __ATOMIC_RELAXED);
    return at == &kOn || at == &kOff || at == &kAsleep ? nullptr : at;
  }
  bool is_on() const { return statistic_is_on(this) != 0; }
  // is_on(), except that the switch of the parent decides while the switch is kAsleep.
  bool is_wanted() const {
    const std::uint32_t* at = __atomic_load_n(&on, __ATOMIC_RELAXED);
    if (at == &kAsleep) at = parents_switch;
    return __atomic_load_n(at, __ATOMIC_RELAXED) != 0;
  }
  void fall_asleep() {
    if (on != &kAsleep) parents_switch = on;
    set_switch(&kAsleep);
  }
  void wake_up() {
    if (on == &kAsleep) set_switch(parents_switch);
  }

  // The switch: which route samples take, and what they need.
  std::uint32_t route() const {
    const std::uint32_t* at = __atomic_load_n(&on, __ATOMIC_RELAXED);
    return __atomic_load_n(at, __ATOMIC_RELAXED);
  }
  static bool is_cell(std::uint32_t route) { return (route & kRouteMask) == kRouteCell; }
  static bool is_ring(std::uint32_t route) { return (route & kRouteMask) == kRouteRing; }
  static bool is_socket(std::uint32_t route) { return (route & kRouteMask) == kRouteSocket; }

  // How they are counted, once the daemon knows of this process's cells; else null.
  std::atomic<const Shape*> shape{nullptr};
  // Another one whenever samples went over the socket in between: a thread sends what it holds
  // before it continues in its ring.
  static constexpr std::uint32_t kNoRing = UINT32_MAX;
  std::atomic<std::uint32_t> ring_era{kNoRing};
  // A thread would have counted a sample in a cell, or put it into a ring.
  std::atomic<bool> wants_cells{false};
  Registration binding = Registration::kUnregistered;  // of its cells
  void unbind() {
    shape.store(nullptr, std::memory_order_release);
    ring_era.store(kNoRing, std::memory_order_relaxed);
    binding = Registration::kUnregistered;
  }

  // The daemon's number, 0 until it is registered. A number of another epoch follows only after 0
  // and after all buffers know the epoch, so that no datagram mixes the numbers of two daemons.
  std::atomic<std::uint64_t> number{0};
  std::atomic<Registration> registration{Registration::kUnregistered};
  std::atomic<std::uint64_t> dropped{0};

  // Decimal places of X: as the program has asked, and as the daemon has said when it registered.
  std::atomic<std::uint8_t> asked_decimals{0};
  std::atomic<std::uint8_t> said_decimals{0};
  unsigned decimals() const {
    const Shape* const shown = shape.load(std::memory_order_acquire);
    return shown ? shown->decimals.load(std::memory_order_relaxed)
                 : said_decimals.load(std::memory_order_relaxed);
  }

  FedInterface* interface = nullptr;
  std::uint32_t id = 0;  // in the Registry
  std::string name;
  std::string units;
  std::string source{};  // of a view: the statistic in the same interface; empty: this is none
  std::string type;      // as in a definition line, with its range; empty: the default
  std::string help{};    // the same; empty: the program said none

  // Dropped by the program, as an interface may be, while samples of it may not be sent yet.
  bool lingers = false;
  bool removed = false;
  // The last start or stop by the feeder, and whether there was one yet.
  bool started = false;
  bool has_begun = false;
  bool has_views = false;  // made by this process, now or earlier
  // The ids of those that the daemon has not answered for. Until then samples are wanted, whatever
  // the switch says.
  std::unordered_set<std::uint32_t> awaited_views{};
  bool started_before_pending = false;  // with pending_on: what holds for samples added before it
  // The daemon in which this process created it; in any other its users had defined it before.
  std::uint64_t made_in_epoch = 0;
  bool was_there = false;
  // Requested from this daemon, which may have created it though no response has come.
  bool awaits_creation = false;
  // All that the program says of how it begins is in the line that is to create it.
  bool is_to_be_created() const {
    return registration == Registration::kUnregistered && !awaits_creation;
  }

  // A view that the daemon is to hear of before it gets further samples of its source.
  bool is_view_to_be_created() const {
    return !source.empty() && registration == Registration::kUnregistered && !lingers;
  }

  // Changes that were made after the request that registers the statistic, and are not sent yet.
  // The first two are dropped if the daemon had the statistic already.
  bool pending_type = false;
  std::optional<bool> pending_begin;
  std::optional<bool> pending_on;
  bool pending_reset = false;
  // The errno with which the daemon refused it, or its last change; 0: not refused.
  int refusal = 0;
  // Pending changes: until their responses arrive the switch is as the feeder wants it.
  unsigned changes_sent = 0;

  const std::uint32_t* parents_switch = &kOff;  // written while there is one thread only

  bool has_pending_defaults() const { return pending_type || pending_begin; }
  bool has_pending_changes() const { return pending_on || pending_reset; }
  bool has_pending() const { return has_pending_defaults() || has_pending_changes(); }
  void forget_defaults() {
    pending_type = false;
    pending_begin.reset();
  }
  void forget_changes() {
    pending_on.reset();
    pending_reset = false;
  }
  void forget_pending() {
    forget_defaults();
    forget_changes();
  }
};

}  // namespace tallyfs
