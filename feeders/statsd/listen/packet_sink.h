// Receives the packets of listeners. Confined to the listeners' thread.
#pragma once

#include <sys/socket.h>

#include <string_view>

#include "feeders/statsd/listen/listen_address.h"

namespace tallyfs::statsd {

struct Sender {
  const ListenAddress& listener;
  const sockaddr_storage* address = nullptr;  // of UDP and TCP
  bool has_lengths = false;                   // a stream of frames, as Datadog's clients send it
};

// The reason why received bytes were dropped.
enum class Loss {
  kTruncated,         // a packet, a frame or a line that is too long
  kDenied,            // from an address that is not allowed
  kConnectionClosed,  // there was no room for it
};

class PacketSink {
 public:
  virtual ~PacketSink() = default;
  // Packets follow that were received just now.
  virtual void begin_batch() = 0;
  virtual void take(std::string_view packet, const Sender& sender) = 0;
  // All of them were given.
  virtual void end_batch() = 0;
  virtual void lose(Loss loss, const Sender& sender) = 0;
};

}  // namespace tallyfs::statsd
