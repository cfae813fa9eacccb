// The question to the program on disk whether it could go on in the keeper's process: it is
// executed in a new process, and has to answer on its stdout, to end with 0, and both in time. A
// program that is no tallyfs ends with 0, too, or never. One that refuses says why on its stderr,
// of which the first line counts; so does one that is ended by a signal.
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

  // In the program that is asked: it can go on. Says nothing on a stdout that is the keeper's own.
  static void answer(const char* version);

  // In a new process: calls execute, which returns with errno if it cannot. nullptr, or why there
  // is no such process: a reason is valid until the next call.
  const char* start(const std::function<void()>& execute);
  bool is_running() const { return process_.valid(); }
  // To be polled; -1: nothing is asked.
  int fd() const { return process_.get(); }
  // For poll(2): until the time is up; -1: nothing is asked.
  int milliseconds_left() const;
  // The process has ended, or its time is up, in which case it is killed. nullptr: the program can
  // go on; else why not.
  const char* finish();
  // Kills the process, if one is asked. A program that takes this one over would not know of it.
  void stop();
  // In another process than the one that asks.
  void forget();

 private:
  const char* judge(int status);
  // What the process has said on its stderr comes behind how it ended.
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
