// A datagram of requests while it is made. It gives each request its sequence number.
//
// Confined to the Client's lock. At most kBytesMax, so that a datagram refused by a full queue is
// soon made again; a single request may be longer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/wire/binary.h"
#include "feeders/client/first_sequence.h"
#include "feeders/client/request.h"

namespace tallyfs {

class RequestDatagram {
 public:
  static constexpr std::size_t kBytesMax = 8 * 1024;

  struct Numbered {
    std::uint32_t sequence = 0;
    RequestHandlers handlers;
  };

  // Begins the next datagram.
  void clear(std::uint64_t epoch);

  // False: there is no room for it, and it belongs into the next datagram.
  bool add(std::string_view text, RequestHandlers handlers);
  // message.sequence is filled in.
  bool add_template(wire::Template message, RequestHandlers handlers);

  bool add_binding(wire::Binding message, RequestHandlers handlers);

  bool empty() const { return requests_.empty(); }
  // An add() has found no room.
  bool is_full() const { return is_full_; }
  std::string_view bytes() const { return writer_.bytes(); }
  std::vector<Numbered> take_requests() { return std::exchange(requests_, {}); }

 private:
  bool has_room_for(std::size_t bytes);
  std::uint32_t number(RequestHandlers handlers);

  wire::DatagramWriter writer_{0};
  std::vector<Numbered> requests_;
  bool is_full_ = false;
  std::uint32_t last_sequence_ = draw_sequence();
};

}  // namespace tallyfs
