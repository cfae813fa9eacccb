#include "feeders/client/answer_channel.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "feeders/client/socket_identity.h"

namespace tallyfs {

bool AnswerChannel::is_wanted() const {
  return !is_refused_ && (fd() < 0 || uid_ != ::getuid());
}

Fd AnswerChannel::make() {
  std::array<int, 2> made{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, made.data()) != 0) {
    return Fd();
  }
  const Fd small(made[0]);
  Fd theirs(made[1]);
  Fd ours(::fcntl(small.get(), F_DUPFD_CLOEXEC, kLowestFd));
  if (!ours.valid()) return Fd();
  close();
  cookie_ = cookie_of(ours.get());
  uid_ = ::getuid();
  has_answered_ = false;
  fd_ = ours.release();
  return theirs;
}

void AnswerChannel::refuse() {
  close();
  is_refused_ = true;
}

void AnswerChannel::reset() {
  close();
  is_refused_ = is_lost_ = has_answered_ = false;
}

void AnswerChannel::end() {
  is_lost_ = has_answered_;
  is_refused_ = !has_answered_;
  close();
}

int AnswerChannel::checked_fd() {
  const int checked = fd();
  if (checked < 0 || cookie_of(checked) == cookie_) return checked;
  fd_ = -1;
  is_lost_ = has_answered_;
  return -1;
}

void AnswerChannel::close() {
  const int old = fd_.exchange(-1);
  if (old >= 0 && cookie_of(old) == cookie_) ::close(old);
}

}  // namespace tallyfs
