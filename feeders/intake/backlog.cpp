#include "feeders/intake/backlog.h"

#include <algorithm>
#include <utility>

namespace tallyfs {
namespace {

// What one that is put off takes beside its bytes.
constexpr std::size_t kLateBytes = 256;
static_assert(sizeof(Backlog::Late) <= kLateBytes);

// How often a full table is searched for accounts without debt.
constexpr std::chrono::milliseconds kSearchPause{10};

Backlog::Late make_late(const Datagram& datagram, std::vector<char> bytes, bool is_rest) {
  Backlog::Late late{.bytes = std::move(bytes), .datagram = datagram, .is_rest = is_rest};
  late.datagram.bytes = late.bytes;  // which stay where they are when the vector is moved
  return late;
}

std::size_t bytes_of(const Backlog::Late& late) { return kLateBytes + late.bytes.size(); }

}  // namespace

void Backlog::Account::let_time_pass(Nanoseconds now) {
  const auto passed = now - as_of;
  debt = std::max(Nanoseconds(0), debt - passed / kShareOfAll);
  debt_of_commands = std::max(Nanoseconds(0), debt_of_commands - passed / kShareOfCommands);
  as_of = now;
}

Backlog::Account* Backlog::find(const Origin& sender) const {
  const auto found = accounts_.find(queue_.key_of(sender));
  return found == accounts_.end() ? nullptr : found->second.get();
}

Backlog::Account* Backlog::find_or_make(const Origin& sender, Nanoseconds now) {
  if (Account* const account = find(sender)) return account;
  if (accounts_.size() == kSendersMax && now - looked_ >= kSearchPause) look_at_all(now);
  return make(queue_.key_of(sender), now);
}

Backlog::Account* Backlog::make(SocketQueue::Key sender, Nanoseconds now) {
  if (accounts_.size() == kSendersMax) return nullptr;
  auto made = std::make_unique<Account>();
  made->sender = sender;
  made->as_of = now;
  return accounts_.emplace(sender, std::move(made)).first->second.get();
}

void Backlog::charge(const Origin& sender, Cost cost, Nanoseconds spent, Nanoseconds now) {
  Account* const account = find_or_make(sender, now);
  if (!account) return;
  account->let_time_pass(now);
  Nanoseconds& debt = cost == Cost::kAll ? account->debt : account->debt_of_commands;
  debt = std::min<Nanoseconds>(debt + spent, kDebtMax);
  if (account->is_within_allowance() || std::exchange(account->is_held, true)) return;
  queue_.hold(account->sender);
}

Backlog::Nanoseconds Backlog::cost_max(const Origin& sender, std::size_t bytes) const {
  const auto of_byte = queue_.is_trusted(sender) ? kTrustedByteCostMax : kByteCostMax;
  return of_byte * static_cast<Nanoseconds::rep>(bytes);
}

bool Backlog::is_held(const Origin& sender, Nanoseconds now) {
  if (now - looked_ >= kLookPause) look_at_all(now);
  const Account* const account = find(sender);
  return account && account->is_held;
}

bool Backlog::holds_for_commands(const Origin& sender) const {
  const Account* const account = find(sender);
  return account && account->debt_of_commands > kAllowance;
}

bool Backlog::has_late_of(const Origin& sender) const {
  const Account* const account = find(sender);
  return account && !account->late.empty();
}

Backlog::Nanoseconds Backlog::reading_left(const Origin& sender, Nanoseconds now) const {
  const Account* const account = find(sender);
  return account ? account->reading.left(now) : kReadingMax;
}

void Backlog::spend_reading(const Origin& sender, Nanoseconds spent, Nanoseconds now) {
  Account* account = find(sender);
  if (!account) account = make(queue_.key_of(sender), now);
  if (account) account->reading.spend(spent, now);
}

void Backlog::look_at_all(Nanoseconds now) {
  looked_ = now;
  boost::unordered::erase_if(accounts_, [&](const auto& entry) {
    Account& account = *entry.second;
    account.let_time_pass(now);
    if (!account.is_within_allowance() || !account.late.empty()) return false;
    if (std::exchange(account.is_held, false)) queue_.let_go(account.sender);
    return !account.has_debt() && account.reading.is_full(now);
  });
}

bool Backlog::has_room(const Origin& sender, std::size_t bytes) const {
  bytes += kLateBytes;
  return bytes <= kBytesOfSenderMax - find(sender)->bytes && bytes <= kBytesMax - bytes_;
}

Backlog::Account& Backlog::entered(const Origin& sender, std::size_t bytes) {
  Account& account = *find(sender);
  account.bytes += bytes;
  bytes_ += bytes;
  if (account.late.empty()) {
    turns_.push_back(&account);
    queue_.note_late(account.sender);
  }
  return account;
}

void Backlog::put(const Datagram& datagram) {
  const char* const bytes = datagram.bytes.data();
  auto late = make_late(datagram, {bytes, bytes + datagram.bytes.size()}, false);
  entered(datagram.origin, bytes_of(late)).late.push_back(std::move(late));
}

void Backlog::put_rest(const Datagram& datagram, std::vector<char> rest) {
  auto late = make_late(datagram, std::move(rest), true);
  entered(datagram.origin, bytes_of(late)).late.push_front(std::move(late));
}

Result<void> Backlog::adopt(Late late, Nanoseconds now) {
  Account* const account = find_or_make(late.datagram.origin, now);
  if (!account) return Error{ErrorCode::kNoSpace, "too many senders have something put off"};
  if (!std::exchange(account->is_held, true)) queue_.hold(account->sender);
  entered(late.datagram.origin, bytes_of(late)).late.push_back(std::move(late));
  return {};
}

Backlog::Late Backlog::take() {
  Account& account = *turns_.front();
  turns_.pop_front();
  Late late = take_first_of(account);
  if (!account.late.empty()) turns_.push_back(&account);
  return late;
}

Backlog::Late Backlog::take_oldest_of(const Origin& sender) {
  Account* const account = find(sender);
  if (!account || account->late.empty()) return take();
  Late late = take_first_of(*account);
  if (account->late.empty()) std::erase(turns_, account);
  return late;
}

Backlog::Late Backlog::take_first_of(Account& account) {
  Late late = std::move(account.late.front());
  account.late.pop_front();
  account.bytes -= bytes_of(late);
  bytes_ -= bytes_of(late);
  if (account.late.empty()) queue_.note_caught_up(account.sender);
  return late;
}

}  // namespace tallyfs
