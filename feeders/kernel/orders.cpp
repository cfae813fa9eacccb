#include "feeders/kernel/orders.h"

#include <cerrno>
#include <string_view>

namespace tallyfs {

void Orders::discard() {
  while (::recv(fd_, text_.data(), text_.size(), MSG_DONTWAIT) > 0) {
  }
}

std::optional<wire::Order> Orders::next() {
  for (;;) {
    const auto size = ::recv(fd_, text_.data(), text_.size(), MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
    ended_ = size <= 0;
    if (ended_) return std::nullopt;
    const std::string_view text(text_.data(), static_cast<std::size_t>(size));
    if (auto order = wire::parse_order(text)) return order;
  }
}

}  // namespace tallyfs
