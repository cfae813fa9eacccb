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

#include "core/base/descriptor_numbers.h"
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

constexpr std::size_t kAddressAt = sizeof(Origin::pid) + sizeof(Origin::uid);
constexpr std::size_t kKeyBytes = kAddressAt + sizeof(Origin::address);

// Compares keys of one process, which may have changed its uid.
bool is_of_one_socket(std::string_view key, std::string_view other) {
  return key.substr(kAddressAt) == other.substr(kAddressAt);
}

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
  const bool is_taken = take(from, std::move(attached));
  if (is_taken && from.pid == 0 && keeper_) keeper_->write_through(*part_);
  return is_taken;
}

bool AnswerChannels::take(const Origin& from, Fd attached) {
  Entry made{.uid = from.uid, .process = from.pid};
  if (from.pid == 0) made.unseen = look_at_peer(attached.get());
  made.channel = std::make_shared<const Channel>(std::move(attached), closer_);
  if (made.unseen && !made.unseen->end.valid()) return false;
  const std::string key = key_of(from);
  const MutexLock lock(mutex_);
  const auto* const its = find_same(made);
  const auto there = by_key_.find(key);
  if (its && !is_of_one_socket(its->first, key) && !is_left(its->second)) return false;
  const bool is_counted = there != by_key_.end() || (its && its->second.uid == from.uid);
  if (!is_counted && !has_room(from.uid)) return false;
  if (made.unseen && there != by_key_.end() && !resume(there->second, made)) return false;
  if (its) made.process = its->second.process;
  if (made.process == 0) made.process = draw_number();
  made.id = id_of(made.process);
  if (!watch(made)) return false;
  if (its && its->first != key) leave(std::string(its->first));
  leave(key);
  enter(key, std::move(made));
  return true;
}

AnswerChannels::Entries::value_type* AnswerChannels::find_of(pid_t process) {
  const auto key = keys_.find(process);
  return key == keys_.end() ? nullptr : &*by_key_.find(key->second);
}

const AnswerChannels::Entries::value_type* AnswerChannels::find_of(pid_t process) const {
  const auto key = keys_.find(process);
  return key == keys_.end() ? nullptr : &*by_key_.find(key->second);
}

AnswerChannels::Entries::value_type* AnswerChannels::find_same(const Entry& made) {
  if (!made.unseen) return find_of(made.process);
  const auto known = by_identity_.find(made.unseen->identity);
  return known == by_identity_.end() ? nullptr : find_of(known->second);
}

// A process that has ended may have left it to a child, and its number to another process.
bool AnswerChannels::is_left(const Entry& entry) const {
  if (!entry.channel || has_hung_up(entry.channel->fd())) return true;
  if (pidfds_ != PeerPidfds::kUsed) return false;
  const Fd pidfd = pidfd_of_peer(entry.channel->fd());
  return pidfd.valid() ? is_readable(pidfd.get()) : errno == ESRCH;
}

void AnswerChannels::enter(const std::string& key, Entry made) {
  keys_[made.process] = key;
  of_uid_[made.uid] += 1;
  if (made.channel) count_ += 1;
  if (made.unseen) unseen_ += 1;
  if (made.unseen && made.unseen->identity != 0) by_identity_[made.unseen->identity] = made.process;
  by_key_.emplace(key, std::move(made));
}

void AnswerChannels::leave(const std::string& key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return;
  Entry& entry = found->second;
  unwatch(entry);
  if (entry.channel) count_ -= 1;
  if (entry.unseen) unseen_ -= 1;
  if (entry.unseen) by_identity_.erase(entry.unseen->identity);
  note_closed(entry);
  keys_.erase(entry.process);
  const auto its = of_uid_.find(entry.uid);
  if (--its->second == 0) of_uid_.erase(its);
  by_key_.erase(found);
}

AnswerChannels::Unseen AnswerChannels::look_at_peer(int channel) const {
  if (pidfds_ == PeerPidfds::kUsed) {
    if (Fd pidfd = pidfd_of_peer(channel); pidfd.valid()) return unseen_of(std::move(pidfd));
  }
  return {Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))};
}

AnswerChannels::Unseen AnswerChannels::unseen_of(Fd pidfd) {
  const std::uint64_t identity = identity_of(pidfd.get());
  return {.end = std::move(pidfd), .is_pidfd = true, .identity = identity};
}

// With the process's number, which finds the entry again.
std::uint64_t AnswerChannels::id_of(pid_t process) {
  return std::uint64_t{++last_id_} << 32 | static_cast<std::uint32_t>(process);
}

// All above those of the kernel.
pid_t AnswerChannels::draw_number() {
  last_number_ = (last_number_ + 1) % kFirstUnseenProcess;
  return kFirstUnseenProcess + static_cast<pid_t>(last_number_);
}

