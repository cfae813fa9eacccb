// Readers that wait for a file's next text: poll(2) on a file without news, and reads of a stream
// that has nothing to read. They wait here, so that none of the few serving threads is blocked. One
// thread examines all of them each kPeriod; without readers it sleeps.
//
// Thread-safe. Holds at most kPollersMax and kReadsMax, those of the pass under way included. A
// poller beyond that is notified at once, as if there were news; a read beyond that fails with
// EAGAIN.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/call_context.h"
#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/tree/file.h"
#include "fs/handles.h"
#include "fs/protocol.h"

namespace tallyfs {

// The next piece of a stream for this handle: at most `bytes` bytes. A stream of lines gives whole
// lines if one fits; a stream of pages gives at most the rest of one page. An empty text is the
// stream's end. nullopt: there is nothing to read now, or another read of the handle is taking text
// out of the stream. No lock is held while the stream makes text.
std::optional<std::string> next_piece(OpenFile& open, Stream& stream, std::size_t bytes,
                                      const CallContext& call);

class WaitingReaders {
 public:
  static constexpr std::size_t kPollersMax = 4096;
  static constexpr std::size_t kReadsMax = 256;
  static constexpr std::chrono::milliseconds kPeriod{20};
  static constexpr std::chrono::milliseconds kSoonPeriod{50};

  // The clock outlives it.
  explicit WaitingReaders(const Clock& clock) : clock_(clock) {}
  ~WaitingReaders() { stop(); }

  // Starts the thread, which the first reader would start otherwise. Then all threads of the
  // process exist, and are known, before readers come.
  void start() EXCLUDES(mutex_);
  // Takes ownership of the handle. The kernel is notified once news_of() differs from `seen`.
  void add_poller(fuse_pollhandle* handle, HandleFile file, std::uint64_t seen)
      EXCLUDES(mutex_);
  // Takes ownership of the request. Replies once the stream has text, has ended, or the request was
  // interrupted (EINTR). kSoon: replies after kSoonPeriod at the latest (EAGAIN). splice(2) needs
  // that: it waits for all bytes that it was asked for, returns those that it has when a read
  // fails, and no signal interrupts it.
  enum class Until : std::uint8_t { kNews, kSoon };
  void add_read(fuse_req_t request, std::shared_ptr<OpenFile> open, std::size_t bytes, Until until)
      EXCLUDES(mutex_);
  // Ends the thread without a reply to its readers: a successor gets the reads from the kernel
  // again, and notifies the pollers. A read that is being served gets its reply. kNoResend: the
  // kernel does not send them again, and reads fail with EINTR.
  enum class Kernel : std::uint8_t { kResends, kNoResend };
  void leave(Kernel kernel) EXCLUDES(mutex_);
  // Call while the session exists. Pollers are dropped; reads fail with ENODEV. A read that is
  // being served is cancelled.
  void stop() EXCLUDES(mutex_);

 private:
  struct DestroyHandle {
    void operator()(fuse_pollhandle* handle) const { fuse_pollhandle_destroy(handle); }
  };
  using Handle = std::unique_ptr<fuse_pollhandle, DestroyHandle>;
  struct Poller {
    Handle handle;
    HandleFile file;
    std::uint64_t seen = 0;
  };
  struct Read {
    fuse_req_t request;
    std::shared_ptr<OpenFile> open;  // shared with the table of open files
    std::size_t bytes;
    std::chrono::steady_clock::time_point deadline;  // EAGAIN
  };
  struct Readers {
    std::vector<Poller> pollers;
    std::vector<Read> reads;
    bool empty() const { return pollers.empty() && reads.empty(); }
  };

  void run() EXCLUDES(mutex_);
  void start_thread() REQUIRES(mutex_);
  Readers end() EXCLUDES(mutex_);
  // Waits for readers and takes all of them. Empty: the thread has to end.
  Readers take_all() EXCLUDES(mutex_);
  void put_back(Readers readers) EXCLUDES(mutex_);
  // Both return true if the reader need not wait any longer.
  bool notify(const Poller& poller);
  bool reply(const Read& read);
  CancellationToken cancellation_of(const Read& read) const;

  const Clock& clock_;
  Mutex mutex_{LockRank::kWaitingReaders};
  std::condition_variable_any changed_;  // waits on mutex_
  Readers readers_ GUARDED_BY(mutex_);
  // How many readers the current pass has taken out of readers_.
  std::size_t passing_pollers_ GUARDED_BY(mutex_) = 0;
  std::size_t passing_reads_ GUARDED_BY(mutex_) = 0;
  bool ending_ GUARDED_BY(mutex_) = false;
  std::atomic<bool> cancelling_ = false;  // reads that are served
  std::thread thread_;                    // started under the mutex
};

}  // namespace tallyfs
