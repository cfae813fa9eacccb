// A table of owned elements under numbers that are never reused: a number is a slot, and a count of
// the slot's earlier uses. So a stale number that an untrusted sender sends back finds no element.
// A slot that was used 2^32 - 1 times, the most that can be counted, is not used again.
//
// A table can go on in another process: save() says which slots there are, put() enters the
// elements under the numbers that they had, and finish_restore() makes free what was not entered.
// After a kill finish_late_restore() does, as numbers may have been given and removed since the
// table was saved. Confined to its owner's lock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/bytes.h"

namespace tallyfs {

template <typename Owner>  // a smart pointer; an empty one is no entry
class SlotTable {
 public:
  // The slots of a table that is restored, at most.
  static constexpr std::uint32_t kSlotsMax = 1u << 24;

  // uses: how many earlier uses each slot counts; for tests.
  explicit SlotTable(std::uint32_t uses = 0) : first_generation_(uses + 1) {}

  // The number that the next add() gives.
  std::uint64_t next_number() const {
    if (free_.empty()) return std::uint64_t{first_generation_} << 32 | slots_.size();
    return number_of(free_.back());
  }
  std::uint64_t add(Owner entry) {
    const std::uint64_t number = next_number();
    if (free_.empty()) {
      slots_.push_back({std::move(entry), first_generation_, 0});
    } else {
      slots_[free_.back()].entry = std::move(entry);
      free_.pop_back();
    }
    return number;
  }
  // Nullptr: the number has no element, or no longer has one.
  const Owner* find(std::uint64_t number) const {
    const auto index = static_cast<std::uint32_t>(number);
    if (index >= slots_.size() || slots_[index].generation != number >> 32) return nullptr;
    return slots_[index].entry ? &slots_[index].entry : nullptr;
  }
  // Removes the element and returns it; an empty one if the number has no element.
  Owner remove(std::uint64_t number) {
    if (!find(number)) return {};
    const auto index = static_cast<std::uint32_t>(number);
    Slot& slot = slots_[index];
    slot.generation = std::max(slot.generation, slot.last_use) + 1;
    // 0: all numbers of this slot have been used, and would repeat.
    if (slots_[index].generation != 0) {
      free_.push_back(index);
    } else {
      retired_ += 1;
    }
    return std::exchange(slots_[index].entry, {});
  }
  std::size_t size() const { return slots_.size() - free_.size() - retired_ - resting_; }

  // How often each slot was used, and which ones are free, the next one last.
  void save(ByteWriter& out) const {
    out.put(static_cast<std::uint32_t>(slots_.size()));
    for (const Slot& slot : slots_) out.put(slot.generation);
    out.put(static_cast<std::uint32_t>(free_.size()));
    for (const std::uint32_t each : free_) out.put(each);
  }
  // Whether put() can enter an element under this number. Elements are put before any is added, and
  // before finish_restore().
  bool can_put(std::uint64_t number) const {
    const auto index = static_cast<std::uint32_t>(number);
    if (is_restored_ || index >= kSlotsMax || number >> 32 == 0) return false;
    return index >= slots_.size() || !slots_[index].entry;
  }
  void put(std::uint64_t number, Owner entry) {
    const auto index = static_cast<std::uint32_t>(number);
    if (index >= slots_.size()) slots_.resize(index + 1);
    slots_[index] = {std::move(entry), static_cast<std::uint32_t>(number >> 32), 0};
  }
  // Behind put(): the slots as save() wrote them. lost(number): there was an element that was not
  // put; its number is void from now on. False: this is not what save() writes, or not of this
  // table; then slots of which nothing is known are not used again. False, too, for a second time.
  template <typename Lost>
  bool finish_restore(ByteReader& in, Lost lost) {
    if (std::exchange(is_restored_, true)) return false;
    const auto slots = in.get<std::uint32_t>();
    const bool is_ours = in.ok() && slots >= slots_.size() && slots <= kSlotsMax &&
                         in.left() / sizeof(std::uint32_t) >= slots;
    if (is_ours) slots_.resize(slots);
    for (std::uint32_t i = 0; is_ours && i < slots; ++i) {
      const auto generation = in.get<std::uint32_t>();
      if (slots_[i].generation == 0) slots_[i].generation = generation;
    }
    const bool has_free = is_ours && take_free(in);
    free_lost(lost);
    return has_free && in.ok();
  }

