#include "fs/daemon/descriptor_store.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "fs/daemon/log.h"
#include "fs/daemon/mount_point.h"

namespace tallyfs {
namespace {

constexpr const char* kMount = "stored-mount";
constexpr const char* kHandover = "stored-handover";
constexpr const char* kState = "stored-state";
constexpr const char* kKept = "stored-kept";
constexpr const char* kQueueIn = "stored-queue-in";
constexpr const char* kQueueOut = "stored-queue-out";
constexpr const char* kSocket = "stored-socket";
constexpr const char* kLock = "stored-lock";
constexpr const char* kWatchdog = "stored-watchdog";
constexpr std::array kNames{kMount,    kHandover, kState, kKept,    kQueueIn,
                            kQueueOut, kSocket,   kLock,  kWatchdog};

void remove(const char* name) {
  const std::string message = std::string("FDSTOREREMOVE=1\nFDNAME=") + name;
  (void)::sd_notify(0, message.c_str());
}

Fd take(std::vector<StoredDescriptor>& stored, const char* name) {
  const auto found = std::ranges::find(stored, name, &StoredDescriptor::name);
  return found == stored.end() ? Fd() : std::move(found->fd);
}

bool is_alive(const Fd& mount) {
  pollfd each{.fd = mount.get(), .events = 0, .revents = 0};
  return mount.valid() && (::poll(&each, 1, 0) == 0 || (each.revents & (POLLERR | POLLNVAL)) == 0);
}

std::string path_of(const Fd& socket) {
  sockaddr_un address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  return {address.sun_path, ::strnlen(address.sun_path, sizeof address.sun_path)};
}

// Whether a server has refused its senders (FeedSocket::refuse_senders()), for good.
bool refuses_senders(const Fd& socket) {
  pollfd each{.fd = socket.get(), .events = POLLRDHUP, .revents = 0};
  return ::poll(&each, 1, 0) == 1 && (each.revents & POLLRDHUP) != 0;
}

// Bound by the keeper that was killed. Not valid: there is none, or the options name another path,
// or it was killed while the daemon ended.
std::optional<FeedSocket::Transferred> take_socket(Fd socket, Fd lock, const std::string& path) {
  if (!socket.valid() || !lock.valid() || path.empty()) return std::nullopt;
  FeedSocket::Transferred made;
  made.path = std::filesystem::absolute(path).lexically_normal();
  if (path_of(socket) != made.path || refuses_senders(socket)) return std::nullopt;
  made.fd = socket.release();
  made.lock = lock.release();
  struct stat status {};
  if (::lstat(made.path.c_str(), &status) == 0) made.bound.emplace(status.st_dev, status.st_ino);
  return made;
}

std::optional<StoredMount> take_mount(std::vector<StoredDescriptor>& passed,
                                      const std::string& mount_point) {
  Fd mount = take(passed, kMount);
  if (!is_alive(mount) || !has_live_mount(mount_point)) return std::nullopt;
  auto queue = DescriptorQueue::adopt(take(passed, kQueueIn), take(passed, kQueueOut));
  if (!queue) return std::nullopt;
  auto handover = Handover::adopt(take(passed, kHandover), take(passed, kState),
                                  take(passed, kKept), std::move(queue.value()));
  if (!handover || handover.value().init().empty()) return std::nullopt;
  return StoredMount{std::move(mount), std::move(handover.value())};
}

std::string store_message(const char* name) {
  std::string message("FDSTORE=1\nFDPOLL=0\nFDNAME=");
  return message.append(name);
}

}  // namespace

// The socket that systemd has made it passes again by itself. The watchdogs' pipes are of no use to
// the next keeper, but while they are open the watchdogs do not unmount.
DescriptorStore::DescriptorStore(const Inheritance& inheritance) {
  const bool has_own_socket = !inheritance.socket.path.empty();
  for (const auto& [name, fd] :
       {std::pair(kHandover, inheritance.handover), std::pair(kState, inheritance.handed_state),
        std::pair(kKept, inheritance.kept), std::pair(kQueueIn, inheritance.descriptors_in),
        std::pair(kQueueOut, inheritance.descriptors_out),
        std::pair(kSocket, has_own_socket ? inheritance.socket.fd : -1),
        std::pair(kLock, has_own_socket ? inheritance.socket.lock : -1),
        std::pair(kMount, inheritance.mount)}) {
    if (fd >= 0) messages_.emplace_back(store_message(name), fd);
  }
  for (const Watchdog::Transferred& each : inheritance.watchdog) {
    messages_.emplace_back(store_message(kWatchdog), each.pipe);
  }
}

void DescriptorStore::put() const {
  remove(kWatchdog);  // those of a keeper that was killed
  for (const auto& [message, fd] : messages_) {
    (void)::sd_pid_notify_with_fds(0, 0, message.c_str(), &fd, 1);
  }
}

void DescriptorStore::clear() {
  for (const char* const name : kNames) remove(name);
}

bool is_stored_name(std::string_view name) {
  return std::ranges::find(kNames, name) != kNames.end();
}

Stored take_stored(std::vector<StoredDescriptor> passed, const DaemonOptions& options) {
  Stored stored;
  if (passed.empty()) return stored;
  stored.socket = take_socket(take(passed, kSocket), take(passed, kLock), options.socket_path);
  auto mount = options.keeper ? take_mount(passed, options.mount_point) : std::nullopt;
  if (mount) {
    stored.mount.emplace(std::move(*mount));
    return stored;
  }
  say_error("warning: what systemd has kept of the mount before is of no use: all begins anew");
  DescriptorStore::clear();
  return stored;
}

}  // namespace tallyfs
