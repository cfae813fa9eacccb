// How statistics that were saved go on in another daemon.
#include "core/statistics/interface/interface.h"

namespace tallyfs::statistics {

void Interface::resume(Boot boot, Timestamp now) {
  std::uint64_t freed = 0;
  const MutexLock lock(mutex_);
  for (Statistic& statistic : statistics_) {
    freed += statistic.worst_case_bytes();
    statistic.resume(boot, now);
    freed -= statistic.worst_case_bytes();
  }
  reservation_.shrink({.bytes = freed});
  if (boot == Boot::kOther) last_change_.monotonic = {};
}

void Statistic::resume(Boot boot, Timestamp now) {
  if (boot == Boot::kThis) {
    if (on_) start_history(now.monotonic);
    return;
  }
  const bool is_over = std::visit(
      [](auto& gathered) {
        if constexpr (requires { gathered.forget_time(); }) gathered.forget_time();
        return requires { gathered.kOfOneBoot; };
      },
      gathered_);
  if (is_over) gather_anew(now);
  data_since_ = started_ = stopped_ = {};
}

}  // namespace tallyfs::statistics