  // As finish_restore(), where the saved table may be older than the elements, and than numbers
  // that were given since: it is taken as far as it goes. shown(slot): the last use of a slot that
  // was given since, or nothing. No number is given again that may have been; a slot may have had
  // so many uses since, of which nothing is known. lost(number): it was given, and is void; the
  // slot rests until the table is settled again, so that the feeder finds it so. rests(slot): it
  // rested in the table before, and goes on to rest.
  static constexpr std::uint32_t kUsesUnknown = 1u << 12;
  template <typename Shown, typename Rests, typename Lost>
  void finish_late_restore(ByteReader& in, std::uint32_t shown_slots, Shown shown, Rests rests,
                           Lost lost) {
    is_restored_ = true;
    const auto count = in.get<std::uint32_t>();
    const bool is_whole = in.ok() && count <= kSlotsMax && in.left() / sizeof count >= count;
    if (is_whole && count > slots_.size()) slots_.resize(count);
    for (std::uint32_t i = 0; is_whole && i < count; ++i) {
      const auto generation = in.get<std::uint32_t>();
      if (!slots_[i].entry) slots_[i].generation = generation;
    }
    while (shown_slots > slots_.size() && !shown(shown_slots - 1)) --shown_slots;
    if (shown_slots > slots_.size()) slots_.resize(shown_slots);
    first_generation_ += kUsesUnknown;
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
      Slot& slot = slots_[i];
      const std::uint32_t use = shown(i).value_or(0);
      const std::uint64_t last = std::uint64_t{std::max(slot.generation, use)} + kUsesUnknown;
      const bool is_lost = use != 0 && !(slot.entry && use == slot.generation);
      const bool goes_on_resting = rests(i);
      if (is_lost) lost(std::uint64_t{use} << 32 | i);
      if (slot.entry) {
        slot.last_use = static_cast<std::uint32_t>(std::min<std::uint64_t>(last, UINT32_MAX));
      } else if (last < UINT32_MAX) {
        slot.generation = static_cast<std::uint32_t>(last) + 1;
        if (is_lost || goes_on_resting) {
          resting_ += 1;
        } else {
          free_.push_back(i);
        }
      } else {
        slot.generation = 0;
        retired_ += 1;
      }
    }
  }

  // Calls visit(number, element) with each.
  template <typename Visit>
  void each(Visit visit) const {
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].entry) visit(number_of(i), slots_[i].entry);
    }
  }
  // Calls the predicate with each element until it returns true. Returns that element, or nullptr.
  template <typename Predicate>
  const Owner* find_if(Predicate predicate) const {
    for (const Slot& slot : slots_) {
      if (slot.entry && predicate(*slot.entry)) return &slot.entry;
    }
    return nullptr;
  }

 private:
  struct Slot {
    Owner entry;
    std::uint32_t generation = 0;
    std::uint32_t last_use = 0;  // that may have been given beyond it
  };
  // Reads the free slots, in the order in which they were freed.
  bool take_free(ByteReader& in) {
    const auto count = in.get<std::uint32_t>();
    if (!in.ok() || in.left() != count * sizeof(std::uint32_t)) return false;
    std::vector<bool> seen(slots_.size());
    for (const std::uint32_t each : free_) seen[each] = true;
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto index = in.get<std::uint32_t>();
      if (index >= slots_.size() || slots_[index].entry || seen[index]) return false;
      if (slots_[index].generation == 0) return false;
      seen[index] = true;
      free_.push_back(index);
    }
    return true;
  }
  template <typename Lost>
  void free_lost(Lost lost) {
    std::vector<bool> is_free(slots_.size());
    for (const std::uint32_t each : free_) is_free[each] = true;
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].entry || is_free[i]) continue;
      if (slots_[i].generation != 0) lost(number_of(i));
      if (slots_[i].generation != 0 && ++slots_[i].generation != 0) {
        free_.push_back(i);
      } else {
        retired_ += 1;
      }
    }
  }
  std::uint64_t number_of(std::uint32_t index) const {
    return std::uint64_t{slots_[index].generation} << 32 | index;
  }

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::size_t retired_ = 0;
  std::size_t resting_ = 0;
  std::uint32_t first_generation_;
  bool is_restored_ = false;
};

}  // namespace tallyfs
