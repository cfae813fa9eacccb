// Readers that wait for a file's next text: poll(2) on a file without news, and reads of a stream
// that has nothing to read. They wait here, so that none of the few serving threads is blocked. One
// thread examines all of them each kPeriod; without readers it sleeps.
//
// Thread-safe. Holds at most kPollersMax and kReadsMax. A poller beyond that is notified at once,
// as if there were news; a read beyond that fails with EAGAIN.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/tree/file.h"
#include "fs/handles.h"
#include "fs/protocol.h"

namespace tallyfs {

// The next piece of a stream for this handle: at most `bytes` bytes, and whole lines if one fits.
// Empty: the stream is at its end. Nothing: there is nothing to read now.
std::optional<std::string> next_piece(OpenFile& open, std::size_t bytes, Moment now);

class WaitingReaders {
 public:
  static constexpr std::size_t kPollersMax = 4096;
  static constexpr std::size_t kReadsMax = 256;
  static constexpr std::chrono::milliseconds kPeriod{20};

  // The clock outlives it.
  explicit WaitingReaders(const Clock& clock) : clock_(clock) {}
  ~WaitingReaders() { stop(); }

  // Starts the thread, which the first reader does otherwise: so that the threads of the process
  // are all there, and known, before readers come.
  void start() EXCLUDES(mutex_);
  // Takes the handle. The kernel is notified once File::news() differs from `seen`.
  void add_poller(fuse_pollhandle* handle, std::shared_ptr<const File> file, std::uint64_t seen)
      EXCLUDES(mutex_);
  // Takes the request over. Replies once the stream has text, has ended, or the request was
  // interrupted (EINTR).
  void add_read(fuse_req_t request, std::shared_ptr<OpenFile> open, std::size_t bytes)
      EXCLUDES(mutex_);
  // Called while the session exists. Pollers are dropped; reads fail with ENODEV.
  void stop() EXCLUDES(mutex_);

 private:
  struct DestroyHandle {
    void operator()(fuse_pollhandle* handle) const { fuse_pollhandle_destroy(handle); }
  };
  using Handle = std::unique_ptr<fuse_pollhandle, DestroyHandle>;
  struct Poller {
    Handle handle;
    std::shared_ptr<const File> file;  // shared with the open file
    std::uint64_t seen = 0;
  };
  struct Read {
    fuse_req_t request;
    std::shared_ptr<OpenFile> open;  // shared with the table of open files
    std::size_t bytes;
  };
  struct Readers {
    std::vector<Poller> pollers;
    std::vector<Read> reads;
    bool empty() const { return pollers.empty() && reads.empty(); }
  };

  void run() EXCLUDES(mutex_);
  void start_thread() REQUIRES(mutex_);
  // All readers; none: it is time to stop.
  Readers take_all() EXCLUDES(mutex_);
  void put_back(Readers readers) EXCLUDES(mutex_);
  // Whether the reader need not wait any longer.
  bool notify(const Poller& poller);
  bool reply(const Read& read);

  const Clock& clock_;
  Mutex mutex_{LockRank::kWaitingReaders};
  std::condition_variable_any changed_;  // waits on mutex_
  Readers readers_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // started under the mutex
};

}  // namespace tallyfs