// Another process may have the same address, in another network namespace.
bool AnswerChannels::resume(Entry& before, Entry& made) {
  Unseen& known = *before.unseen;
  if (known.is_pidfd && known.identity != made.unseen->identity) {
    return is_readable(known.end.get());
  }
  if (!known.is_pidfd) {
    Fd same = opened_unseen(::fcntl(known.end.get(), F_DUPFD_CLOEXEC, 0));
    if (!same.valid()) return false;
    made.unseen = Unseen{std::move(same)};
  }
  made.process = before.process;
  return true;
}

bool AnswerChannels::has_room(uid_t uid) const {
  if (by_key_.size() >= reserve_.limit_for(uid, kChannelsMax)) return false;
  if (reserve_.is_for(uid)) return true;
  const auto its = of_uid_.find(uid);
  return its == of_uid_.end() || its->second < kOfUidMax;
}

AnswerChannels::Shared AnswerChannels::find(const Origin& to) const {
  if (count() == 0) return nullptr;
  const std::string key = key_of(to);
  const MutexLock lock(mutex_);
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : found->second.channel;
}

pid_t AnswerChannels::number_of(const Origin& unseen) const {
  if (unseen_.load(std::memory_order_relaxed) == 0) return 0;
  const std::string key = key_of(unseen);
  const MutexLock lock(mutex_);
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? 0 : found->second.process;
}

Fd AnswerChannels::open_process(pid_t process) const {
  Shared channel;
  {
    const MutexLock lock(mutex_);
    if (const auto* const found = find_of(process)) {
      const Entry& entry = found->second;
      if (entry.unseen) {
        return opened_unseen(::fcntl(entry.unseen->end.get(), F_DUPFD_CLOEXEC, 0));
      }
      channel = entry.channel;
    }
  }
  if (channel && pidfds_ == PeerPidfds::kUsed) {
    // A process that has ended may have left its channel to a child: its pidfd is not this
    // process's.
    Fd pidfd = pidfd_of_peer(channel->fd());
    if (pidfd.valid() && !is_readable(pidfd.get())) return pidfd;
  }
  Fd pidfd = opened_unseen(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
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

// Ends a channel, or an unseen process that had none.
void AnswerChannels::end(std::uint64_t id) {
  const MutexLock lock(mutex_);
  auto* const found = find_of(static_cast<pid_t>(static_cast<std::uint32_t>(id)));
  if (!found || found->second.id != id) return;
  Entry& entry = found->second;
  const bool stays = entry.channel && entry.unseen && entry.unseen->is_pidfd;
  if (entry.unseen && !entry.unseen->is_pidfd) ::eventfd_write(entry.unseen->end.get(), 1);
  if (stays) {
    unwatch(entry);
    entry.channel.reset();
    count_ -= 1;
    if (watch(entry)) return;
  }
  leave(std::string(found->first));
}

// Ends the processes that an earlier server knew by the ends of their channels.
void AnswerChannels::end_absent() {
  const MutexLock lock(mutex_);
  std::vector<std::string> ended;
  for (const auto& [key, entry] : by_key_) {
    if (entry.channel || entry.unseen->is_pidfd) continue;
    ::eventfd_write(entry.unseen->end.get(), 1);
    ended.push_back(key);
  }
  for (const std::string& key : ended) leave(key);
}

void AnswerChannels::note_closed(const Entry& entry) const {
  if (keeper_ && entry.unseen) keeper_->descriptors().remove(entry.unseen->end.get());
}

void AnswerChannels::save(ByteWriter& out, TransferredFds& descriptors) const {
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

void AnswerChannels::load(ByteReader& in, TransferredFds& descriptors) {
  const MutexLock lock(mutex_);
  last_number_ = in.get<std::uint32_t>();
  while (in.ok() && in.left() != 0) {
    Entry entry{.process = in.get<std::int32_t>()};
    entry.id = id_of(entry.process);
    entry.uid = in.get<std::uint32_t>();
    std::string key(in.get_text());
    const bool is_pidfd = in.get_flag();
    const auto place = in.get<std::uint32_t>();
    Fd end = descriptors.take(place);
    entry.unseen = is_pidfd ? unseen_of(std::move(end)) : Unseen{std::move(end)};
    const bool is_there = in.ok() && entry.unseen->end.valid() && key.size() == kKeyBytes;
    const bool is_new = !by_key_.contains(key) && !keys_.contains(entry.process);
    if (!is_there || !is_new || by_key_.size() >= kChannelsMax) continue;
    if (is_pidfd && !watch(entry)) continue;
    descriptors.adopt(place, entry.unseen->end.get());
    enter(key, std::move(entry));
  }
}

}  // namespace tallyfs
