// Sends samples to the daemon in the binary form of core/wire/FORMAT.md, and takes on itself what
// a feeder should not have to think of: it registers the statistics, finds a daemon that started
// later or again and registers them anew, and holds the samples meanwhile.
//
// Confined to one thread; throws nothing. Holds at most kHeldMax samples and kStatisticsMax
// statistics; a sample beyond that, or of a statistic that the daemon refused, is dropped and
// counts in take_dropped(). Samples on the way to a daemon that dies are lost without a count:
// nobody knows how many it still read.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/base/sample.h"
#include "core/wire/binary.h"
#include "feeders/client/link.h"

namespace tally {

class Sender {
 public:
  static constexpr std::size_t kDatagramBytes = 8 * 1024;
  static constexpr std::size_t kStatisticsMax = 65'536;
  static constexpr std::size_t kHeldMax = 65'536;
  // Past a quarter of that, add() sends by itself.
  static constexpr std::size_t kHeldBeforeSending = kHeldMax / 4;

  struct Options {
    std::string path;  // see find_socket_path()
    // How long a flush() may wait for room in the daemon's queue, all in all; the ones after it
    // wait no more until there is room.
    std::chrono::milliseconds wait_max{100};
    // Told when the daemon is found, lost or out of reach and when it refuses a statistic, from
    // inside flush() and add(). Must not call back.
    std::function<void(const std::string&)> report;
  };
  // Names a statistic for as long as the Sender lives.
  enum class Handle : std::uint32_t {};

  // The clock outlives the Sender.
  Sender(Options options, const Clock& clock);

  // path is INTERFACE/STATISTIC, definition what follows it in a `create` line. Nothing is sent
  // before the next flush(). kNoSpace: there are kStatisticsMax.
  Result<Handle> add_statistic(const std::string& path, const std::string& definition);

  // The sample's time is that of the event.
  void add(Handle statistic, const Sample& sample);

  // Sends what is held as far as daemon and queue allow; what is not sent stays held. Call it
  // also when there is nothing to send, once a second or so: it is what finds the daemon again.
  void flush();
  // The last flush(): waits, once for wait_max, for the answers to registrations on the way.
  void finish();

  // Samples wait for the daemon, or for its answer to a registration.
  bool holds() const { return held_ > 0; }
  // add() would drop.
  bool full() const { return held_ >= kHeldMax; }
  // Samples of this statistic that were dropped since the last call.
  std::uint64_t take_dropped(Handle statistic);

 private:
  enum class Standing { kUnknown, kAsked, kKnown, kRefused };
  struct Statistic {
    std::string line;  // the create line
    Standing standing = Standing::kUnknown;
    std::uint64_t number = 0;
    std::vector<Sample> held;
    std::size_t packed = 0;  // how many of held are in sent datagrams, or in the one being built
    std::uint64_t dropped = 0;
  };
  // Samples in the datagram that is being built.
  struct Run {
    Statistic* statistic;
    std::size_t samples;
  };
  using Time = std::chrono::nanoseconds;

  bool reach_daemon(Time now);
  void lose_daemon(Time now);
  void forget_numbers();
  void take_answers(std::chrono::milliseconds wait_max);
  void take_answer(const wire::Answer& answer);
  void ask(Time now, Time deadline);
  void send_held(Time deadline);
  bool pack(Statistic& statistic, Time deadline);
  bool send_runs(Time deadline);
  bool send_datagram(Time deadline);
  void discard_sent(Statistic& statistic);
  void drop_held(Statistic& statistic);
  void report(const std::string& what) const;

  const Options options_;
  const Clock& clock_;
  Link link_;
  std::vector<Statistic> statistics_;
  std::size_t held_ = 0;  // samples in all of them

  std::uint64_t epoch_ = 0;  // the daemon's, with its first answer
  wire::DatagramWriter datagram_;
  std::vector<Run> runs_;
  bool full_ = false;  // the last datagram found no room in time

  // Backoff and time-outs; zero is long ago.
  Time connect_at_{0};
  std::chrono::nanoseconds connect_pause_;
  Time ask_again_at_{0};
  Time retry_refused_at_{0};
  Time sent_at_{0};
  bool reported_missing_ = false;
};

}  // namespace tally
