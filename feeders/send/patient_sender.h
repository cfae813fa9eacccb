// Sends the lines of a queue to a daemon that may be absent, silent or replaced: it is waited for
// without end, and no line is sent twice. Of lines that a daemon got and did not answer before it
// ended, nothing tells whether they took effect: they are counted as unknown, and not as refused.
// run() belongs to one thread; the counts may be read by any.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "core/base/result.h"
#include "feeders/send/line_queue.h"
#include "feeders/send/sender.h"

namespace tallyfs {

class PatientSender {
 public:
  // tell: is called with each sentence for the user, once for each outage.
  using Tell = std::function<void(const std::string& text)>;
  PatientSender(Sender& sender, LineQueue& queue, Tell tell)
      : sender_(sender), queue_(queue), tell_(std::move(tell)) {}

  // Returns when the queue has ended and each of its lines is answered or unknown. An error is one
  // that no waiting mends: kNoAccess, kInvalid.
  Result<void> run();

  // Lines that were taken from the queue and are not settled yet.
  std::uint64_t under_way() const { return taken_ - settled_; }

 private:
  Result<void> connect();
  Result<void> send_all();
  Result<void> patiently(const std::function<Result<void>()>& call);
  void save_lines();

  Sender& sender_;
  LineQueue& queue_;
  const Tell tell_;
  std::optional<KeptLine> current_;  // which the sender has not taken
  std::atomic<std::uint64_t> taken_ = 0;
  std::atomic<std::uint64_t> settled_ = 0;
};

}  // namespace tallyfs
