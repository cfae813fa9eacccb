// Reports that a mount cannot be read: once when that begins, and once when it has ended. Confined
// to one thread.
#pragma once

#include <optional>
#include <string>

#include "core/base/result.h"

namespace tallyfs {

class ReadingReport {
 public:
  // After each try to read a moment. Returns a status if the command ends with it: the first try
  // failed, and not since the daemon did not answer in time, as one that is stopped or reloads.
  std::optional<int> take(const Result<void>& done);
  // The status of a command that ends now: kNoAnswer if the mount was never read.
  int status() const;

 private:
  bool has_tried_ = false;
  bool has_read_ = false;
  std::string unread_;  // the reason why the mount cannot be read, while that is so
};

}  // namespace tallyfs
