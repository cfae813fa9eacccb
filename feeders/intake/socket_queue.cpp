#include "feeders/intake/socket_queue.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

namespace tallyfs {

std::span<const Datagram> SocketQueue::receive(std::size_t at_most) {
  const MutexLock lock(mutex_);
  const auto batch = receiver_.receive(at_most);
  for (std::size_t i = 0; i < batch.size() && !queued_.empty(); ++i) {
    queued_bytes_ -= queued_.front().bytes;
    queued_.pop_front();
  }
  received_ = batch.size();
  received_of_others_ = count_others(batch);
  return batch;
}

std::optional<SocketQueue::Queued> SocketQueue::first() {
  const MutexLock lock(mutex_);
  if (queued_.empty()) return std::nullopt;
  return queued_.front();
}

// Descriptors that are attached are closed by the kernel, as there is no room for them.
bool SocketQueue::discard_first() {
  const MutexLock lock(mutex_);
  if (queued_.empty() || !receiver_.discard()) return false;
  queued_bytes_ -= queued_.front().bytes;
  queued_.pop_front();
  return true;
}

void SocketQueue::finish_received() {
  const MutexLock lock(mutex_);
  received_ = received_of_others_ = 0;
}

bool SocketQueue::received_of_others() const {
  const MutexLock lock(mutex_);
  return received_of_others_ != 0;
}

std::size_t SocketQueue::count_others(std::span<const Datagram> datagrams) const {
  if (held_.empty()) return datagrams.size();
  const auto is_other = [this](const Datagram& each)
                            REQUIRES(mutex_) { return !has(held_, key_of(each.origin)); };
  return static_cast<std::size_t>(std::ranges::count_if(datagrams, is_other));
}

bool SocketQueue::has(const Keys& keys, SenderKey sender) const {
  return keys.contains(sender) || (!known_.contains(sender) && keys.contains(sender.shared()));
}

void SocketQueue::know(SenderKey sender) {
  const MutexLock lock(mutex_);
  known_.insert(sender);
}

void SocketQueue::forget(SenderKey sender) {
  const MutexLock lock(mutex_);
  known_.erase(sender);
}

void SocketQueue::hold(SenderKey sender) {
  const MutexLock lock(mutex_);
  held_.insert(sender);
  holds_any_.store(true, std::memory_order_relaxed);
}

void SocketQueue::let_go(SenderKey sender) {
  const MutexLock lock(mutex_);
  held_.erase(sender);
  holds_any_.store(!held_.empty(), std::memory_order_relaxed);
}

SocketQueue::Waiting SocketQueue::waiting(std::size_t looks_max) {
  const MutexLock lock(mutex_);
  if (received_of_others_ != 0) return Waiting::kOfOthers;
  const Look last = look(looks_max);
  if (last == Look::kFailed) return Waiting::kOfOthers;
  if (has_queued_beside(held_)) return Waiting::kOfOthers;
  if (last == Look::kFound) return Waiting::kTooMany;
  return queued_.empty() && received_ == 0 ? Waiting::kNothing : Waiting::kOfHeldOnly;
}

void SocketQueue::note_deferred(SenderKey sender) {
  const MutexLock lock(mutex_);
  deferred_.insert(sender);
}

void SocketQueue::note_caught_up(SenderKey sender) {
  const MutexLock lock(mutex_);
  deferred_.erase(sender);
}

bool SocketQueue::others_may_wait() {
  const MutexLock lock(mutex_);
  if (received_of_others_ != 0 || queued_.size() >= long_) return true;
  return look(long_ - queued_.size()) == Look::kFailed || queued_.size() >= long_ ||
         has_queued_beside(deferred_);
}

bool SocketQueue::has_queued_beside(const Keys& keys) const {
  return std::ranges::any_of(
      queued_, [&](const Queued& each) REQUIRES(mutex_) { return !has(keys, each.sender); });
}

SocketQueue::Look SocketQueue::look(std::size_t looks_max) {
  auto last = Look::kFound;
  for (std::size_t i = 0; i < looks_max && last == Look::kFound; ++i) last = look_at_next();
  return last;
}

// The offset counts bytes of the queue: at the end of those that are noted the next one begins. An
// empty datagram is shown once and then passed over, as long as it is in the queue.
SocketQueue::Look SocketQueue::look_at_next() {
  if (queued_bytes_ > INT_MAX) return Look::kFailed;
  const int offset = static_cast<int>(queued_bytes_);
  if (::setsockopt(fd_, SOL_SOCKET, SO_PEEK_OFF, &offset, sizeof offset) != 0) {
    return Look::kFailed;
  }
  char first = 0;
  iovec part{&first, sizeof first};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const ssize_t size =
      ::recvmsg(fd_, &header, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (size < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? Look::kEnd : Look::kFailed;
  Origin sender;
  read_credentials(header, sender);
  queued_.push_back({.sender = key_of(sender), .bytes = static_cast<std::size_t>(size)});
  queued_bytes_ += static_cast<std::size_t>(size);
  return Look::kFound;
}

}  // namespace tallyfs
