#include "fs/keeper/descriptor_queue.h"

#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>

namespace tallyfs {
namespace {

// Descriptors of one message; the kernel accepts 253.
constexpr std::size_t kAtOnce = 250;

struct Message {
  std::array<std::uint32_t, kAtOnce> numbers{};
  iovec part{};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kAtOnce * sizeof(int))> control{};
  msghdr header{};

  explicit Message(std::size_t descriptors) {
    part = {numbers.data(), descriptors * sizeof numbers[0]};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
  }
};

Error no_queue(const char* what) {
  return {ErrorCode::kNoSpace, std::string(what).append(": ").append(std::strerror(errno))};
}

void append(const cmsghdr& rights, std::vector<Fd>& all) {
  const std::size_t count = (rights.cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (std::size_t i = 0; i < count; ++i) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(&rights) + i * sizeof fd, sizeof fd);
    all.emplace_back(fd);
  }
}

rlim_t files_max() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 1024;
}

// From which byte on the next look begins; -1: none is to come.
void set_look(int socket, int at) {
  (void)::setsockopt(socket, SOL_SOCKET, SO_PEEK_OFF, &at, sizeof at);
}

}  // namespace

Result<DescriptorQueue> DescriptorQueue::create() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
    return no_queue("cannot make a socket for descriptors");
  }
  // The kernel makes the most of it that is allowed.
  const int bytes = 1 << 20;
  (void)::setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  return DescriptorQueue(Fd(ends[0]), Fd(ends[1]));
}

DescriptorQueue::Seen DescriptorQueue::look_at_next(Held& all) const {
  Message message(kAtOnce);
  ssize_t got = 0;
  do {
    got = ::recvmsg(out_.get(), &message.header, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return Seen::kNothing;
  std::vector<Fd> some;
  for (cmsghdr* each = CMSG_FIRSTHDR(&message.header); each;
       each = CMSG_NXTHDR(&message.header, each)) {
    if (each->cmsg_level == SOL_SOCKET && each->cmsg_type == SCM_RIGHTS) append(*each, some);
  }
  const auto bytes = static_cast<std::size_t>(got);
  if (bytes % sizeof message.numbers[0] != 0) return Seen::kWhole;
  const std::size_t numbers = bytes / sizeof message.numbers[0];
  for (std::size_t i = 0; i < std::min(numbers, some.size()); ++i) {
    all.emplace_back(message.numbers[i], std::move(some[i]));
  }
  return some.size() == numbers ? Seen::kWhole : Seen::kPart;
}

DescriptorQueue::Look DescriptorQueue::look() const {
  Look look;
  set_look(out_.get(), 0);
  for (;;) {
    const Seen seen = look_at_next(look.held);
    if (seen == Seen::kNothing) break;
    if (seen == Seen::kPart) look.is_whole = false;
  }
  set_look(out_.get(), -1);
  const auto number = [](const auto& each) { return each.first; };
  std::ranges::stable_sort(look.held, {}, number);
  const auto twice = std::unique(look.held.begin(), look.held.end(),
                                 [](const auto& a, const auto& b) { return a.first == b.first; });
  look.held.erase(twice, look.held.end());
  return look;
}

// Without the descriptors, of which this takes none.
std::vector<DescriptorQueue::Numbers> DescriptorQueue::numbers_by_message() const {
  std::vector<Numbers> all;
  set_look(out_.get(), 0);
  for (;;) {
    Numbers numbers(kAtOnce);
    const ssize_t got = ::recv(out_.get(), numbers.data(), numbers.size() * sizeof numbers[0],
                               MSG_PEEK | MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    numbers.resize(static_cast<std::size_t>(got) / sizeof numbers[0]);
    all.push_back(std::move(numbers));
  }
  set_look(out_.get(), -1);
  return all;
}

Result<void> DescriptorQueue::hold(std::uint32_t number, int fd) const {
  return put({&number, 1}, {&fd, 1});
}

// The kernel refuses more of them than a process may have files. Some are held twice for a moment,
// and others of the uid are on their way, too.
std::size_t DescriptorQueue::most() { return files_max() / 4 * 3; }

// Some messages at once, as many as fit into one: these are put again, and then dropped. So a kill
// leaves those of one message twice, and a failure leaves none twice. All are open here meanwhile.
Result<void> DescriptorQueue::keep_only(std::span<const std::uint32_t> numbers) const {
  boost::unordered_flat_set<std::uint32_t> left(numbers.begin(), numbers.end());
  const std::vector<Numbers> before = numbers_by_message();
  const std::size_t at_once = std::min<std::size_t>(kAtOnce, files_max() / 8);
  for (auto next = before.begin(); next != before.end();) {
    const auto first = next;
    Numbers kept;
    std::size_t open = 0;
    do {
      open += next->size();
      for (const std::uint32_t each : *next) {
        if (left.erase(each) != 0) kept.push_back(each);
      }
    } while (++next != before.end() && open + next->size() <= at_once);
    const auto messages = static_cast<std::size_t>(next - first);
    if (auto moved = move_to_the_end(messages, kept); !moved) return moved;
  }
  return {};
}

Result<void> DescriptorQueue::move_to_the_end(std::size_t messages, const Numbers& kept) const {
  if (!kept.empty()) {
    Held all;
    bool is_whole = true;
    set_look(out_.get(), 0);
    for (std::size_t i = 0; i < messages; ++i) is_whole &= look_at_next(all) == Seen::kWhole;
    set_look(out_.get(), -1);
    if (!is_whole) return Error{ErrorCode::kNoSpace, "too many files are open"};
    std::vector<int> descriptors;
    for (const std::uint32_t each : kept) {
      descriptors.push_back(std::ranges::find(all, each, &Held::value_type::first)->second.get());
    }
    if (auto done = put(kept, descriptors); !done) return done;
  }
  for (std::size_t i = 0; i < messages; ++i) {
    std::uint32_t number = 0;
    (void)::recv(out_.get(), &number, sizeof number, MSG_DONTWAIT);
  }
  return {};
}

Result<void> DescriptorQueue::put(std::span<const std::uint32_t> numbers,
                                  std::span<const int> descriptors) const {
  while (!descriptors.empty()) {
    const auto some = descriptors.first(std::min(descriptors.size(), kAtOnce));
    Message message(some.size());
    std::ranges::copy(numbers.first(some.size()), message.numbers.begin());
    cmsghdr* const rights = CMSG_FIRSTHDR(&message.header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(some.size_bytes());
    std::memcpy(CMSG_DATA(rights), some.data(), some.size_bytes());
    if (::sendmsg(in_.get(), &message.header, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
      if (errno == EINTR) continue;
      return no_queue("descriptors cannot be held");
    }
    descriptors = descriptors.subspan(some.size());
    numbers = numbers.subspan(some.size());
  }
  return {};
}

}  // namespace tallyfs
