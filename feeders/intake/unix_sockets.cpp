#include "feeders/intake/unix_sockets.h"

#include <linux/unix_diag.h>
#include <sys/socket.h>

namespace tallyfs {

void read_unix_socket(std::span<const char> message, const UnixSockets::Visit& visit) {
  std::string_view name;
  auto inbox = UnixSockets::Inbox::kEmpty;
  each_attribute(message, sizeof(unix_diag_msg), [&](auto type, std::span<const char> value) {
    if (type == UNIX_DIAG_NAME) name = {value.data(), value.size()};
    if (type == UNIX_DIAG_RQLEN && load_from<unix_diag_rqlen>(value).udiag_rqueue != 0) {
      inbox = UnixSockets::Inbox::kHasUnread;
    }
  });
  const bool is_path = !name.empty() && name.front() != '\0';
  if (is_path) name = name.substr(0, name.find('\0'));
  if (!name.empty()) visit(name, inbox);
}

Result<void> UnixSockets::each(const Visit& visit) {
  unix_diag_req request{};
  request.sdiag_family = AF_UNIX;
  request.udiag_states = ~0u;
  request.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_RQLEN;
  return dump_.ask(request,
                   [&](std::span<const char> message) { read_unix_socket(message, visit); });
}

}  // namespace tallyfs
