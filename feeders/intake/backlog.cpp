#include "feeders/intake/backlog.h"

#include <algorithm>
#include <utility>

namespace tallyfs {
namespace {

// A deferred datagram needs so much memory besides its bytes.
constexpr std::size_t kDeferredBytes = 256;
static_assert(sizeof(Backlog::Deferred) <= kDeferredBytes);

std::size_t room_of(const Backlog::Deferred& one) { return kDeferredBytes + one.bytes.size(); }

}  // namespace

Backlog::Deferred Backlog::Deferred::of(const Datagram& datagram, std::vector<char> bytes,
                                        bool is_rest) {
  Deferred deferred{.bytes = std::move(bytes), .datagram = datagram, .is_rest = is_rest};
  deferred.datagram.bytes = deferred.bytes;  // which stay where they are when the vector is moved
  return deferred;
}

Backlog::Queue* Backlog::find(SenderKey sender) const {
  const Accounts::Account* const account = accounts_.find(sender);
  if (!account || !account->has_deferred) return nullptr;
  return queues_.find(account->sender)->second.get();
}

bool Backlog::has_any_of(const Origin& sender) const {
  return find(queue_.key_of(sender)) != nullptr;
}

std::size_t Backlog::bytes_of(SenderKey sender) const {
  const Queue* const queue = find(sender);
  return queue ? queue->bytes : 0;
}

bool Backlog::has_room(const Origin& sender, std::size_t bytes) const {
  bytes += kDeferredBytes;
  return bytes_of(queue_.key_of(sender)) + bytes <= kBytesOfSenderMax &&
         bytes_ + bytes <= kBytesMax;
}

bool Backlog::is_full_of(SenderKey sender, std::size_t bytes) const {
  const Accounts::Account* const account = accounts_.find(sender);
  return account && account->is_held &&
         bytes_of(sender) + bytes + kDeferredBytes > kBytesOfSenderMax;
}

Backlog::Queue& Backlog::entered(const Origin& sender, std::size_t bytes) {
  Accounts::Account& account = *accounts_.find(queue_.key_of(sender));
  std::unique_ptr<Queue>& queue = queues_[account.sender];
  if (!queue) {
    queue = std::make_unique<Queue>();
    queue->account = &account;
    account.has_deferred = true;
    turns_.push_back(queue.get());
    queue_.note_deferred(account.sender);
  }
  queue->bytes += bytes;
  bytes_ += bytes;
  return *queue;
}

void Backlog::put(const Datagram& datagram) {
  const char* const bytes = datagram.bytes.data();
  auto deferred = Deferred::of(datagram, {bytes, bytes + datagram.bytes.size()}, false);
  entered(datagram.origin, room_of(deferred)).deferred.push_back(std::move(deferred));
}

void Backlog::put_rest(const Datagram& datagram, std::vector<char> rest,
                       const LineProgress& progress) {
  auto deferred = Deferred::of(datagram, std::move(rest), true);
  deferred.progress = progress;
  entered(datagram.origin, room_of(deferred)).deferred.push_front(std::move(deferred));
}

void Backlog::adopt(Deferred deferred, std::chrono::nanoseconds now) {
  const Origin sender = deferred.datagram.origin;
  accounts_.hold(queue_.key_of(sender), now);
  entered(sender, room_of(deferred)).deferred.push_back(std::move(deferred));
}

Backlog::Deferred Backlog::take() {
  Queue& queue = *turns_.front();
  turns_.pop_front();
  if (queue.deferred.size() > 1) turns_.push_back(&queue);
  return take_first_of(queue);
}

Backlog::Deferred Backlog::take_in_the_way_of(const Origin& sender, std::size_t bytes) {
  Queue* queue = find(queue_.key_of(sender));
  if (!queue || queue->bytes + bytes + kDeferredBytes <= kBytesOfSenderMax) {
    const std::size_t wanted = bytes_ + bytes + kDeferredBytes;
    const std::size_t needed = wanted - std::min(wanted, kBytesMax);
    queue = *std::ranges::max_element(turns_, {}, [needed](const Queue* each) {
      const bool suffices = each->bytes >= needed;
      return std::pair(each->account->sender.is_uid() && suffices, each->bytes);
    });
  }
  if (queue->deferred.size() == 1) std::erase(turns_, queue);
  return take_first_of(*queue);
}

Backlog::Deferred Backlog::take_first_of(Queue& queue) {
  Deferred first = std::move(queue.deferred.front());
  queue.deferred.pop_front();
  queue.bytes -= room_of(first);
  bytes_ -= room_of(first);
  if (!queue.deferred.empty()) return first;
  queue.account->has_deferred = false;
  queue_.note_caught_up(queue.account->sender);
  queues_.erase(queue.account->sender);
  return first;
}

}  // namespace tallyfs
