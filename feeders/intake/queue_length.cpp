#include "feeders/intake/queue_length.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <thread>

namespace tallyfs {
namespace {

constexpr char kSetting[] = "/proc/sys/net/unix/max_dgram_qlen";
constexpr unsigned kKernelDefault = 10;

unsigned read_from(const Fd& fd) {
  char text[16];
  const ssize_t size = ::pread(fd.get(), text, sizeof text, 0);
  unsigned value = kKernelDefault;
  if (size > 0) std::from_chars(text, text + size, value);
  return value;
}

bool take_lock(const Fd& fd, std::chrono::milliseconds wait_max) {
  constexpr std::chrono::milliseconds kPause{5};
  for (auto waited = kPause; ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0; waited += kPause) {
    if (waited > wait_max) return false;
    // flock(2) can wait for ever or not at all. 100 looks come to kWaitMax.
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

bool write_to(const Fd& fd, unsigned value) {
  const std::string text = std::to_string(value);
  return ::pwrite(fd.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

}  // namespace

QueueLength::QueueLength(unsigned wanted) {
  Fd setting(::open(kSetting, O_RDWR | O_CLOEXEC));
  if (!setting.valid() || !take_lock(setting, kWaitMax)) return;
  before_ = read_from(setting);
  const unsigned most = std::max(before_, wanted);
  if (!write_to(setting, most)) return;
  granted_ = most;
  setting_ = std::move(setting);
}

QueueLength::~QueueLength() {
  if (setting_.valid()) write_to(setting_, before_);
}

unsigned QueueLength::current() {
  const Fd setting(::open(kSetting, O_RDONLY | O_CLOEXEC));
  return setting.valid() ? read_from(setting) : kKernelDefault;
}

}  // namespace tallyfs
