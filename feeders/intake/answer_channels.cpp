#include "feeders/intake/answer_channels.h"

#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <variant>
#include <vector>

#include "core/wire/binary.h"

namespace tallyfs {
namespace {

int option_of(const Fd& socket, int option) {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(socket.get(), SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

bool is_channel_of(const Fd& fd, uid_t uid) {
  if (option_of(fd, SO_DOMAIN) != AF_UNIX || option_of(fd, SO_TYPE) != SOCK_SEQPACKET) return false;
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == uid;
}

// Whether the datagram asks for an answer, as its first message shows.
bool asks(std::span<char> datagram) {
  if (!wire::is_binary({datagram.data(), datagram.size()})) return false;
  auto reader = wire::DatagramReader::open(datagram);
  if (!reader) return false;
  const auto first = reader.value().next();
  if (!first || !*first) return false;
  const wire::Message& message = first->value();
  return std::holds_alternative<wire::Request>(message) ||
         std::holds_alternative<wire::Template>(message) ||
         std::holds_alternative<wire::Binding>(message);
}

bool has_unread(int channel) {
  int bytes = 0;
  return ::ioctl(channel, SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

}  // namespace

AnswerChannels::AnswerChannels(EventLoop& loop, uid_t owner)
    : reserve_(owner),
      ends_(loop.context()) {
  Fd ends(::epoll_create1(EPOLL_CLOEXEC));
  boost::system::error_code error;
  ends_.assign(ends.get(), error);
  if (!error) ends_fd_ = ends.release();
}

bool AnswerChannels::may_receive(std::size_t datagrams) const {
  // Each may replace a channel, which is closed as well.
  return closer_.may_receive(2 * datagrams);
}

std::string AnswerChannels::key_of(const Origin& origin) {
  std::string key(sizeof origin.pid + sizeof origin.uid + sizeof origin.address, '\0');
  char* to = key.data();
  std::memcpy(to, &origin.pid, sizeof origin.pid);
  std::memcpy(to += sizeof origin.pid, &origin.uid, sizeof origin.uid);
  std::memcpy(to + sizeof origin.uid, &origin.address,
              std::min<std::size_t>(origin.address_size, sizeof origin.address));
  return key;
}

bool AnswerChannels::offer(const Origin& from, std::span<char> datagram, Fd attached) {
  if (!is_channel_of(attached, from.uid) || !asks(datagram)) {
    closer_.close(std::move(attached));
    return false;
  }
  Entry made{.uid = from.uid,
             .channel = std::make_shared<const Channel>(std::move(attached), closer_)};
  const std::string key = key_of(from);
  const MutexLock lock(mutex_);
  const auto before = by_key_.find(key);
  if (before == by_key_.end() && !has_room(from.uid)) return false;
  made.id = ++last_id_;
  if (!watch(made)) return false;
  if (before != by_key_.end()) {
    unwatch(before->second);
    before->second = std::move(made);
  } else {
    by_key_.emplace(key, std::move(made));
  }
  count_.store(by_key_.size(), std::memory_order_relaxed);
  return true;
}

bool AnswerChannels::has_room(uid_t uid) const {
  if (by_key_.size() >= reserve_.limit_for(uid, kChannelsMax)) return false;
  if (reserve_.is_for(uid)) return true;
  const auto is_its = [uid](const auto& each) { return each.second.uid == uid; };
  return std::ranges::count_if(by_key_, is_its) < static_cast<std::ptrdiff_t>(kOfUidMax);
}

AnswerChannels::Shared AnswerChannels::find(const Origin& to) const {
  if (count() == 0) return nullptr;
  const std::string key = key_of(to);
  const MutexLock lock(mutex_);
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : found->second.channel;
}

void AnswerChannels::each(const UnixSockets::Visit& visit) const {
  std::vector<std::pair<std::string, Shared>> all;
  {
    const MutexLock lock(mutex_);
    for (const auto& [key, entry] : by_key_) all.emplace_back(key, entry.channel);
  }
  using Inbox = UnixSockets::Inbox;
  for (const auto& [key, channel] : all) {
    visit(key, has_unread(channel->fd()) ? Inbox::kHasUnread : Inbox::kEmpty);
  }
}

bool AnswerChannels::watch(const Entry& entry) const {
  epoll_event event{.events = EPOLLRDHUP | EPOLLONESHOT, .data = {.u64 = entry.id}};
  return ::epoll_ctl(ends_fd_, EPOLL_CTL_ADD, entry.channel->fd(), &event) == 0;
}

// The sender has the same open file, which the kernel would go on to watch.
void AnswerChannels::unwatch(const Entry& entry) const {
  ::epoll_ctl(ends_fd_, EPOLL_CTL_DEL, entry.channel->fd(), nullptr);
}

void AnswerChannels::start() {
  using Descriptor = boost::asio::posix::stream_descriptor;
  ends_.async_wait(Descriptor::wait_read, [this](const boost::system::error_code& error) {
    if (error) return;
    take_ends();
    start();
  });
}

void AnswerChannels::take_ends() {
  std::array<epoll_event, 64> ended;
  const int count = ::epoll_wait(ends_fd_, ended.data(), static_cast<int>(ended.size()), 0);
  for (int i = 0; i < count; ++i) end(ended[static_cast<std::size_t>(i)].data.u64);
}

void AnswerChannels::end(std::uint64_t id) {
  const MutexLock lock(mutex_);
  const auto is_it = [id](const auto& each) { return each.second.id == id; };
  const auto found = std::ranges::find_if(by_key_, is_it);
  if (found == by_key_.end()) return;
  unwatch(found->second);
  by_key_.erase(found);
  count_.store(by_key_.size(), std::memory_order_relaxed);
}

}  // namespace tallyfs
