#include "tools/display/paced_past.h"

#include <utility>

#include "tools/display/portion.h"

namespace tallyfs::view {

void PacedPast::add(const Portion& more) {
  open_.count += more.count;
  open_.levels += more.levels;
  open_.level_sum += more.level_sum;
  open_.level_squares += more.level_squares;
  add_buckets(open_.buckets, more.buckets);
  if (more.value) open_.value = more.value;
}

void PacedPast::go_to(std::uint64_t unit) {
  if (unit <= end_) return;
  const Portion part = part_of(std::exchange(open_, {}), unit - end_);
  for (; end_ < unit; ++end_) past_.add(part);
}

}  // namespace tallyfs::view
