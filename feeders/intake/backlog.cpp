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

void Backlog::Debt::let_time_pass(Nanoseconds now, int parts) {
  const auto passed = now - as_of;
  of_all = std::max(Nanoseconds(0), of_all - passed / (kShareOfAll * parts));
  of_commands = std::max(Nanoseconds(0), of_commands - passed / (kShareOfCommands * parts));
  as_of = now;
}

void Backlog::Debt::add(Cost cost, Nanoseconds spent) {
  Nanoseconds& debt = cost == Cost::kAll ? of_all : of_commands;
  debt = std::min<Nanoseconds>(debt + spent, kDebtMax);
}

Backlog::Account* Backlog::find(Key sender) const {
  const auto found = accounts_.find(sender);
  return found == accounts_.end() ? nullptr : found->second.get();
}

Backlog::Account* Backlog::find_or_shared(Key sender) const {
  Account* const account = find(sender);
  return account ? account : find(SocketQueue::shared_by(sender));
}

Backlog::Account* Backlog::find(const Origin& sender) const {
  return find_or_shared(queue_.key_of(sender));
}

// While something is put off of those that share an account, none of them gets one of its own: what
// it sends must not overtake what it has sent before.
Backlog::Account& Backlog::find_or_make(const Origin& sender, Nanoseconds now) {
  const Key own = queue_.key_of(sender);
  if (Account* const account = find(own)) return *account;
  const Key shared = SocketQueue::shared_by(own);
  Account* const of_others = find(shared);
  if (of_others && !of_others->late.empty()) return *of_others;
  if (!has_place_for(own) && now - looked_ >= kSearchPause) look_at_all(now);
  if (has_place_for(own)) return make(own, now);
  Account* const left = find(shared);
  return left ? *left : make(shared, now);
}

bool Backlog::has_place_for(Key sender) const {
  return SocketQueue::is_uid(sender) ? uids_ < kUidsMax : accounts_.size() - uids_ < kSendersMax;
}

Backlog::Account& Backlog::make(Key sender, Nanoseconds now) {
  auto made = std::make_unique<Account>();
  made->sender = sender;
  made->debt.as_of = now;
  queue_.know(sender);
  uids_ += SocketQueue::is_uid(sender) ? 1 : 0;
  return *accounts_.emplace(sender, std::move(made)).first->second;
}

int Backlog::parts_for(Key sender) const {
  if (!SocketQueue::is_uid(sender) || uids_debt_.is_within(kAllowance)) return 1;
  return static_cast<int>(uids_);
}

void Backlog::charge(const Origin& sender, Cost cost, Nanoseconds spent, Nanoseconds now) {
  Account& account = find_or_make(sender, now);
  account.used = now;
  account.debt.let_time_pass(now, parts_for(account.sender));
  account.debt.add(cost, spent);
  if (SocketQueue::is_uid(account.sender)) {
    uids_debt_.let_time_pass(now, 1);
    uids_debt_.add(cost, spent);
  }
  if (is_within_allowance(account) || std::exchange(account.is_held, true)) return;
  queue_.hold(account.sender);
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
  return account && account->debt.of_commands > kAllowance / parts_for(account->sender);
}

bool Backlog::has_late_of(const Origin& sender) const {
  const Account* const account = find(sender);
  return account && !account->late.empty();
}

Backlog::Nanoseconds Backlog::reading_left(const Origin& sender, Nanoseconds now) const {
  const Account* const account = find(sender);
  return account ? account->reading.left(now) : reading_of_others_.left(now);
}

void Backlog::spend_reading(const Origin& sender, Nanoseconds spent, Nanoseconds now) {
  Account* const account = find(sender);
  (account ? account->reading : reading_of_others_).spend(spent, now);
}

void Backlog::look_at_all(Nanoseconds now) {
  looked_ = now;
  uids_debt_.let_time_pass(now, 1);
  boost::unordered::erase_if(accounts_, [&](const auto& entry) {
    Account& account = *entry.second;
    account.debt.let_time_pass(now, parts_for(account.sender));
    if (!is_within_allowance(account) || !account.late.empty()) return false;
    if (std::exchange(account.is_held, false)) queue_.let_go(account.sender);
    const bool is_unused = account.debt.is_none() && account.reading.is_full(now);
    if (!is_unused || now - account.used < kKeptUnused) return false;
    forget(account.sender);
    return true;
  });
}

void Backlog::forget(Key sender) {
  queue_.forget(sender);
  uids_ -= SocketQueue::is_uid(sender) ? 1 : 0;
}

bool Backlog::has_room(const Origin& sender, std::size_t bytes) const {
  bytes += kLateBytes;
  return bytes <= kBytesOfSenderMax - find(sender)->bytes && bytes <= kBytesMax - bytes_;
}

bool Backlog::is_full_of(Key sender, std::size_t bytes) const {
  const Account* const account = find_or_shared(sender);
  return account && account->is_held && bytes + kLateBytes > kBytesOfSenderMax - account->bytes;
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

void Backlog::put_rest(const Datagram& datagram, std::vector<char> rest,
                       const LineProgress& progress) {
  auto late = make_late(datagram, std::move(rest), true);
  late.progress = progress;
  entered(datagram.origin, bytes_of(late)).late.push_front(std::move(late));
}

void Backlog::adopt(Late late, Nanoseconds now) {
  Account& account = find_or_make(late.datagram.origin, now);
  account.used = now;
  if (!std::exchange(account.is_held, true)) queue_.hold(account.sender);
  entered(late.datagram.origin, bytes_of(late)).late.push_back(std::move(late));
}

Backlog::Late Backlog::take() {
  Account& account = *turns_.front();
  turns_.pop_front();
  Late late = take_first_of(account);
  if (!account.late.empty()) turns_.push_back(&account);
  return late;
}

Backlog::Late Backlog::take_in_the_way_of(const Origin& sender, std::size_t bytes) {
  Account* account = find(sender);
  if (bytes + kLateBytes <= kBytesOfSenderMax - account->bytes) {
    account = *std::ranges::max_element(turns_, {}, &Account::bytes);
  }
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
