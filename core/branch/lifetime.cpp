#include "core/branch/lifetime.h"

#include <algorithm>
#include <string>

#include "core/base/text.h"

namespace tallyfs {

Result<Lifetime> parse_lifetime(std::string_view attributes, std::string_view thing) {
  Tokens words(attributes);
  const auto word = words.next();
  if (!word) return Lifetime::kForGood;
  const bool is_lifetime = word->text == "lifetime=feeder";
  const auto more = words.next();
  if (is_lifetime && !more) return Lifetime::kFeeder;
  return Error{ErrorCode::kInvalid, std::string(thing) + " has no attribute but lifetime=feeder",
               is_lifetime ? more->at : word->at};
}

Result<void> LifetimeFeeders::add(Ledger& ledger, uid_t owner, pid_t process) {
  static_assert(sizeof(Feeder) + 2 * sizeof(void*) <= kFeederBytes);
  if (std::ranges::count(feeders_, process, &Feeder::process) != 0) return {};
  auto share = Reservation::create(ledger, owner, {.bytes = kFeederBytes});
  if (!share) return share.error();
  feeders_.push_back({process, std::move(share.value())});
  return {};
}

bool LifetimeFeeders::remove(pid_t process) {
  return feeders_.remove_if([&](const Feeder& each) { return each.process == process; }) != 0;
}

Result<void> FeederWatch::watch(const Sender& sender) const {
  if (!processes_) return Error{ErrorCode::kInvalid, "no process can be watched here"};
  return processes_->watch(sender.pid, sender.uid);
}

}  // namespace tallyfs
