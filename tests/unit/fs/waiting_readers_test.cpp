// Readers that wait, beside a session that is played here: the functions of libfuse at the end of
// this file take the place of libfuse's own in this program.
#include "fs/waiting_readers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <thread>
#include <utility>
#include <vector>

namespace tallyfs {
namespace {

using namespace std::chrono_literals;

// What the session got of a request or a poll handle.
struct Played {
  Mutex mutex{LockRank::kTest};
  std::condition_variable_any changed;  // waits on mutex
  std::string text GUARDED_BY(mutex);
  std::optional<int> error GUARDED_BY(mutex);  // 0: the text
  int replies GUARDED_BY(mutex) = 0;
  int notified GUARDED_BY(mutex) = 0;
  int destroyed GUARDED_BY(mutex) = 0;
  bool is_interrupted GUARDED_BY(mutex) = false;

  fuse_req_t request() { return reinterpret_cast<fuse_req_t>(this); }
  fuse_pollhandle* handle() { return reinterpret_cast<fuse_pollhandle*>(this); }
  void reply(int its_error, std::string its_text = {}) {
    const MutexLock lock(mutex);
    replies += 1;
    error = its_error;
    text = std::move(its_text);
    changed.notify_all();
  }
  int wait_for_reply() {
    const MutexLock lock(mutex);
    while (!error) changed.wait(mutex);
    return *error;
  }
};

// A file that is as slow as the test says.
class SlowFile final : public File, public Stream {
 public:
  Result<std::string> render(const CallContext&, std::size_t) const override {
    return std::string();
  }
  Timestamp last_change(Timestamp) const override { return {}; }
  Stream* stream() override { return this; }
  bool has_some(Timestamp) const override { return false; }
  bool is_over() const override { return true; }
  std::string next(const CallContext& call) override {
    entered = true;
    entered.notify_all();
    while (is_slow && !call.cancel.is_cancelled()) std::this_thread::sleep_for(1ms);
    return text;
  }

  std::atomic<bool> entered = false;
  std::atomic<bool> is_slow = true;
  std::string text = "late\n";
};

class WaitingReadersTest : public testing::Test {
 protected:
  void add_read(Played& played) {
    auto open = std::make_shared<OpenFile>();
    open->file = HandleFile(file_);
    waiting_.add_read(played.request(), std::move(open), 100, WaitingReaders::Until::kNews);
  }

