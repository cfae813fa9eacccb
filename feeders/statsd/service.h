// The feeder at work: listeners, the translator, libtally, and the loop that joins them.
// Confined to one thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/result.h"
#include "feeders/statsd/library_outlet.h"
#include "feeders/statsd/listen/datagram_listener.h"
#include "feeders/statsd/listen/packet_sink.h"
#include "feeders/statsd/listen/stream_listener.h"
#include "feeders/statsd/own_statistics.h"
#include "feeders/statsd/series/translator.h"
#include "feeders/text/series_log.h"
#include "feeders/text/refusal_log.h"
#include "program/feeder/stop_signal.h"

namespace tallyfs::statsd {

class Service final : public PacketSink {
 public:
  Service(Settings settings, AllowList allow, std::chrono::seconds set_window);
  ~Service() override;

  void add(ListeningSocket socket);
  // Until the signal; then takes what waits in the sockets, and hands all over to libtally.
  void run(const StopSignal& stop);

 private:
  void begin_batch() override;
  void take(std::string_view packet, const Sender& sender) override;
  void end_batch() override;
  void lose(Loss loss, const Sender& sender) override;
  void log_refusal(std::string_view line, const Refusal& refusal, const Arrival& arrival);
  void let_daemon_catch_up();
  void publish_soon();
  void publish();
  static void log_losses();
  void log_bounds();
  void wait_for_window();
  void wait_for(const StopSignal& stop);

  boost::asio::io_context loop_{1};  // one thread: no locking within
  boost::asio::steady_timer publish_timer_{loop_};
  boost::asio::steady_timer window_timer_{loop_};
  boost::asio::posix::stream_descriptor stopped_{loop_};
  const AllowList allow_;
  const std::chrono::nanoseconds set_window_;
  LibraryOutlet outlet_;
  OwnStatistics own_;
  RefusalLog refusal_log_;
  Translator translator_;
  DatagramReceiver receiver_;
  StreamMemory stream_memory_;
  std::vector<std::unique_ptr<DatagramListener>> datagrams_;
  std::vector<std::unique_ptr<StreamListener>> streams_;
  Arrival arrival_;
  std::vector<Sender> senders_;               // of the batch's packets
  std::uint64_t metrics_checked_ = 0;         // of the counts, when held samples were looked at
  SeriesLog series_log_{"names"};
  bool will_publish_ = false;
  std::chrono::nanoseconds catch_up_at_{0};  // no wait for the daemon before
};

}  // namespace tallyfs::statsd
