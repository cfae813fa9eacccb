#include "feeders/statsd/listen/datagram_listener.h"

#include <utility>

namespace tallyfs::statsd {
namespace {

constexpr int kBatchesPerTurn = 16;
// More than any socket's room has: a flood does not keep the feeder from ending.
constexpr int kBatchesAtEnd = 4'096;

}  // namespace

// Drops from before are of another process, which had the socket then.
DatagramListener::DatagramListener(boost::asio::io_context& loop, ListeningSocket socket,
                                   DatagramReceiver& receiver, const AllowList& allow,
                                   PacketSink& sink)
    : socket_(std::move(socket)),
      descriptor_(loop, socket_.fd()),
      receiver_(receiver),
      allow_(allow),
      sink_(sink),
      kernel_drops_(count_kernel_drops(socket_.fd())) {
  wait();
}

// The descriptor is the socket's.
DatagramListener::~DatagramListener() { descriptor_.release(); }

void DatagramListener::wait() {
  descriptor_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                         [this](const boost::system::error_code& error) {
                           if (error) return;
                           receive(kBatchesPerTurn);
                           wait();
                         });
}

void DatagramListener::receive(int batches_max) {
  while (batches_max > 0 && receiver_.receive(socket_.fd(), socket_.address(), allow_, sink_)) {
    batches_max -= 1;
  }
}

void DatagramListener::drain() { receive(kBatchesAtEnd); }

std::uint32_t DatagramListener::take_kernel_drops() {
  const std::uint32_t now = count_kernel_drops(socket_.fd());
  return now - std::exchange(kernel_drops_, now);
}

}  // namespace tallyfs::statsd
