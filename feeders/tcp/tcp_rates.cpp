#include "feeders/tcp/tcp_rates.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "core/base/mutex.h"
#include "tally/publish.h"

namespace tallyfs::tcp_rates {
namespace {

Mutex g_mutex{LockRank::kTcpRates};
stats_tpl_sample_rate* g_rates GUARDED_BY(g_mutex) = nullptr;
int g_count GUARDED_BY(g_mutex) = 0;
std::uint64_t g_changes GUARDED_BY(g_mutex) = 0;

// Holds the lock from RLOCKED_GET to RUNLOCK, which the analysis cannot follow.
int keep(stats_tpl_sr_cb_action action, stats_tpl_sample_rate** rates, int* count,
         void*) NO_THREAD_SAFETY_ANALYSIS {
  switch (action) {
    case TPL_SR_RLOCKED_GET:
      g_mutex.lock();
      [[fallthrough]];
    case TPL_SR_UNLOCKED_GET:
      *rates = g_rates;
      *count = g_count;
      return 0;
    case TPL_SR_RUNLOCK:
      g_mutex.unlock();
      return 0;
    case TPL_SR_PUT: {
      const MutexLock lock(g_mutex);
      std::swap(*rates, g_rates);
      std::swap(*count, g_count);
      g_changes += 1;
      return 0;
    }
  }
  return EINVAL;
}

}  // namespace

Result<void> follow(const char* subsystem, std::string_view text) {
  const std::string line(text);
  sysctl_req request{};
  request.newptr = line.c_str();
  request.newlen = line.size() + 1;
  int error = ::stats_tpl_sample_rates(nullptr, reinterpret_cast<void*>(&keep), 0, &request);
  if (error == ESRCH) {
    return Error{ErrorCode::kInvalid, "sample rates '" + line +
                                          "': there is no template of that name; TCP_DEFAULT is"};
  }
  if (error != 0) {
    return Error{ErrorCode::kInvalid, "sample rates '" + line + "': " + std::strerror(error)};
  }
  error = -::stats_subsystem_rates(subsystem, &keep, 0);
  if (error == 0) return {};
  return Error{ErrorCode::kInvalid,
               std::string("stats/") + subsystem + ": " + std::strerror(error)};
}

std::uint64_t changes() {
  const MutexLock lock(g_mutex);
  return g_changes;
}

int roll(std::string_view seed) {
  const MutexLock lock(g_mutex);
  return ::stats_tpl_sample_rollthedice(g_rates, g_count, const_cast<char*>(seed.data()),
                                        seed.size());
}

}  // namespace tallyfs::tcp_rates
