// Faults that the daemon may find in a lane file, which no feeder writes, and their texts.
#pragma once

#include <cstdint>
#include <string_view>

namespace tallyfs {

enum class LaneFault : std::uint8_t {
  kNone,
  kUnread,  // entries or an index cannot be read
  kIndexPlace,
  kIndexesLong,  // all together
  kTooManyCells,
  kCellPlace,
  kCellSlots,     // none of the two counts
  kCellRestless,  // it was another one at each look
  kCellInterval,
  kCellOutside,
  kCellSum,
  kCellOrder,
  kCellAverage,
  kSamplesFell,  // they are counts: less than when the cell was read before
  kOutsideFell,
  kNumberFell,
  kIntervalFell,
  kRingPlace,
  kRingMoved,
  kRingsLong,   // all together
  kHeadBehind,  // of what was taken
  kHeadAhead,   // by more than the ring
  kRecordForm,
  kRecordId,     // not bound
  kDroppedFell,  // samples that found no room in a ring: less than before
  kDroppedLeapt,
  kFoundBefore,  // by another server
};

// A fault, and what shows it.
struct LaneFinding {
  LaneFault what = LaneFault::kNone;
  std::uint64_t at = 0;       // where in the file
  std::uint64_t read = 0;     // the word, or what was made of it
  std::uint64_t allowed = 0;  // the bound, or what was read before
  std::uint32_t era = 0;      // of a cell
};

constexpr std::string_view reason_of_range(LaneFault fault) {
  if (fault == LaneFault::kCellSum) return "a cell has a sum of no samples";
  if (fault == LaneFault::kCellOrder) return "a cell's smallest X is above the greatest";
  return "a cell's average is beyond all numbers of 64 bits";
}
constexpr std::string_view reason_of_fall(LaneFault fault) {
  if (fault == LaneFault::kSamplesFell) return "a cell has fewer samples than before";
  if (fault == LaneFault::kOutsideFell) return "a cell has fewer samples out of range than before";
  if (fault == LaneFault::kNumberFell) return "a cell's total or number is lower than before";
  return "a cell has less in an interval than before";
}
constexpr std::string_view reason_of_place(LaneFault fault) {
  if (fault == LaneFault::kRingPlace) return "a ring is not within the file, or of another size";
  if (fault == LaneFault::kRingMoved) return "a thread's ring is elsewhere than before";
  return "the rings are longer than the file";
}
constexpr std::string_view reason_of_head(LaneFault fault) {
  if (fault == LaneFault::kHeadBehind) return "a ring's head is behind what was taken out";
  return "a ring's head is more than the ring ahead";
}
constexpr std::string_view reason_of_dropped(LaneFault fault) {
  if (fault == LaneFault::kDroppedFell) return "a thread has dropped fewer samples than before";
  return "a thread has dropped more samples than it can have had";
}
// For people, behind "this is not what a feeder writes: ".
constexpr std::string_view reason_of(LaneFault fault) {
  switch (fault) {
    case LaneFault::kNone:
      break;
    case LaneFault::kUnread:
      return "an entry or index cannot be read";
    case LaneFault::kIndexPlace:
      return "an index is not within the file";
    case LaneFault::kIndexesLong:
      return "the indexes are longer than the file";
    case LaneFault::kTooManyCells:
      return "there are more cells than the file has room for";
    case LaneFault::kCellPlace:
      return "a cell is not within the file";
    case LaneFault::kCellSlots:
      return "a cell has no slot that counts";
    case LaneFault::kCellRestless:
      return "a cell was another one at each of 1000 looks";
    case LaneFault::kCellInterval:
      return "a cell's latest interval is none of its array";
    case LaneFault::kCellOutside:
      return "a cell has fewer samples than samples out of range";
    case LaneFault::kCellSum:
    case LaneFault::kCellOrder:
    case LaneFault::kCellAverage:
      return reason_of_range(fault);
    case LaneFault::kSamplesFell:
    case LaneFault::kOutsideFell:
    case LaneFault::kNumberFell:
    case LaneFault::kIntervalFell:
      return reason_of_fall(fault);
    case LaneFault::kRingPlace:
    case LaneFault::kRingMoved:
    case LaneFault::kRingsLong:
      return reason_of_place(fault);
    case LaneFault::kHeadBehind:
    case LaneFault::kHeadAhead:
      return reason_of_head(fault);
    case LaneFault::kRecordForm:
      return "a record has another form";
    case LaneFault::kRecordId:
      return "a record has an id that was not bound";
    case LaneFault::kDroppedFell:
    case LaneFault::kDroppedLeapt:
      return reason_of_dropped(fault);
    case LaneFault::kFoundBefore:
      return "the server before has found that";
  }
  return "";
}

}  // namespace tallyfs