  SystemClock clock_;
  std::shared_ptr<SlowFile> file_ = std::make_shared<SlowFile>();
  WaitingReaders waiting_{clock_};
};

TEST_F(WaitingReadersTest, AReadGetsItsTextWhenThereIsSome) {
  Played read;
  file_->is_slow = false;
  add_read(read);
  EXPECT_EQ(read.wait_for_reply(), 0);
  waiting_.stop();
  const MutexLock lock(read.mutex);
  EXPECT_EQ(read.text, "late\n");
  EXPECT_EQ(read.replies, 1);
}

TEST_F(WaitingReadersTest, AnInterruptedReadEnds) {
  Played read;
  file_->is_slow = false;
  file_->text = "";
  add_read(read);
  {
    const MutexLock lock(read.mutex);
    read.is_interrupted = true;
  }
  EXPECT_EQ(read.wait_for_reply(), EINTR);
}

// Its source does not answer: stop() does not wait for it.
TEST_F(WaitingReadersTest, StoppingCancelsAReadThatWaitsForItsSource) {
  Played read, next;
  add_read(read);
  file_->entered.wait(false);
  add_read(next);
  waiting_.stop();
  EXPECT_EQ(read.wait_for_reply(), 0) << "what was taken out of the stream is not lost";
  EXPECT_EQ(next.wait_for_reply(), ENODEV);
}

TEST_F(WaitingReadersTest, LeavingLeavesThemToASuccessor) {
  Played read, poller;
  file_->is_slow = false;
  file_->text = "";
  add_read(read);
  waiting_.add_poller(poller.handle(), HandleFile(file_), 0);
  waiting_.leave(WaitingReaders::Kernel::kResends);
  {
    const MutexLock lock(read.mutex);
    EXPECT_EQ(read.replies, 0);
  }
  const MutexLock lock(poller.mutex);
  EXPECT_EQ(poller.notified, 0);
}

TEST_F(WaitingReadersTest, LeavingEndsReadsThatTheKernelDoesNotSendAgain) {
  Played read;
  file_->is_slow = false;
  file_->text = "";
  add_read(read);
  waiting_.leave(WaitingReaders::Kernel::kNoResend);
  EXPECT_EQ(read.wait_for_reply(), EINTR);
}

TEST_F(WaitingReadersTest, LeavingWaitsForAReadThatIsServed) {
  Played read;
  add_read(read);
  file_->entered.wait(false);
  std::thread source([this] { file_->is_slow = false; });
  waiting_.leave(WaitingReaders::Kernel::kResends);
  {
    const MutexLock lock(read.mutex);
    EXPECT_EQ(read.replies, 1);
    EXPECT_EQ(read.error.value_or(-1), 0);
  }
  source.join();
}

TEST_F(WaitingReadersTest, TheBoundHoldsDuringAPass) {
  std::vector<Played> pollers(WaitingReaders::kPollersMax + 1);
  std::vector<Played> reads(WaitingReaders::kReadsMax + 1);
  waiting_.add_poller(pollers[0].handle(), HandleFile(file_), 0);
  add_read(reads[0]);
  file_->entered.wait(false);  // from here on, the pass has both
  for (std::size_t i = 1; i < pollers.size(); ++i) {
    waiting_.add_poller(pollers[i].handle(), HandleFile(file_), 0);
  }
  for (std::size_t i = 1; i < reads.size(); ++i) add_read(reads[i]);
  for (std::size_t i = 0; i < pollers.size(); ++i) {
    const MutexLock lock(pollers[i].mutex);
    EXPECT_EQ(pollers[i].notified, i + 1 == pollers.size()) << i;
  }
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const MutexLock lock(reads[i].mutex);
    EXPECT_EQ(reads[i].error.has_value(), i + 1 == reads.size()) << i;
    if (reads[i].error) {
      EXPECT_EQ(*reads[i].error, EAGAIN);
    }
  }
  waiting_.stop();
  for (Played& each : pollers) {
    const MutexLock lock(each.mutex);
    EXPECT_EQ(each.destroyed, 1);
  }
  for (Played& each : reads) {
    const MutexLock lock(each.mutex);
    EXPECT_EQ(each.replies, 1);
  }
}

Played& played(void* request_or_handle) { return *static_cast<Played*>(request_or_handle); }

}  // namespace
}  // namespace tallyfs

extern "C" {

int fuse_reply_buf(fuse_req_t request, const char* bytes, std::size_t size) {
  tallyfs::played(request).reply(0, std::string(bytes, size));
  return 0;
}

int fuse_reply_err(fuse_req_t request, int error) {
  tallyfs::played(request).reply(error);
  return 0;
}

int fuse_req_interrupted(fuse_req_t request) {
  tallyfs::Played& its = tallyfs::played(request);
  const tallyfs::MutexLock lock(its.mutex);
  return its.is_interrupted ? 1 : 0;
}

const fuse_ctx* fuse_req_ctx(fuse_req_t) {
  static const fuse_ctx context{.uid = 0, .gid = 0, .pid = ::getpid(), .umask = 0};
  return &context;
}

int fuse_lowlevel_notify_poll(fuse_pollhandle* handle) {
  tallyfs::Played& its = tallyfs::played(handle);
  const tallyfs::MutexLock lock(its.mutex);
  its.notified += 1;
  return 0;
}

void fuse_pollhandle_destroy(fuse_pollhandle* handle) {
  tallyfs::Played& its = tallyfs::played(handle);
  const tallyfs::MutexLock lock(its.mutex);
  its.destroyed += 1;
}

}  // extern "C"
