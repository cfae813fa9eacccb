#include "feeders/client/delivery.h"

#include "feeders/client/errno_guard.h"

namespace tallyfs {

// ---- sending

Delivery::Drained Delivery::drain(ThreadBuffer& buffer, std::uint64_t at_least) {
  if (buffer.end() - buffer.tail() < at_least) return Drained::kAll;
  if (!its_.link.connected()) return Drained::kGone;
  if (is_replaying() && &buffer != replay_buffer()) return Drained::kUnknown;
  const std::uint64_t epoch = this->epoch();
  const SampleTimes times = its_.time.times();
  while (buffer.end() - buffer.tail() >= at_least) {
    const Packed packed = pack(buffer, times, epoch);
    if (packed.samples != 0) {
      const Link::Sent sent = its_.link.send(packed.datagram);
      if (sent == Link::Sent::kFull) return Drained::kFull;
      if (sent == Link::Sent::kGone) return Drained::kGone;
      sent_.fetch_add(packed.samples, std::memory_order_relaxed);
      waited_in_vain_.store(false, std::memory_order_relaxed);
    }
    refused_.fetch_add(packed.refused, std::memory_order_relaxed);
    buffer.consume(packed.entries);
    if (packed.entries != 0 || !packed.unknown) continue;
    request_again(*packed.unknown);
    return Drained::kUnknown;
  }
  return Drained::kAll;
}

void Delivery::request_again(FedStatistic& statistic) {
  Registration gone = Registration::kRemoved;
  if (statistic.registration.compare_exchange_strong(gone, Registration::kUnregistered))
    its_.upkeep.wants_requests = true;
  // It has one of what is gone since the last look at the page.
  if (statistic.number != 0) its_.upkeep.has_void = true;
}

Delivery::Drained Delivery::drain_all() {
  Drained worst = Drained::kAll;
  its_.buffers.for_each([&](ThreadBuffer& buffer) {
    const MutexLock lock(buffer.mutex());
    const Drained drained = drain(buffer, 1);
    if (drained != Drained::kAll) worst = drained;
  });
  return worst;
}

void Delivery::send_now(ThreadBuffer& buffer) {
  const ErrnoGuard guard;
  const MutexLock lock(buffer.mutex());
  if (!its_.link.full()) drain(buffer, 1);
}

bool Delivery::make_space(ThreadBuffer& buffer) {
  its_.upkeep.sleep.wake_from_deep_sleep();
  if (buffer.held() < buffer.capacity() || can_send()) {
    const MutexLock lock(buffer.mutex());
    if (!its_.link.full()) drain(buffer, kDatagramSamplesMax);
    if (buffer.held() == 0) buffer.rewind();
    set_stop(buffer);
    if (buffer.held() < buffer.capacity()) return true;
  }
  return wait_for_space(buffer);
}

void Delivery::set_stop(ThreadBuffer& buffer) {
  // Before a child's switches are restored each sample calls make_space(). Once they are, this
  // thread sees them too.
  if (its_.settings.sends_each() || its_.inherited.are_asleep()) return buffer.set_stop(0);
  // While nothing can be sent, the background thread finds out when it can be again.
  const bool sends = can_send() && buffer.held() < kDatagramSamplesMax;
  buffer.set_stop(buffer.tail() + (sends ? kDatagramSamplesMax : buffer.capacity()));
}

// Only for a queue that is full: the response to a registration may take long.
bool Delivery::wait_for_space(ThreadBuffer& buffer) {
  if (its_.settings.wait_max.count() == 0) return false;
  const auto now = [] { return std::chrono::nanoseconds(monotonic_ns()); };
  const auto deadline = now() + its_.settings.wait_max;
  while (!waited_in_vain_.load(std::memory_order_relaxed)) {
    {
      const MutexLock lock(buffer.mutex());
      // Not Link::full() alone: another thread's send may just have cleared it.
      const Drained drained = drain(buffer, kDatagramSamplesMax);
      set_stop(buffer);
      if (buffer.held() < buffer.capacity()) return true;
      if (drained != Drained::kFull) return false;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - now());
    if (left.count() <= 0) {
      waited_in_vain_.store(true, std::memory_order_relaxed);
      return false;
    }
    its_.link.wait_for_room(left);
  }
  return false;
}

// ---- counts

void Delivery::confirm(std::uint64_t sent_before, Conversation::Taken taken) {
  const std::uint64_t known = confirmed() + lost();
  auto& counted = taken == Conversation::Taken::kAll ? confirmed_ : lost_;
  counted.fetch_add(sent_before - known);
}

void Delivery::reset_in_child() {
  replaying_ = false;
  replay_buffer_ = nullptr;
  sent_ = refused_ = confirmed_ = lost_ = 0;
}

}  // namespace tallyfs
