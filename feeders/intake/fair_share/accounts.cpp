#include "feeders/intake/fair_share/accounts.h"

#include <algorithm>
#include <utility>

namespace tallyfs {
namespace {

// A full table is searched for accounts without debt no more often: 8 us of 10 ms are 0.1 %.
constexpr std::chrono::milliseconds kSearchPause{10};

}  // namespace

void Debt::let_time_pass(Nanoseconds now, int parts) {
  const auto passed = now - as_of_;
  of_all_ = std::max(Nanoseconds(0), of_all_ - passed / (kShareOfAll * parts));
  of_commands_ = std::max(Nanoseconds(0), of_commands_ - passed / (kShareOfCommands * parts));
  as_of_ = now;
}

void Debt::add(Cost cost, Nanoseconds spent) {
  Nanoseconds& debt = cost == Cost::kAll ? of_all_ : of_commands_;
  debt = std::min<Nanoseconds>(debt + spent, kMost);
}

Accounts::Account* Accounts::find_own(SenderKey sender) const {
  const auto found = accounts_.find(sender);
  return found == accounts_.end() ? nullptr : found->second.get();
}

Accounts::Account* Accounts::find(SenderKey sender) const {
  Account* const account = find_own(sender);
  return account ? account : find_own(sender.shared());
}

// While something is deferred of those that share an account, none of them gets one of its own:
// what it sends must not overtake what it has sent before.
Accounts::Account& Accounts::find_or_make(SenderKey sender, Nanoseconds now) {
  if (Account* const account = find_own(sender)) return *account;
  Account* const of_others = find_own(sender.shared());
  if (of_others && of_others->has_deferred) return *of_others;
  if (!has_place_for(sender) && now - looked_ >= kSearchPause) look_at_all(now);
  if (has_place_for(sender)) return make(sender, now);
  Account* const left = find_own(sender.shared());
  return left ? *left : make(sender.shared(), now);
}

bool Accounts::has_place_for(SenderKey sender) const {
  return sender.is_uid() ? uids_ < kUidsMax : accounts_.size() - uids_ < kProcessesMax;
}

Accounts::Account& Accounts::make(SenderKey sender, Nanoseconds now) {
  auto made = std::make_unique<Account>();
  made->sender = sender;
  made->debt = Debt(now);
  held_.know(sender);
  uids_ += sender.is_uid() ? 1 : 0;
  return *accounts_.emplace(sender, std::move(made)).first->second;
}

int Accounts::parts_for(SenderKey sender) const {
  if (!sender.is_uid() || uids_debt_.is_within(kAllowance)) return 1;
  return static_cast<int>(uids_);
}

void Accounts::charge(SenderKey sender, Cost cost, Nanoseconds spent, Nanoseconds now) {
  Account& account = find_or_make(sender, now);
  account.used = now;
  account.debt.let_time_pass(now, parts_for(account.sender));
  account.debt.add(cost, spent);
  if (account.sender.is_uid()) {
    uids_debt_.let_time_pass(now, 1);
    uids_debt_.add(cost, spent);
  }
  if (!is_within_allowance(account)) hold(account);
}

void Accounts::hold(SenderKey sender, Nanoseconds now) {
  Account& account = find_or_make(sender, now);
  account.used = now;
  hold(account);
}

void Accounts::hold(Account& account) {
  if (std::exchange(account.is_held, true)) return;
  held_count_ += 1;
  held_.hold(account.sender);
}

void Accounts::let_go(Account& account) {
  if (!std::exchange(account.is_held, false)) return;
  held_count_ -= 1;
  held_.let_go(account.sender);
}

bool Accounts::is_held(SenderKey sender, Nanoseconds now) {
  let_go_in_time(now);
  const Account* const account = find(sender);
  return account && account->is_held;
}

bool Accounts::holds_for_commands(SenderKey sender) const {
  const Account* const account = find(sender);
  return account && account->debt.of_commands() > kAllowance / parts_for(account->sender);
}

Accounts::Nanoseconds Accounts::reading_left(SenderKey sender, Nanoseconds now) const {
  const Account* const account = find(sender);
  return account ? account->reading.left(now) : reading_of_others_.left(now);
}

void Accounts::spend_reading(SenderKey sender, Nanoseconds spent, Nanoseconds now) {
  Account* const account = find(sender);
  (account ? account->reading : reading_of_others_).spend(spent, now);
}

void Accounts::look_at_all(Nanoseconds now) {
  looked_ = now;
  uids_debt_.let_time_pass(now, 1);
  boost::unordered::erase_if(accounts_, [&](const auto& entry) {
    Account& account = *entry.second;
    account.debt.let_time_pass(now, parts_for(account.sender));
    if (!is_within_allowance(account) || account.has_deferred) return false;
    let_go(account);
    const bool is_unused = account.debt.is_none() && account.reading.is_full(now);
    if (!is_unused || now - account.used < kKeptUnused) return false;
    held_.forget(account.sender);
    uids_ -= account.sender.is_uid() ? 1 : 0;
    return true;
  });
}

}  // namespace tallyfs
