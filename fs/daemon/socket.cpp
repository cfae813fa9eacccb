#include "fs/daemon/socket.h"

#include <systemd/sd-daemon.h>

#include <string>

#include "feeders/intake/queue_length.h"
#include "log/log.h"

namespace tallyfs {

Result<int> count_passed_sockets() {
  const int count = ::sd_listen_fds(1);
  if (count >= 0 && count <= 1) return count;
  return Error{ErrorCode::kInvalid, "systemd passed " + std::to_string(count) +
                                        " sockets; one ListenDatagram= is wanted"};
}

Result<FeedSocket> open_socket(const DaemonOptions& options, int passed_sockets) {
  if (passed_sockets == 1) return FeedSocket::adopt(SD_LISTEN_FDS_START);
  if (options.socket_path.empty()) {
    return Error{ErrorCode::kInvalid,
                 "where shall the socket be? XDG_RUNTIME_DIR is not set; use --socket"};
  }
  return FeedSocket::bind({.path = options.socket_path,
                           .permissions = options.socket_permissions,
                           .queue_length = options.queue_length});
}

void report_queue(const FeedSocket& socket, const DaemonOptions& options) {
  if (socket.queue_length() || QueueLength::current() >= options.queue_length) return;
  log_warning(
      "the socket's queue holds as many datagrams as net.unix.max_dgram_qlen said when it was made "
      "(" +
      std::to_string(QueueLength::current()) + " now), not " +
      std::to_string(options.queue_length) +
      ": feeders will wait or lose samples in bursts if that is less");
}

}  // namespace tallyfs
