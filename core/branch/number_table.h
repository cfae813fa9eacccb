// Entries of a branch under the numbers that feeders use on the wire, each number with its entry of
// the page of switches. A number is a slot of the SlotTable, counted from the first entry of the
// branch's region; slots beyond the region have no switch.
//
// Confined to the owning branch's lock. A switch that was given out is flipped by its statistic,
// object or event, under that one's lock, until the switch is taken back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/base/slot_table.h"
#include "core/branch/switch_region.h"

namespace tallyfs {

template <typename Owner>  // a smart pointer, as in SlotTable
class NumberTable {
 public:
  explicit NumberTable(SwitchRegion region) : region_(region) {}

  // The number that the next add() gives.
  std::uint64_t next_number() const { return entries_.next_number() + region_.first; }
  std::uint64_t add(Owner entry) { return entries_.add(std::move(entry)) + region_.first; }
  // Nullptr for a number that names nothing, or nothing any more.
  const Owner* find(std::uint64_t number) const {
    if (static_cast<std::uint32_t>(number) < region_.first) return nullptr;
    return entries_.find(number - region_.first);
  }
  // Takes the switch back as well. An empty entry if the number names nothing.
  Owner remove(std::uint64_t number) {
    if (!find(number)) return {};
    take_back_switch(number);
    return entries_.remove(number - region_.first);
  }
  std::size_t size() const { return entries_.size(); }

  // In another server, as in the SlotTable. An element that is put has its switch as it was, and
  // the switch of one that was not put is taken back.
  void save(ByteWriter& out) const { entries_.save(out); }
  bool can_put(std::uint64_t number) const {
    return static_cast<std::uint32_t>(number) >= region_.first &&
           entries_.can_put(number - region_.first);
  }
  void put(std::uint64_t number, Owner entry) {
    entries_.put(number - region_.first, std::move(entry));
  }
  bool finish_restore(ByteReader& in) {
    return entries_.finish_restore(in, [this](std::uint64_t number) {
      if (!is_marked_lost(slot(number + region_.first))) take_back_switch(number + region_.first);
    });
  }

  // After a kill: the switches say which uses of their slots were given since the table was saved,
  // and which numbers were lost in a kill before: their feeders may not have looked yet.
  void finish_late_restore(ByteReader& in) {
    const auto shown = [this](std::uint32_t slot) -> std::optional<std::uint32_t> {
      if (slot >= region_.switches.size()) return std::nullopt;
      const Switch& its = region_.switches[slot];
      const std::uint32_t use = its.generation.load(std::memory_order_relaxed);
      if (use == 0 && its.on.load(std::memory_order_relaxed) == 0) return std::nullopt;
      return use == kLostGeneration ? 0 : use;
    };
    entries_.finish_late_restore(
        in, static_cast<std::uint32_t>(region_.switches.size()), shown,
        [this](std::uint32_t slot) { return is_marked_lost(slot); },
        [this](std::uint64_t number) {
          take_back_switch(number + region_.first, kLostGeneration);
        });
  }
  // Behind a kill, of a number that was saved: it was taken back since.
  bool was_taken_back(std::uint64_t number) const {
    return find_switch(number) && !had_switch(number);
  }

  // Which slot a number of this table is, from 0 on, and how often the slot was used.
  std::uint32_t slot(std::uint64_t number) const {
    return static_cast<std::uint32_t>(number) - region_.first;
  }
  static std::uint32_t use(std::uint64_t number) {
    return static_cast<std::uint32_t>(number >> 32);
  }

  // The switch of a number of this table, set to off; nullptr if the region has none for it.
  Switch* give_switch(std::uint64_t number) {
    Switch* const its = switch_of(number);
    if (!its) return nullptr;
    its->on.store(0, std::memory_order_release);
    its->generation.store(use(number), std::memory_order_release);
    return its;
  }
  // The switch of a number that is put; nullptr if the region has none for it.
  Switch* keep_switch(std::uint64_t number) { return switch_of(number); }
  // Whether the switch of a number that is put was given out.
  bool had_switch(std::uint64_t number) const {
    const Switch* const its = switch_of(number);
    return its && its->generation.load(std::memory_order_relaxed) == use(number);
  }
  // Takes the switch back from its statistic, which does not flip it any more. It says on, so that
  // a feeder that still sends is told that its number is gone: no number has this generation.
  void take_back_switch(std::uint64_t number, std::uint32_t generation = 0) {
    Switch* const its = switch_of(number);
    if (!its) return;
    its->generation.store(generation, std::memory_order_release);
    its->on.store(1, std::memory_order_release);
  }

  // nullptr if the region has none for it.
  const Switch* find_switch(std::uint64_t number) const { return switch_of(number); }

 private:
  bool is_marked_lost(std::uint32_t slot) const {
    if (slot >= region_.switches.size()) return false;
    return region_.switches[slot].generation.load(std::memory_order_relaxed) == kLostGeneration;
  }
  Switch* switch_of(std::uint64_t number) const {
    const std::uint32_t at = slot(number);
    return at < region_.switches.size() ? &region_.switches[at] : nullptr;
  }

  const SwitchRegion region_;
  SlotTable<Owner> entries_;
};

}  // namespace tallyfs
