#include "fs/session.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tally {
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

// An epoll of its own for each thread: with EPOLLEXCLUSIVE a request wakes one of them, and always
// the first that is idle, so that single requests do not wander between processors.
Fd make_waiting(int fuse_fd, int stop_fd) {
  Fd waiting(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event request{.events = EPOLLIN | EPOLLEXCLUSIVE, .data = {.fd = fuse_fd}};
  epoll_event stop{.events = EPOLLIN, .data = {.fd = stop_fd}};
  if (!waiting.valid() || ::epoll_ctl(waiting.get(), EPOLL_CTL_ADD, fuse_fd, &request) != 0 ||
      ::epoll_ctl(waiting.get(), EPOLL_CTL_ADD, stop_fd, &stop) != 0) {
    std::fprintf(stderr, "tallyfs: cannot wait for requests: %s\n", std::strerror(errno));
    std::abort();
  }
  return waiting;
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
      notifier_(std::make_unique<Notifier>(session_.get())) {
  operations_.notify_through(notifier_.get());
}

Session::~Session() { unmount(); }

void Session::start(std::function<void()> started, std::function<void()> ended) {
  started_ = std::move(started);
  ended_ = std::move(ended);
  for (int i = 0; i < kThreads; ++i) {
    threads_.emplace_back([this, waiting = make_waiting(fuse_session_fd(session_.get()),
                                                        stop_.get())] { serve(waiting); });
  }
}

// False when it is time to stop.
bool Session::wait_for_request(const Fd& waiting) {
  epoll_event event{};
  const int count = ::epoll_wait(waiting.get(), &event, 1, -1);
  return !(count == 1 && event.data.fd == stop_.get());
}

void Session::serve(const Fd& waiting) {
  fuse_buf request{};
  while (!fuse_session_exited(session_.get())) {
    const int size = fuse_session_receive_buf(session_.get(), &request);
    if (size > 0) {
      fuse_session_process_buf(session_.get(), &request);
      // The first request is the kernel's INIT; nobody else's comes before it is answered.
      if (!is_started_.exchange(true)) started_();
    } else if (size == -EAGAIN) {
      if (!wait_for_request(waiting)) break;
    } else if (size != -EINTR) {
      break;  // unmounted (0) or aborted
    }
  }
  std::free(request.mem);
  fuse_session_exit(session_.get());
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
  // Whoever waits for an answer now gets ENOTCONN.
  if (take_away_) {
    take_away_();
  } else {
    fuse_session_unmount(session_.get());
  }
  operations_.notify_through(nullptr);
  notifier_.reset();
}

}  // namespace tally
