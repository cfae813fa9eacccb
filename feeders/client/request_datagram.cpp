#include "feeders/client/request_datagram.h"

namespace tallyfs {
namespace {

// A request besides its text: header, sequence, length and padding.
constexpr std::size_t kRequestBytes = wire::kMessageHeaderBytes + 8 + 7;

}  // namespace

void RequestDatagram::clear(std::uint64_t epoch) {
  writer_.clear(epoch);
  requests_.clear();
  is_full_ = false;
}

bool RequestDatagram::add(std::string_view text, RequestHandlers handlers) {
  if (!has_room_for(text.size())) return false;
  writer_.request(number(std::move(handlers)), text);
  return true;
}

bool RequestDatagram::add_template(wire::Template message, RequestHandlers handlers) {
  std::size_t bytes = message.name.size() + message.blob.size();
  for (const std::string_view name : message.voi_names) bytes += 4 + name.size();
  if (!has_room_for(bytes)) return false;
  message.sequence = number(std::move(handlers));
  writer_.define_template(message);
  return true;
}

bool RequestDatagram::add_binding(wire::Binding message, RequestHandlers handlers) {
  if (!has_room_for(0)) return false;
  message.sequence = number(std::move(handlers));
  writer_.bind(message);
  return true;
}

bool RequestDatagram::has_room_for(std::size_t bytes) {
  const bool has_room = empty() || writer_.size() + kRequestBytes + bytes <= kBytesMax;
  is_full_ = is_full_ || !has_room;
  return has_room;
}

// Zero is the sequence number of what the daemon says without a request.
std::uint32_t RequestDatagram::number(RequestHandlers handlers) {
  if (++last_sequence_ == 0) last_sequence_ = 1;
  requests_.push_back({last_sequence_, std::move(handlers)});
  return last_sequence_;
}

}  // namespace tallyfs
