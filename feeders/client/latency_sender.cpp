#include "feeders/client/latency_sender.h"

#include <unistd.h>

#include <cerrno>
#include <functional>
#include <utility>

#include "core/base/text.h"
#include "core/wire/binary.h"

namespace tallyfs {

int LatencySender::send(std::string_view type, const LatencySample& sample,
                        std::chrono::nanoseconds now) {
  if (!is_name(type)) return -EINVAL;
  Dropped& dropped = dropped_[std::hash<std::string_view>()(type) % kTypes];
  const std::uint64_t unsaid = dropped.count.exchange(0);
  const int error = send_datagram(type, {&sample, 1}, unsaid, now);
  if (error != 0) count_dropped(dropped, type, unsaid + 1);
  return error;
}

void LatencySender::after_fork_in_child() {
  for (Dropped& dropped : dropped_) {
    dropped.count = 0;
    dropped.is_taken = false;
  }
}

void LatencySender::count_dropped(Dropped& dropped, std::string_view type, std::uint64_t count) {
  if (!dropped.is_taken.exchange(true)) {
    dropped.name_bytes = type.copy(dropped.name.data(), dropped.name.size());
    dropped.is_taken = false;
  }
  dropped.count += count;
}

void LatencySender::report_dropped(std::chrono::nanoseconds now) {
  connect_at_ns_ = 0;  // there may be no later time
  bool may_wait = true;
  for (Dropped& dropped : dropped_) {
    if (dropped.count == 0 || report(dropped, now) != -EAGAIN) continue;
    if (std::exchange(may_wait, false)) link_.wait_for_room(kRoomMax);
    (void)report(dropped, now);
  }
}

int LatencySender::report(Dropped& dropped, std::chrono::nanoseconds now) {
  if (dropped.is_taken.exchange(true)) return 0;
  const std::uint64_t unsaid = dropped.count.exchange(0);
  const std::string_view type(dropped.name.data(), dropped.name_bytes);
  const int error = type.empty() ? -EINVAL : send_datagram(type, {}, unsaid, now);
  if (error != 0) dropped.count += unsaid;
  dropped.is_taken = false;
  return error;
}

// A daemon that has been replaced is noticed by the first datagram that it does not get.
int LatencySender::send_datagram(std::string_view type, std::span<const LatencySample> samples,
                                 std::uint64_t dropped, std::chrono::nanoseconds now) {
  // No thread_local: the main thread no longer has any when it reports at exit.
  wire::DatagramWriter datagram(0);
  if (dropped != 0) datagram.dropped(dropped);
  datagram.latencies(type, samples);
  for (int tries = 0; tries < 2 && is_connected(now); ++tries) {
    switch (link_.send(datagram.bytes())) {
      case Link::Sent::kDone:
        return 0;
      case Link::Sent::kFull:
        return -EAGAIN;
      case Link::Sent::kGone:
        break;
    }
  }
  return -ENOTCONN;
}

bool LatencySender::is_connected(std::chrono::nanoseconds now) {
  if (link_.connected()) return true;
  const pid_t self = ::getpid();
  pid_t other = connecting_.load();
  if (other == self || now.count() < connect_at_ns_.load()) return false;
  if (!connecting_.compare_exchange_strong(other, self)) return false;
  const bool connected = link_.connected() || link_.connect();
  if (!connected) connect_at_ns_.store((now + kConnectPause).count());
  connecting_.store(0);
  return connected;
}

}  // namespace tallyfs
