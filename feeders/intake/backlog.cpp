#include "feeders/intake/backlog.h"

#include <algorithm>
#include <string>
#include <utility>

namespace tallyfs {
namespace {

// What one that is put off takes beside its bytes.
constexpr std::size_t kLateBytes = 256;
static_assert(sizeof(Backlog::Late) <= kLateBytes);

constexpr std::uint64_t kOneProcess = std::uint64_t{1} << 32;

Error no_room(const std::string& whose, std::size_t bytes) {
  return {ErrorCode::kNoSpace, "costly commands wait to be carried out, and " + whose +
                                   " fill the " + std::to_string(bytes) +
                                   " bytes that may be put off behind them"};
}

Backlog::Late make_late(const Datagram& datagram, std::vector<char> bytes, bool is_rest) {
  Backlog::Late late{.bytes = std::move(bytes), .datagram = datagram, .is_rest = is_rest};
  late.datagram.bytes = late.bytes;  // which stay where they are when the vector is moved
  return late;
}

std::size_t bytes_of(const Backlog::Late& late) { return kLateBytes + late.bytes.size(); }

}  // namespace

void Backlog::Account::let_time_pass(Nanoseconds now) {
  debt = std::max(Nanoseconds(0), debt - (now - as_of) / kShare);
  as_of = now;
}

std::uint64_t Backlog::key_of(const Origin& sender) const {
  return ownership_.is_trusted(sender.uid) ? kOneProcess | static_cast<std::uint32_t>(sender.pid) : sender.uid;
}

Backlog::Account* Backlog::find(const Origin& sender) const {
  const auto found = accounts_.find(key_of(sender));
  return found == accounts_.end() ? nullptr : found->second.get();
}

Backlog::Account* Backlog::find_or_make(const Origin& sender, Nanoseconds now) {
  if (Account* const account = find(sender)) return account;
  if (accounts_.size() == kSendersMax) look_at_all(now);
  if (accounts_.size() == kSendersMax) return nullptr;
  auto made = std::make_unique<Account>();
  made->as_of = now;
  return accounts_.emplace(key_of(sender), std::move(made)).first->second.get();
}

void Backlog::charge(const Origin& sender, Nanoseconds spent, Nanoseconds now) {
  Account* const account = find_or_make(sender, now);
  if (!account) return;
  account->let_time_pass(now);
  account->debt = std::min<Nanoseconds>(account->debt + spent, kDebtMax);
  if (account->debt <= kAllowance || std::exchange(account->is_held, true)) return;
  ++held_;
}

bool Backlog::is_held(const Origin& sender, Nanoseconds now) {
  if (now - looked_ >= kLookPause) look_at_all(now);
  const Account* const account = find(sender);
  return account && account->is_held;
}

void Backlog::look_at_all(Nanoseconds now) {
  looked_ = now;
  boost::unordered::erase_if(accounts_, [&](const auto& entry) {
    Account& account = *entry.second;
    account.let_time_pass(now);
    if (account.debt > kAllowance || !account.late.empty()) return false;
    if (std::exchange(account.is_held, false)) --held_;
    return account.debt.count() == 0;
  });
}

Result<void> Backlog::check_room(const Account& account, std::size_t bytes) const {
  if (bytes > kBytesOfSenderMax - account.bytes) {
    return no_room("this sender's datagrams", kBytesOfSenderMax);
  }
  if (bytes > kBytesMax - bytes_) return no_room("all senders' datagrams", kBytesMax);
  return {};
}

Backlog::Account& Backlog::entered(const Origin& sender, std::size_t bytes) {
  Account& account = *find(sender);
  account.bytes += bytes;
  bytes_ += bytes;
  if (account.late.empty()) turns_.push_back(&account);
  return account;
}

Result<void> Backlog::put(const Datagram& datagram) {
  if (auto room = check_room(*find(datagram.origin), kLateBytes + datagram.bytes.size()); !room) {
    return room;
  }
  auto late = make_late(datagram, {datagram.bytes.begin(), datagram.bytes.end()}, false);
  entered(datagram.origin, bytes_of(late)).late.push_back(std::move(late));
  return {};
}

Result<void> Backlog::put_rest(const Datagram& datagram, std::vector<char> rest) {
  auto late = make_late(datagram, std::move(rest), true);
  if (auto room = check_room(*find(datagram.origin), bytes_of(late)); !room) return room;
  entered(datagram.origin, bytes_of(late)).late.push_front(std::move(late));
  return {};
}

Backlog::Late Backlog::take() {
  Account& account = *turns_.front();
  turns_.pop_front();
  Late late = std::move(account.late.front());
  account.late.pop_front();
  account.bytes -= bytes_of(late);
  bytes_ -= bytes_of(late);
  if (!account.late.empty()) turns_.push_back(&account);
  return late;
}

}  // namespace tallyfs
