#include "tools/display/paced_past.h"

#include <utility>

#include "tools/display/portion.h"

namespace tallyfs::view {

void PacedPast::add(Portion more) {
  open_.count += more.count;
  open_.levels += more.levels;
  open_.level_sum += more.level_sum;
  open_.level_squares += more.level_squares;
  if (open_.buckets.empty())
    open_.buckets = std::move(more.buckets);
  else
    add_buckets(open_.buckets, more.buckets);
  if (more.value) open_.value = more.value;
}

void PacedPast::go_to(std::uint64_t unit) {
  if (unit <= end_) return;
  Portion part = part_of(std::exchange(open_, {}), unit - end_);
  for (; end_ + 1 < unit; ++end_) past_.add(part);
  past_.add(std::move(part));
  ++end_;
}

}  // namespace tallyfs::view
