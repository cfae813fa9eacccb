#include "core/branch/lifetime.h"

#include <algorithm>
#include <string>

namespace tallyfs {

Result<Lifetime> take_lifetime(Tokens& words) {
  constexpr std::string_view kName = "lifetime=";
  Tokens behind = words;
  const auto word = behind.next();
  if (!word || !word->text.starts_with(kName)) return Lifetime::kForGood;
  if (word->text.substr(kName.size()) != "feeder") {
    return Error{ErrorCode::kInvalid, "lifetime can only be feeder", word->at + kName.size()};
  }
  words = behind;
  return Lifetime::kFeeder;
}

Result<Lifetime> parse_lifetime(std::string_view attributes, std::string_view thing) {
  Tokens words(attributes);
  auto lifetime = take_lifetime(words);
  const auto other = words.next();
  if (!other) return lifetime;
  return Error{ErrorCode::kInvalid, std::string(thing) + " has no attribute but lifetime=feeder",
               other->at};
}

Result<void> LifetimeFeeders::add(Ledger& ledger, uid_t owner, pid_t process) {
  static_assert(sizeof(Feeder) + 2 * sizeof(void*) <= kFeederBytes);
  if (contains(process)) return {};
  auto share = Reservation::create(ledger, owner, {.bytes = kFeederBytes});
  if (!share) return share.error();
  feeders_.push_back({process, std::move(share.value())});
  return {};
}

bool LifetimeFeeders::contains(pid_t process) const {
  return std::ranges::find(feeders_, process, &Feeder::process) != feeders_.end();
}

bool LifetimeFeeders::remove(pid_t process) {
  return feeders_.remove_if([&](const Feeder& each) { return each.process == process; }) != 0;
}

Result<void> FeederWatch::watch(const Sender& sender) const {
  if (!processes_) return Error{ErrorCode::kInvalid, "no process can be watched here"};
  if (sender.pid == 0) return Error{ErrorCode::kInvalid, "the sender's process is not known"};
  return processes_->watch(sender.pid, sender.uid);
}

}  // namespace tallyfs
