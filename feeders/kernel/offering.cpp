#include "feeders/kernel/offering.h"

#include <poll.h>

#include <chrono>

#include "core/wire/binary.h"

namespace tallyfs {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kDatagramBytes = 100 * 1024;
constexpr auto kWaitMax = 2'000ms;
constexpr int kAnswerMaxMs = 10'000;

Result<void> send(const wire::DatagramWriter& datagram, Link& link) {
  for (int tries = 0; tries < 3; ++tries) {
    if (link.send(datagram.bytes()) == Link::Sent::kDone) return {};
    if (!link.connected()) return Error{ErrorCode::kNotFound, "the daemon is gone"};
    link.wait_for_room(kWaitMax);
  }
  return Error{ErrorCode::kBusy, "the daemon does not take the events that are offered"};
}

// The daemon answers a request when it has taken in what was sent before.
Result<void> wait_until_taken(Link& link) {
  wire::DatagramWriter question(0);
  question.request(1, "");
  if (auto sent = send(question, link); !sent) return sent;
  pollfd waited{.fd = link.fd(), .events = POLLIN, .revents = 0};
  ::poll(&waited, 1, kAnswerMaxMs);
  if (link.receive()) return {};
  return Error{ErrorCode::kBusy, "the daemon does not take the events that are offered"};
}

}  // namespace

Result<void> offer_all(const Catalogue& catalogue, Link& link) {
  if (!link.connected()) {
    if (auto done = link.connect(); !done) return done;
  }
  wire::DatagramWriter datagram(0);
  for (const CatalogueEvent& event : catalogue.events()) {
    const std::size_t bytes = event.system.size() + event.format.size();
    if (!datagram.empty() && datagram.size() + bytes > kDatagramBytes) {
      if (auto done = send(datagram, link); !done) return done;
      datagram.clear(0);
    }
    datagram.offer({.id = event.id, .system = event.system, .format = event.format});
  }
  if (!datagram.empty()) {
    if (auto done = send(datagram, link); !done) return done;
  }
  return wait_until_taken(link);
}

}  // namespace tallyfs
