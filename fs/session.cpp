#include "fs/session.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "log/log.h"

namespace tallyfs {
namespace {

class Arguments {
 public:
  ~Arguments() { fuse_opt_free_args(&args_); }
  void add(const std::string& argument) {
    if (fuse_opt_add_arg(&args_, argument.c_str()) != 0) std::abort();
  }
  fuse_args* get() { return &args_; }

 private:
  fuse_args args_ = FUSE_ARGS_INIT(0, nullptr);
};

bool is_gone(int mount) {
  pollfd each{.fd = mount, .events = 0, .revents = 0};
  return ::poll(&each, 1, 0) == 1 && (each.revents & POLLERR) != 0;
}

}  // namespace

Result<std::unique_ptr<Session>> Session::create(Operations& operations, const Options& options) {
  Arguments arguments;
  arguments.add("tallyfs");
  for (const std::string& option : options.mount_options) {
    arguments.add("-o");
    arguments.add(option);
  }
  const fuse_lowlevel_ops& ops = Operations::table();
  std::unique_ptr<fuse_session, Destroy> session(
      fuse_session_new(arguments.get(), &ops, sizeof ops, &operations));
  if (!session) return Error{ErrorCode::kInvalid, "the mount options were refused"};
  errno = 0;
  if (fuse_session_mount(session.get(), options.mount_point.c_str()) != 0) {
    return Error{ErrorCode::kInvalid, "cannot mount on " + options.mount_point +
                                          (errno ? std::string(": ") + std::strerror(errno) : "")};
  }
  const auto take_away =
      options.take_away ? options.take_away : [&session] { fuse_session_unmount(session.get()); };
  Fd stop(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop.valid()) {
    take_away();
    return Error{ErrorCode::kInvalid,
                 std::string("cannot make an eventfd: ") + std::strerror(errno)};
  }
  if (auto done = options.mounted(); !done) {
    take_away();
    return done.error();
  }
  const int fd = fuse_session_fd(session.get());
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  return std::unique_ptr<Session>(
      new Session(operations, std::move(session), std::move(stop), options.take_away));
}

Session::Session(Operations& operations, std::unique_ptr<fuse_session, Destroy> session, Fd stop,
                 std::function<void()> take_away)
    : operations_(operations),
      session_(std::move(session)),
      stop_(std::move(stop)),
      take_away_(std::move(take_away)),
      notifier_(std::make_unique<Notifier>(session_.get(), operations.at(Tree::kRoot))) {
  operations_.notify_through(notifier_.get());
  operations_.promote_through(&leader_followers_);
}

Session::~Session() { unmount(); }

void Session::start(std::function<void()> started, std::function<void()> ended) {
  started_ = std::move(started);
  ended_ = std::move(ended);
  operations_.start_polling();
  for (int i = 0; i < kThreads; ++i) {
    threads_.emplace_back([this] { serve(); });
  }
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

// As fuse_session_receive_buf(), with a wait. 0: it is time to stop.
int Session::receive(fuse_buf& request) {
  int size = keep_coming_ ? spin(request) : fuse_session_receive_buf(session_.get(), &request);
  while (size == -EAGAIN || size == -EINTR) {
    if (!wait_for_request()) return 0;
    size = fuse_session_receive_buf(session_.get(), &request);
  }
  keep_coming_ = std::chrono::steady_clock::now() - answered_ <= kKeepComing;
  return size;
}

void Session::listen(fuse_buf& request) {
  while (leader_followers_.is_leader() && !fuse_session_exited(session_.get())) {
    const int size = receive(request);
    if (size <= 0) {  // stopped or unmounted (0), or aborted
      if (size < 0)
        log_warning(std::string("no more requests can be read: ") + std::strerror(-size));
      fuse_session_exit(session_.get());
      return;
    }
    fuse_session_process_buf(session_.get(), &request);
    // The first request is the kernel's INIT; no other one comes before the reply to it.
    if (!is_started_.exchange(true)) started_();
    if (leader_followers_.is_leader()) answered_ = std::chrono::steady_clock::now();
  }
}

void Session::serve() {
  fuse_buf request{};
  while (!fuse_session_exited(session_.get()) && leader_followers_.lead()) listen(request);
  std::free(request.mem);
  leader_followers_.end();
  ended_();
}

void Session::unmount() {
  if (!notifier_) return;
  // The notifier first, while requests are still answered: it may be in a system call that ends
  // when one of them is.
  notifier_->stop();
  // Then the threads, since libfuse closes the descriptor that they read from.
  // Busy ones look at the session, idle ones are woken.
  fuse_session_exit(session_.get());
  const std::uint64_t one = 1;
  if (::write(stop_.get(), &one, sizeof one) != sizeof one) std::abort();
  for (std::thread& thread : threads_) thread.join();
  operations_.stop_polling();
  // Requests without a reply now fail with ENOTCONN.
  if (take_away_) take_away_();
  // Of a mount that is gone libfuse only frees what it knows of it. One that is still there it would
  // remove by its path, where another may lie.
  if (!take_away_ || is_gone(fuse_session_fd(session_.get()))) {
    fuse_session_unmount(session_.get());
  }
  operations_.notify_through(nullptr);
  operations_.promote_through(nullptr);
  notifier_.reset();
}

}  // namespace tallyfs
