#include "feeders/statsd/service.h"

#include <systemd/sd-daemon.h>

#include <string>
#include <utility>

#include "core/base/clock.h"
#include "program/feeder/program.h"
#include "program/log.h"
#include "tally/statistic.hpp"

namespace tallyfs::statsd {
namespace {

constexpr std::chrono::milliseconds kPublishDelay{100};
// At the end, for the daemon; and the longest time without progress in registrations.
constexpr std::chrono::milliseconds kSyncTime{2'000};
// Samples that libtally holds. Beside them it has room for those of the largest packet, 32,768, and
// those that come between two looks.
constexpr std::uint64_t kHeldBound = 30'000;
constexpr std::uint64_t kMetricsBetweenLooks = 1'024;
// After a wait in vain: the daemon is away, or slow.
constexpr std::chrono::seconds kCatchUpPause{10};

}  // namespace

Service::Service(Settings settings, AllowList allow, std::chrono::seconds set_window)
    : allow_(std::move(allow)),
      set_window_(set_window),
      translator_(std::move(settings), outlet_,
                  [this](std::string_view line, const Refusal& refusal, const Arrival& arrival) {
                    log_refusal(line, refusal, arrival);
                  }) {}

Service::~Service() = default;

void Service::add(ListeningSocket socket) {
  std::string text = "listens on " + to_text(socket.address());
  if (is_datagram(socket.address().transport)) {
    if (!is_unix(socket.address().transport)) {
      text.append(", with room for ").append(std::to_string(socket.receive_bytes() / 1024));
      text.append(" KiB of packets");
    }
    datagrams_.push_back(
        std::make_unique<DatagramListener>(loop_, std::move(socket), receiver_, allow_, *this));
  } else {
    streams_.push_back(
        std::make_unique<StreamListener>(loop_, std::move(socket), stream_memory_, allow_, *this));
  }
  log_info(text);
}

void Service::run(const StopSignal& stop) {
  wait_for(stop);
  wait_for_window();
  say_ready();
  ::sd_notify(0, "READY=1");
  loop_.run();
  ::sd_notify(0, "STOPPING=1");
  for (const auto& listener : datagrams_) listener->drain();
  for (const auto& listener : streams_) listener->drain();
  translator_.end_set_windows(SystemClock::monotonic());
  outlet_.flush();
  publish();
  log_losses();
}

// Logs how many samples libtally could not deliver, so that totals can be checked.
void Service::log_losses() {
  (void)tally::sync(kSyncTime);
  const auto counts = tally::counts();
  if (counts.dropped != 0) {
    log_warning(std::to_string(counts.dropped) + " samples were dropped");
  }
  if (counts.lost != 0) {
    log_warning(std::to_string(counts.lost) + " samples were on the way when a daemon went");
  }
}

// The descriptor is the signal's.
void Service::wait_for(const StopSignal& stop) {
  stopped_.assign(stop.fd());
  stopped_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                      [this](const boost::system::error_code&) {
                        stopped_.release();
                        loop_.stop();
                      });
}

// Windows end at multiples of their length.
void Service::wait_for_window() {
  const auto end = (SystemClock::monotonic() / set_window_ + 1) * set_window_;
  window_timer_.expires_at(std::chrono::steady_clock::time_point(end));
  window_timer_.async_wait([this, end](const boost::system::error_code& error) {
    if (error) return;
    translator_.end_set_windows(end);
    outlet_.flush();
    wait_for_window();
  });
}

void Service::begin_batch() {
  arrival_.now = SystemClock().now();
  publish_soon();
}

void Service::take(std::string_view packet, const Sender& sender) {
  const auto transport = sender.listener.transport;
  arrival_.keeps_signs = transport == Transport::kUnixDatagram || sender.has_lengths;
  arrival_.sender = senders_.size();
  senders_.push_back(sender);
  translator_.take_packet(packet, arrival_);
  // A stream's bytes move; those of datagrams stay until all of the batch were taken.
  if (!is_datagram(transport)) translator_.finish();
  const std::uint64_t metrics = translator_.counts().metrics;
  if (metrics - metrics_checked_ < kMetricsBetweenLooks) return;
  metrics_checked_ = metrics;
  if (tally::counts().held >= kHeldBound) [[unlikely]]
    let_daemon_catch_up();
}

void Service::end_batch() {
  translator_.finish();
  outlet_.flush();
  senders_.clear();
}

// Samples of new series, and all behind them, are held until the daemon has registered the series.
// Meanwhile packets wait in the kernel's queues, which count what they drop.
void Service::let_daemon_catch_up() {
  if (SystemClock::monotonic() < catch_up_at_) return;
  for (std::uint64_t held = UINT64_MAX; tally::counts().held >= kHeldBound;) {
    if (tally::counts().held >= held) {
      catch_up_at_ = SystemClock::monotonic() + kCatchUpPause;
      return;
    }
    held = tally::counts().held;
    (void)tally::sync(kSyncTime);
  }
}

void Service::lose(Loss loss, const Sender& sender) {
  Counts& counts = translator_.counts();
  const char* text = "";
  switch (loss) {
    case Loss::kTruncated:
      counts.truncated += 1;
      text = "sent a packet or a line that is too long";
      break;
    case Loss::kDenied:
      counts.denied += 1;
      text = "is not allowed (--allow)";
      break;
    case Loss::kConnectionClosed:
      counts.connections_closed += 1;
      text = "had an idle connection, which gave way to another, or too much in incomplete lines";
      break;
  }
  publish_soon();
  if (!refusal_log_.may_log(SystemClock::monotonic())) return;
  const std::string from = sender.address ? to_text(*sender.address) : to_text(sender.listener);
  log_warning("a sender of " + from + " " + text);
}

void Service::log_refusal(std::string_view line, const Refusal& refusal, const Arrival& arrival) {
  if (!refusal_log_.may_log(arrival.now.monotonic)) return;
  const Sender& sender = senders_[arrival.sender];
  const std::string from = sender.address ? to_text(*sender.address) : to_text(sender.listener);
  const RefusedPlace place{from, name_of(refusal.reason), refusal.text, refusal.at};
  log_warning(to_text(place, line) + refusal_log_.take_left_out());
}

void Service::publish_soon() {
  if (std::exchange(will_publish_, true)) return;
  publish_timer_.expires_after(kPublishDelay);
  publish_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) publish();
  });
}

void Service::publish() {
  will_publish_ = false;
  for (const auto& listener : datagrams_) {
    translator_.counts().kernel_drops += listener->take_kernel_drops();
  }
  own_.publish(translator_.counts());
  log_bounds();
}

void Service::log_bounds() {
  const auto now = SystemClock::monotonic();
  const std::uint64_t overflowed = translator_.counts().overflowed;
  for (const std::string& line : series_log_.take(translator_.bounds(), overflowed, now)) {
    log_warning(line);
  }
}

}  // namespace tallyfs::statsd
