#include "fs/daemon/socket.h"

#include <spdlog/spdlog.h>
#include <systemd/sd-daemon.h>

#include <string>

#include "feeders/intake/queue_length.h"

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
  spdlog::warn(
      "the socket's queue holds as many datagrams as net.unix.max_dgram_qlen said when it was made "
      "({} now), not {}: feeders will wait or lose samples in bursts if that is less",
      QueueLength::current(), options.queue_length);
}

}  // namespace tallyfs
