// Asks the program on disk whether it could continue in the keeper's process. The program is
// executed in a new process, and has to answer on its stdout and to exit with status 0, both within
// kMax: a program that is no tallyfs also exits with 0, or never. A program that refuses, or that a
// signal ends, gives the reason in the first line of its stderr.
//
// Confined to the keeper's thread; allocates nothing. Bounds: one question at a time, kMax, the
// first kAnswerMax bytes of an answer, and the first kReasonMax of a reason.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>

#include "core/base/fd.h"

namespace tallyfs {

class ProgramCheck {
 public:
  static constexpr std::chrono::seconds kMax{10};
  static constexpr std::size_t kAnswerMax = 64;
  static constexpr std::size_t kReasonMax = 256;

  // The program that is asked calls this to say that it can continue. It writes nothing if its
  // stdout is the keeper's own: then a keeper of an older version asks, which reads the exit status
  // alone.
  static void answer(const char* version);

  // Calls `execute` in a new process; it returns, with errno, only if it fails. Returns nullptr, or
  // the reason why there is no such process. A reason is valid until the next call.
  const char* start(const std::function<void()>& execute);
  bool is_running() const { return process_.valid(); }
  // Readable when the process has ended. -1: nothing is asked.
  int fd() const { return process_.get(); }
  // For poll(2): until the time is up; -1: nothing is asked.
  int milliseconds_left() const;
  // Call when the process has ended, or when its time is up: then it is killed. Returns nullptr if
  // the program can continue, or the reason why not.
  const char* finish();
  // Kills the process, if there is one. Call before this process executes another program, which
  // would not know of it.
  void stop();
  // Closes the descriptors in a child of the process that asks.
  void forget();

 private:
  const char* judge(int status);
  // Joins `end`, which says how the process ended, and the first line of its stderr.
  const char* refused(const char* end);
  const char* failed(const char* what, const char* reason);

  Fd process_;  // its pidfd
  Fd output_;
  Fd errors_;
  pid_t pid_ = 0;
  std::chrono::steady_clock::time_point end_;
  std::array<char, 64 + kReasonMax> fault_{};
};

}  // namespace tallyfs
