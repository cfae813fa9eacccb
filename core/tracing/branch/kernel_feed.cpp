#include "core/tracing/branch/kernel_feed.h"

#include <array>
#include <utility>

namespace tallyfs::tracing {
namespace {

// The records that are fed at a time, with the lock of Tracing taken once.
constexpr std::size_t kRun = 256;

}  // namespace

Result<void> KernelFeed::may_feed(uid_t sender) const {
  if (ownership_.is_trusted(sender)) return {};
  return Error{ErrorCode::kNotPermitted, "only root may feed the kernel's events"};
}

Result<void> KernelFeed::offer(const wire::OfferedEvent& offered, uid_t sender) {
  if (auto allowed = may_feed(sender); !allowed) return allowed;
  const std::size_t bytes = sizeof(Offer) + offered.system.size() + offered.format.size();
  const MutexLock lock(mutex_);
  if (offered_bytes_ + bytes > kOfferedBytesMax) {
    return Error{ErrorCode::kNoSpace, "more offers of events than allowed"};
  }
  offered_bytes_ += bytes;
  offers_.push_back({offered.id, std::string(offered.system), std::string(offered.format)});
  return {};
}

Result<void> KernelFeed::feed(wire::PackedEvents records, uid_t sender, Timestamp now) {
  if (auto allowed = may_feed(sender); !allowed) return allowed;
  std::array<EventRecord, kRun> scratch;
  for (auto run = records.unpack(scratch, now.monotonic); !run.empty();
       run = records.unpack(scratch, now.monotonic)) {
    tracing_.feed(source_, run, now);
  }
  if (records.broken()) return Error{ErrorCode::kInvalid, "a record beyond the end of its message"};
  return {};
}

Result<void> KernelFeed::lost(const wire::LostEvents& lost, uid_t sender, Timestamp now) {
  if (auto allowed = may_feed(sender); !allowed) return allowed;
  tracing_.lost(source_, lost.records, now);
  return {};
}

std::size_t KernelFeed::take_offers(Timestamp now) {
  std::vector<Offer> taken;
  {
    const MutexLock lock(mutex_);
    taken = std::exchange(offers_, {});
    offered_bytes_ = 0;
  }
  std::vector<EventOffer> offers;
  offers.reserve(taken.size());
  for (const Offer& each : taken) {
    offers.push_back({.system = each.system, .text = each.format, .source_id = each.id});
  }
  return tracing_.offer(source_, offers, now);
}

bool KernelFeed::withdraw(Timestamp now) {
  {
    const MutexLock lock(mutex_);
    offers_.clear();
    offered_bytes_ = 0;
  }
  const bool is_missed = tracing_.broke_off(source_, now);
  tracing_.withdraw(source_, now);
  return is_missed;
}

}  // namespace tallyfs::tracing
