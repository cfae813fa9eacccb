#include "feeders/intake/answer_channels.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <variant>
#include <vector>

#include "core/branch/command.h"
#include "core/wire/binary.h"
#include "feeders/intake/peer_process.h"

namespace tallyfs {
namespace {

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

constexpr std::size_t kKeyBytes =
    sizeof(Origin::pid) + sizeof(Origin::uid) + sizeof(Origin::address);

bool has_unread(int channel) {
  int bytes = 0;
  return ::ioctl(channel, SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

}  // namespace

AnswerChannels::AnswerChannels(EventLoop& loop, uid_t owner, PeerPidfds pidfds)
    : reserve_(owner), pidfds_(pidfds), ends_(loop.context()), absence_(loop.context()) {
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
  const pid_t process = shown_pid(origin.pid);
  std::string key(kKeyBytes, '\0');
  char* to = key.data();
  std::memcpy(to, &process, sizeof process);
  std::memcpy(to += sizeof process, &origin.uid, sizeof origin.uid);
  std::memcpy(to + sizeof origin.uid, &origin.address,
              std::min<std::size_t>(origin.address_size, sizeof origin.address));
  return key;
}

bool AnswerChannels::offer(const Origin& from, std::span<char> datagram, Fd attached) {
  if (!is_channel_of(attached.get(), from) || !asks(datagram)) {
    closer_.close(std::move(attached));
    return false;
  }
  Entry made{.uid = from.uid, .process = from.pid};
  if (from.pid == 0) made.unseen = look_at_peer(attached.get());
  made.channel = std::make_shared<const Channel>(std::move(attached), closer_);
  const std::string key = key_of(from);
  const MutexLock lock(mutex_);
  const auto before = by_key_.find(key);
  if (before == by_key_.end() && !has_room(from.uid)) return false;
  if (made.unseen) {
    if (!made.unseen->end.valid()) return false;
    if (before != by_key_.end() && !go_on(before->second, made)) return false;
    if (made.process == 0) made.process = draw_number();
  }
  made.id = ++last_id_;
  if (!watch(made)) return false;
  if (before != by_key_.end()) {
    unwatch(before->second);
    before->second = std::move(made);
  } else {
    by_key_.emplace(key, std::move(made));
  }
  note_count();
  return true;
}

AnswerChannels::Unseen AnswerChannels::look_at_peer(int channel) const {
  if (pidfds_ == PeerPidfds::kUsed) {
    if (Fd pidfd = pidfd_of_peer(channel); pidfd.valid()) return {std::move(pidfd), true};
  }
  return {Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), false};
}

// All above those of the kernel.
pid_t AnswerChannels::draw_number() {
  last_number_ = (last_number_ + 1) % kFirstUnseenProcess;
  return kFirstUnseenProcess + static_cast<pid_t>(last_number_);
}

// Another process may have the same address, in another network namespace.
bool AnswerChannels::go_on(Entry& before, Entry& made) {
  Unseen& known = *before.unseen;
  if (known.is_pidfd && !may_be_one_process(known.end.get(), made.unseen->end.get())) {
    return is_readable(known.end.get());
  }
  if (!known.is_pidfd) {
    const int same = ::fcntl(known.end.get(), F_DUPFD_CLOEXEC, 0);
    if (same < 0) return false;
    made.unseen = Unseen{Fd(same), false};
  }
  made.process = before.process;
  return true;
}

void AnswerChannels::note_count() {
  const auto has_channel = [](const auto& each) { return each.second.channel != nullptr; };
  const auto is_unseen = [](const auto& each) { return each.second.unseen.has_value(); };
  count_.store(static_cast<std::size_t>(std::ranges::count_if(by_key_, has_channel)),
               std::memory_order_relaxed);
  has_unseen_.store(std::ranges::any_of(by_key_, is_unseen), std::memory_order_relaxed);
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

pid_t AnswerChannels::number_of(const Origin& unseen) const {
  if (!has_unseen_.load(std::memory_order_relaxed)) return 0;
  const std::string key = key_of(unseen);
  const MutexLock lock(mutex_);
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? 0 : found->second.process;
}

Fd AnswerChannels::open_process(pid_t process) const {
  Shared channel;
  {
    const MutexLock lock(mutex_);
    const auto is_its = [process](const auto& each) { return each.second.process == process; };
    const auto found = std::ranges::find_if(by_key_, is_its);
    if (found != by_key_.end()) {
      const Entry& entry = found->second;
      if (entry.unseen) return Fd(::fcntl(entry.unseen->end.get(), F_DUPFD_CLOEXEC, 0));
      channel = entry.channel;
    }
  }
  if (channel && pidfds_ == PeerPidfds::kUsed) {
    // That of a process which has ended, and left its channel to a child, is no longer this one's.
    Fd pidfd = pidfd_of_peer(channel->fd());
    if (pidfd.valid() && !is_readable(pidfd.get())) return pidfd;
  }
  Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  // The kernel may have given its number to another process, before the channel was looked at.
  if (!pidfd.valid() || !channel || !has_hung_up(channel->fd())) return pidfd;
  pidfd.reset();
  errno = ESRCH;
  return pidfd;
}

void AnswerChannels::each(const UnixSockets::Visit& visit) const {
  std::vector<std::pair<std::string, Shared>> all;
  {
    const MutexLock lock(mutex_);
    for (const auto& [key, entry] : by_key_) {
      if (entry.channel) all.emplace_back(key, entry.channel);
    }
  }
  using Inbox = UnixSockets::Inbox;
  for (const auto& [key, channel] : all) {
    visit(key, has_unread(channel->fd()) ? Inbox::kHasUnread : Inbox::kEmpty);
  }
}

bool AnswerChannels::watch(const Entry& entry) const {
  const std::uint32_t end = entry.channel ? EPOLLRDHUP : EPOLLIN;
  epoll_event event{.events = end | EPOLLONESHOT, .data = {.u64 = entry.id}};
  return ::epoll_ctl(ends_fd_, EPOLL_CTL_ADD, entry.watched(), &event) == 0;
}

// The sender has the same open file, which the kernel would go on to watch.
void AnswerChannels::unwatch(const Entry& entry) const {
  ::epoll_ctl(ends_fd_, EPOLL_CTL_DEL, entry.watched(), nullptr);
}

void AnswerChannels::start(std::chrono::nanoseconds absence_max) {
  wait_for_ends();
  const MutexLock lock(mutex_);
  if (by_key_.empty()) return;
  absence_.expires_after(absence_max);
  absence_.async_wait([this](const boost::system::error_code& error) {
    if (!error) end_absent();
  });
}

void AnswerChannels::wait_for_ends() {
  using Descriptor = boost::asio::posix::stream_descriptor;
  ends_.async_wait(Descriptor::wait_read, [this](const boost::system::error_code& error) {
    if (error) return;
    take_ends();
    wait_for_ends();
  });
}

void AnswerChannels::take_ends() {
  std::array<epoll_event, 64> ended;
  const int count = ::epoll_wait(ends_fd_, ended.data(), static_cast<int>(ended.size()), 0);
  for (int i = 0; i < count; ++i) end(ended[static_cast<std::size_t>(i)].data.u64);
}

// Of a channel, or of an unseen process that had none.
void AnswerChannels::end(std::uint64_t id) {
  const MutexLock lock(mutex_);
  const auto is_it = [id](const auto& each) { return each.second.id == id; };
  const auto found = std::ranges::find_if(by_key_, is_it);
  if (found == by_key_.end()) return;
  Entry& entry = found->second;
  unwatch(entry);
  const bool stays = entry.channel && entry.unseen && entry.unseen->is_pidfd;
  if (entry.unseen && !entry.unseen->is_pidfd) ::eventfd_write(entry.unseen->end.get(), 1);
  entry.channel.reset();
  if (!stays || !watch(entry)) by_key_.erase(found);
  note_count();
}

// Those that an earlier server knew by the ends of their channels.
void AnswerChannels::end_absent() {
  const MutexLock lock(mutex_);
  boost::unordered::erase_if(by_key_, [](const auto& each) {
    const Entry& entry = each.second;
    if (entry.channel || entry.unseen->is_pidfd) return false;
    ::eventfd_write(entry.unseen->end.get(), 1);
    return true;
  });
  note_count();
}

void AnswerChannels::save(ByteWriter& out, HandedDescriptors& descriptors) const {
  const MutexLock lock(mutex_);
  out.put(last_number_);
  for (const auto& [key, entry] : by_key_) {
    if (!entry.unseen) continue;
    out.put(std::int32_t{entry.process});
    out.put(std::uint32_t{entry.uid});
    out.put_text(key);
    out.put(std::uint8_t{entry.unseen->is_pidfd});
    out.put(descriptors.add(entry.unseen->end.get()));
  }
}

void AnswerChannels::load(ByteReader& in, HandedDescriptors& descriptors) {
  const MutexLock lock(mutex_);
  last_number_ = in.get<std::uint32_t>();
  while (in.ok() && in.left() != 0) {
    Entry entry{.id = ++last_id_, .process = in.get<std::int32_t>()};
    entry.uid = in.get<std::uint32_t>();
    std::string key(in.get_text());
    const bool is_pidfd = in.get_flag();
    entry.unseen = Unseen{descriptors.take(in.get<std::uint32_t>()), is_pidfd};
    const bool is_there = in.ok() && entry.unseen->end.valid() && key.size() == kKeyBytes;
    if (!is_there || by_key_.size() >= kChannelsMax || by_key_.contains(key)) continue;
    if (is_pidfd && !watch(entry)) continue;
    by_key_.emplace(std::move(key), std::move(entry));
  }
  note_count();
}

}  // namespace tallyfs
