// The HTTP server: connections, their limits and their times.
//
// One thread speaks with all clients. What needs files of the mount is answered by two other
// threads, since a daemon that hangs blocks its readers. Only server.cpp includes Boost.Beast: it
// takes half a minute to compile.
//
// When all connections are taken, a new one takes the place of another that waits for its client:
// of one that is being closed, else of one whose last request had no token, else of one of a holder
// of the token. Among these it is an idle one, else one that sends a request, else one that takes
// no answer; each time the one that has waited longest. So clients that do nothing keep no others
// out, and clients without the token keep no holder of it out.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>

#include "core/base/result.h"
#include "exporters/web/http.h"
#include "exporters/web/listen.h"

namespace tallyfs::web {

inline constexpr std::size_t kConnectionsMax = 64;  // one more takes the place of another
inline constexpr std::size_t kWaitingMax = 16;      // requests for files; then 503
inline constexpr std::size_t kFileThreads = 2;
inline constexpr std::size_t kHeaderBytesMax = 8 * 1024;
inline constexpr std::size_t kBodyBytesMax = 64 * 1024;
inline constexpr std::size_t kAnswerBytesMax = 16 * 1024 * 1024;
// Bounds all responses that are being sent. Beyond it, one larger than kSmallBytesMax is 503
// instead.
inline constexpr std::size_t kSendingBytesMax = 64 * 1024 * 1024;
inline constexpr std::size_t kSmallBytesMax = 64 * 1024;
inline constexpr std::chrono::seconds kTick{1};

// How long a client may take.
struct ClientTimes {
  std::chrono::milliseconds request{10'000};  // to send a request that has begun
  std::chrono::milliseconds idle{60'000};     // before a request, and to take an answer
  // After an answer that ends the connection, the client's rest is read for so long: without that
  // its kernel may drop the answer.
  std::chrono::milliseconds drain{5'000};
};

// There is always a connection that waits for its client.
static_assert(kWaitingMax + kFileThreads < kConnectionsMax);

// A bound of the server that was reached: a connection gave way to a new one, or an answer was 503
// because of requests that wait for files, or of bytes that are being sent.
enum class Limit { kConnections, kReads, kBytes };

// Makes the responses of a server.
class Site {
 public:
  virtual ~Site() = default;

  // On the thread that speaks: whether the request is one of a holder of the token.
  virtual bool is_of_holder(const Request& request) const = 0;
  // On the thread that speaks: what needs no file. Nothing: answer() is called.
  virtual std::optional<Response> answer_at_once(const Request& request) = 0;
  // On a thread for files; two may be here at a time.
  virtual Response answer(const Request& request) = 0;
  // Each second, on a thread for files, unless the one before has not ended.
  virtual void tick() = 0;
  // On the thread that speaks.
  virtual void count_limit(Limit limit) = 0;
};

class Server {
 public:
  // The site outlives the server.
  Server(Listening listening, Site& site, const ClientTimes& times = {});
  ~Server();

  // Until SIGTERM or SIGINT. Then it waits for the answers that are being made.
  void run();

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace tallyfs::web
