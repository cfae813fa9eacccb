// Who reads a file like a pipe and found nothing in it: waits in their place, so that none of the
// few threads that serve the mount does. Looks, while there are any, whether there is something by
// now, and whether the reader was interrupted.
//
// Thread-safe; a thread of its own, which sleeps as long as nobody waits. At most kReadersMax; who
// comes then is told to try again (EAGAIN).
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "fs/handles.h"
#include "fs/protocol.h"

namespace tallyfs {

// The next piece for this reader, of at most `bytes` bytes and of whole lines if one fits; empty:
// it is at the end; nothing: there is nothing now.
std::optional<std::string> next_piece(OpenFile& open, std::size_t bytes, Moment now);

class StreamReaders {
 public:
  static constexpr std::size_t kReadersMax = 256;
  static constexpr std::chrono::milliseconds kPeriod{20};

  // The clock outlives it.
  explicit StreamReaders(const Clock& clock) : clock_(clock) {}
  ~StreamReaders() { stop(); }

  // The request is its own from now on.
  void add(fuse_req_t request, std::shared_ptr<OpenFile> open, std::size_t bytes) EXCLUDES(mutex_);
  // While the session is still there: all who wait are told that the device is gone (ENODEV).
  void stop() EXCLUDES(mutex_);

 private:
  struct Reader {
    fuse_req_t request;
    std::shared_ptr<OpenFile> open;  // shared with the table of open files
    std::size_t bytes;
  };

  void run() EXCLUDES(mutex_);
  // Empty: it is time to stop.
  std::vector<Reader> take_all() EXCLUDES(mutex_);
  // True: it was answered.
  bool serve(const Reader& reader);

  const Clock& clock_;
  Mutex mutex_{LockRank::kStreamReaders};
  std::condition_variable_any changed_;  // waits on mutex_
  std::vector<Reader> readers_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // started by the first reader, under the mutex
};

}  // namespace tallyfs
