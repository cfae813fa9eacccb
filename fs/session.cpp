#include "fs/session.h"

#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>

#include "fs/keeper/keeper.h"
#include "fs/request_buffer.h"
#include "fs/request_in_work.h"
#include "program/log.h"

namespace tallyfs {
namespace {

// A request of the server before, which the kernel sends again, has this bit in its number.
constexpr std::uint64_t kResentBit = std::uint64_t{1} << 63;
// The number of the kept request; the kernel's own are even.
constexpr std::uint64_t kReplayedNumber = (std::uint64_t{1} << 62) + 1;

fuse_in_header header_of(const fuse_buf& request) {
  fuse_in_header header{};
  std::memcpy(&header, request.mem, std::min(sizeof header, request.size));
  return header;
}

std::string_view body_of(const fuse_buf& request) {
  return std::string_view(static_cast<const char*>(request.mem), request.size)
      .substr(std::min(sizeof(fuse_in_header), request.size));
}

template <typename Body>
std::optional<Body> body_as(const fuse_buf& request) {
  Body body{};
  const auto bytes = body_of(request);
  if (bytes.size() < sizeof body) return std::nullopt;
  std::memcpy(&body, bytes.data(), sizeof body);
  return body;
}

// No more than is resident: a request that is read into memory which is not yet there would be lost
// with a server that is killed meanwhile.
ssize_t read_request(int fd, void* buffer, std::size_t size, void*) {
  return ::read(fd, buffer, std::min(size, RequestBuffer::kBytes));
}

ssize_t write_reply(int fd, iovec* parts, int count, void*) {
  fuse_out_header header{};
  if (count > 0 && parts[0].iov_len >= sizeof header) {
    std::memcpy(&header, parts[0].iov_base, sizeof header);
    if (header.unique == kReplayedNumber) return header.len;
  }
  return ::writev(fd, parts, count);
}

constexpr fuse_custom_io kIo{
    .writev = write_reply, .read = read_request, .splice_receive = nullptr, .splice_send = nullptr};

// The beginning of fuse_init_in, whose flags2 older headers lack.
struct InitFlags {
  std::uint32_t major, minor, max_readahead, flags, flags2;
};

bool can_resend(const fuse_buf& request) {
  const auto init = body_as<InitFlags>(request);
  return init && (init->flags & protocol::kInitExt) && (init->flags2 & protocol::kHasResend);
}

const char* name_of(std::uint32_t opcode) {
  switch (opcode) {
    case FUSE_LOOKUP: return "lookup";
    case FUSE_GETATTR: return "getattr";
    case FUSE_SETATTR: return "setattr";
    case FUSE_OPEN: return "open";
    case FUSE_READ: return "read";
    case FUSE_WRITE: return "write";
    case FUSE_MKDIR: return "mkdir";
    case FUSE_RMDIR: return "rmdir";
    case FUSE_UNLINK: return "unlink";
    case FUSE_READDIR:
    case FUSE_READDIRPLUS: return "readdir";
    case FUSE_POLL: return "poll";
    case FUSE_IOCTL: return "ioctl";
    default: return "request";
  }
}

struct Nothing {};

// False: the kernel does not know it.
template <typename Body>
bool notify(int fd, std::int32_t code, const Body& body) {
  fuse_out_header header{
      .len = static_cast<std::uint32_t>(sizeof header + sizeof body), .error = code, .unique = 0};
  if constexpr (std::is_empty_v<Body>) header.len = sizeof header;
  std::array<iovec, 2> parts{iovec{&header, sizeof header},
                             iovec{const_cast<Body*>(&body), header.len - sizeof header}};
  return ::writev(fd, parts.data(), parts.size()) >= 0;
}

}  // namespace

// Two threads are root's and the daemon's uid's own.
static_assert(UidTurns::kOfAllMax + 2 == Session::kThreads);
static_assert(Session::kThreads == Handover::kThreadsMax);

Result<std::unique_ptr<Session>> Session::create(Operations& operations, const Options& options) {
  auto session = new_session(options.mount_options, Operations::table(), &operations);
  if (!session) return session.error();
  Fd stop(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const int fd = stop.valid() ? ::fcntl(options.fd, F_DUPFD_CLOEXEC, 0) : -1;
  if (fd < 0 || fuse_session_custom_io(session.value().get(), &kIo, fd) != 0) {
    return Error{ErrorCode::kInvalid,
                 std::string("cannot serve the mount: ").append(std::strerror(errno))};
  }
  return std::unique_ptr<Session>(
      new Session(operations, std::move(session.value()), std::move(stop), options));
}

Session::Session(Operations& operations, FuseSession session, Fd stop, const Options& options)
    : operations_(operations),
      session_(std::move(session)),
      stop_(std::move(stop)),
      handover_(options.handover),
      refused_(options.refused),
      take_away_(options.take_away),
      notifier_(std::make_unique<Notifier>(session_.get(), operations.at(Tree::kRoot))) {
  operations_.notify_through(notifier_.get());
  operations_.promote_through(&leader_followers_);
}

Session::~Session() { unmount(); }

void Session::start(std::function<void()> started, std::function<void()> ended) {
  started_ = std::move(started);
  ended_ = std::move(ended);
  operations_.start_polling();
  if (handover_ && !handover_->init().empty()) take_over();
  for (int i = 0; i < kThreads; ++i) {
    threads_.emplace_back([this, i] { serve(static_cast<std::size_t>(i)); });
  }
}

// The kernel does not send FUSE_INIT again, and hears no second reply to it. Requests that the
// server before had read come again (Linux 6.9 and later), and pollers look again.
void Session::take_over() {
  std::string init(handover_->init());
  fuse_in_header header{};
  std::memcpy(&header, init.data(), std::min(sizeof header, init.size()));
  header.unique = kReplayedNumber;
  std::memcpy(init.data(), &header, std::min(sizeof header, init.size()));
  fuse_buf request{};
  request.size = init.size();
  request.mem = init.data();
  fuse_session_process_buf(session_.get(), &request);
  before_ = handover_->take_requests();
  refuses_resent_ = handover_->failures() >= Keeper::kFailuresSuspect;
  const int fd = fuse_session_fd(session_.get());
  if (can_resend(request)) (void)notify(fd, protocol::kNotifyResend, Nothing());
  for (std::size_t place = 0; place < Handover::kPollsMax; ++place) {
    const std::uint64_t handle = handover_->poll_at(place);
    if (handle == 0) continue;
    (void)notify(fd, FUSE_NOTIFY_POLL, fuse_notify_poll_wakeup_out{.kh = handle});
    (void)handover_->take_poll(place);  // behind it: another server may be killed in between
  }
  (void)fuse_lowlevel_notify_inval_inode(session_.get(), Tree::kRoot, -1, 0);
  is_started_ = true;
  started_();
}

bool Session::kernel_resends() const {
  if (!handover_) return false;
  std::string init(handover_->init());
  fuse_buf request{};
  request.size = init.size();
  request.mem = init.data();
  return can_resend(request);
}

const Handover::Request* Session::executed_before(std::uint64_t unique) const {
  const auto found = std::ranges::find(before_, unique, &Handover::Request::unique);
  return found == before_.end() ? nullptr : &*found;
}

// As the server before would have answered it, but for its end. This one may be killed, too, before
// it has forgotten the outcome.
void Session::answer_again(const fuse_buf& request, const Handover::Request& before) {
  const int error = *before.error;
  const fuse_in_header header = header_of(request);
  const fuse_out_header reply{.len = sizeof reply, .error = -error, .unique = header.unique};
  (void)!::write(fuse_session_fd(session_.get()), &reply, sizeof reply);
  handover_->forget_outcome(before.unique);
}

void Session::refuse(const fuse_buf& request, std::uint64_t crashes) {
  const fuse_in_header header = header_of(request);
  count_refused(request, crashes);
  const fuse_out_header refusal{.len = sizeof refusal, .error = -EIO, .unique = header.unique};
  (void)!::write(fuse_session_fd(session_.get()), &refusal, sizeof refusal);
}

// Before the answer, so that whoever has it finds the request counted.
void Session::count_refused(const fuse_buf& request, std::uint64_t crashes) {
  const fuse_in_header header = header_of(request);
  // After several crashes all that come again are refused, of which there may be many.
  if (crashes < kCrashesMax) {
    if (refused_) refused_({.uid = header.uid, .reason = "", .bytes = {}});
    return;
  }
  std::string reason(name_of(header.opcode));
  reason.append(" of pid ").append(std::to_string(header.pid)).append(" uid ");
  reason.append(std::to_string(header.uid)).append(" is refused: servers have crashed with it");
  log_error(reason);
  std::string_view bytes = header.opcode == FUSE_WRITE ? body_of(request) : std::string_view();
  bytes.remove_prefix(std::min(sizeof(fuse_write_in), bytes.size()));
  if (refused_) refused_({.uid = header.uid, .reason = std::move(reason), .bytes = bytes});
}

// A successor needs to know of the poll, and of what was executed when this server ended. After
// several crashes any request that comes again may be the cause.
void Session::process_noted(const fuse_buf& request, std::size_t thread) {
  const fuse_in_header header = header_of(request);
  const std::uint64_t unique = header.unique & ~kResentBit;
  const bool is_resent = header.unique != unique;
  const Handover::Request* const before = is_resent ? executed_before(unique) : nullptr;
  const std::uint64_t crashes = before ? before->crashes : 0;
  if (before && before->error) return answer_again(request, *before);
  if (crashes >= kCrashesMax || (is_resent && refuses_resent_)) return refuse(request, crashes);
  const auto poll = header.opcode == FUSE_POLL ? body_as<fuse_poll_in>(request) : std::nullopt;
  if (poll && (poll->flags & FUSE_POLL_SCHEDULE_NOTIFY)) handover_->note_poll(poll->kh);
  handover_->begin_request(thread, {.unique = unique, .crashes = crashes});
  request_in_work.number = unique;
  fuse_session_process_buf(session_.get(), &request);
  handover_->end_request(thread);
}

void Session::keep_init(const fuse_buf& request) {
  handover_->keep_init({static_cast<const char*>(request.mem), request.size});
  if (can_resend(request)) return;
  log_info(
      "this kernel does not send requests again, as Linux 6.9 does: those under way when the "
      "server "
      "is killed hang until their process is interrupted");
}

void Session::process(const fuse_buf& request, std::size_t thread) {
  if (handover_) {
    process_noted(request, thread);
  } else {
    fuse_session_process_buf(session_.get(), &request);
  }
  // The first request is the kernel's INIT; no other one comes before the reply to it.
  if (is_started_.load(std::memory_order_relaxed) || is_started_.exchange(true)) return;
  if (handover_) keep_init(request);
  started_();
}

// False when it is time to stop.
bool Session::wait_for_request() {
  operations_.rest();
  std::array<pollfd, 2> waited{
      pollfd{.fd = fuse_session_fd(session_.get()), .events = POLLIN, .revents = 0},
      pollfd{.fd = stop_.get(), .events = POLLIN, .revents = 0}};
  ::poll(waited.data(), waited.size(), -1);
  return waited[1].revents == 0;
}

// Polls for the next request, for as long as that is cheaper than to sleep. Yields the processor to
// a caller that waits for the last reply.
int Session::spin(fuse_buf& request) {
  const auto until = answered_ + kSpin;
  for (;;) {
    const int size = fuse_session_receive_buf(session_.get(), &request);
    if (size != -EAGAIN || std::chrono::steady_clock::now() >= until) return size;
    ::sched_yield();
  }
}

// fuse_session_receive_buf() with a wait. 0: the thread has to end.
int Session::receive(fuse_buf& request) {
  int size = keep_coming_ ? spin(request) : fuse_session_receive_buf(session_.get(), &request);
  while (size == -EAGAIN || size == -EINTR) {
    if (!wait_for_request()) return 0;
    size = fuse_session_receive_buf(session_.get(), &request);
  }
  keep_coming_ = std::chrono::steady_clock::now() - answered_ <= kKeepComing;
  return size;
}

void Session::listen(fuse_buf& request, std::size_t thread) {
  while (leader_followers_.is_leader() && !fuse_session_exited(session_.get())) {
    const int size = receive(request);
    if (size <= 0) {  // stopped or unmounted (0), or aborted
      if (size < 0)
        log_warning(std::string("no more requests can be read: ") + std::strerror(-size));
      fuse_session_exit(session_.get());
      return;
    }
    process(request, thread);
    if (leader_followers_.is_leader()) answered_ = std::chrono::steady_clock::now();
  }
}

void Session::serve(std::size_t thread) {
  if (handover_) {
    request_in_work.keep = [this, thread](int error) { handover_->note_outcome(thread, error); };
  }
  const RequestBuffer buffer;
  fuse_buf request{};
  request.mem = buffer.memory();
  while (!fuse_session_exited(session_.get()) && leader_followers_.lead()) {
    listen(request, thread);
  }
  leader_followers_.end();
  ended_();
}

void Session::leave() {
  // The notifier first, while requests are still answered: it may be in a system call that ends
  // when one of them is.
  notifier_->stop();
  // Then the threads, since libfuse closes the descriptor that they read from.
  // Busy ones look at the session when their requests are answered, idle ones are woken. What waits
  // for its turn is served before, where the kernel would not send it to a successor.
  if (kernel_resends()) operations_.end_turns();
  fuse_session_exit(session_.get());
  const std::uint64_t one = 1;
  if (::write(stop_.get(), &one, sizeof one) != sizeof one) std::abort();
  for (std::thread& thread : threads_) thread.join();
}

void Session::unmount() {
  if (!notifier_) return;
  operations_.end_turns();
  leave();
  operations_.stop_polling();
  // Requests without a reply now fail with ENOTCONN.
  take_away_();
  operations_.notify_through(nullptr);
  operations_.promote_through(nullptr);
  notifier_.reset();
  // Closes the descriptor: the last one ends what still waits for a reply.
  session_.reset();
}

}  // namespace tallyfs
