// The keeper: the main process of a daemon, but with --no-keeper. It holds the mount, /dev/fuse,
// the socket and its lock, and starts the server, which is all the rest, as a child. Once a first
// server was ready, one that crashes or is killed is replaced at once, and the mount stays; before,
// its end ends everything, and so does a server that ends with 0.
//
// A single thread, no allocation from run() on: neither here, nor in a duty that is called while
// the mount is kept, which are is_gone, gives_up, become_program and refuses_program. `ready` comes
// once, and `unmount` at the end. It has at most 300 lines: those of keeper.cpp, which are all that
// runs from the first server on but those duties and a ProgramCheck. It reads nothing of what
// feeders or the kernel send, and knows a server by its pidfd and one socket, on which the server
// sends Words. Any other message kills that server.
//
// Bounds, in a row: kFailuresMax servers that fail, which is any end but by SIGKILL, or that cannot
// be started, and kKilledMax that are killed (SIGKILL) before they serve. Then it gives up. A
// server that has served, and lived for kSoundAfter, begins a new row.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "fs/keeper/handover.h"
#include "fs/keeper/program_check.h"

namespace tallyfs {

// A server's end of the socket to its keeper.
class ToKeeper {
 public:
  enum class Word : char {
    kServing = 's',  // requests are answered
    kReady = 'r',    // all parts can be used
    kEnding = 'e',   // it has stopped serving and will exit: the keeper unmounts now
    kHandedOver = 'h',  // it has left its state, as it was asked to, and will exit
  };

  ToKeeper(Fd socket, pid_t keeper) : socket_(std::move(socket)), keeper_(keeper) {}
  void say(Word word) const;
  // The keeper's newest message, the reason why the program on disk refused; empty: there is no new
  // one. Does not wait. The keeper sends the message before each SIGUSR1.
  std::string hear() const;
  // Lets the kernel kill this process when the keeper ends; exits if it has ended already. Called
  // again after a change of uid or gid, which cancels this.
  void end_with_keeper() const;

 private:
  Fd socket_;
  pid_t keeper_;
};

class Keeper {
 public:
  static constexpr int kFailuresMax = 6;
  // From so many failures on, there is a pause before the next server, and that one refuses the
  // requests that its predecessors got (Handover::failures()).
  static constexpr int kFailuresSuspect = 3;
  static constexpr int kKilledMax = 100;
  static constexpr std::chrono::seconds kSoundAfter{10};
  static constexpr std::chrono::milliseconds kPause{500};

  struct Duties {
    // In a new process: the server. Returns its exit status.
    std::function<int(const ToKeeper&)> serve;
    // Once, when the first server is ready.
    std::function<void()> ready;
    // Once: removes the mount.
    std::function<void()> unmount;
    // Whether the mount was removed from outside, or aborted.
    std::function<bool()> is_gone;
    // Told the reason when it gives up.
    std::function<void(const char* reason)> gives_up;
    // In a new process: executes the program on disk, which answers there as ProgramCheck wants it.
    // Returns with errno, and only if it cannot.
    std::function<void()> check_program = {};
    // Executes that program in this process, with its descriptors. Returns only if it cannot.
    std::function<void()> become_program = {};
    // Told why a check failed. The server is told, too, and gets SIGUSR1 then.
    std::function<void(const char* reason)> refuses_program = {};
  };

  // kReady: it takes over from a keeper whose first server was ready.
  enum class Begin { kUnready, kReady };

  Keeper(Handover& handover, Duties duties, Begin begin = Begin::kUnready);
  // When memory is short, the kernel kills other processes before this one, if it may ask for that.
  // Servers are as any process.
  static void avoid_oom_kill();
  // Returns when a server has ended with 0 or after SIGTERM or SIGINT, when the mount is gone, or
  // when it gives up. SIGTERM, SIGINT and SIGHUP are passed on to the server. On SIGUSR2 the
  // program on disk is checked; then the server gets SIGUSR2, leaves its state, and that program
  // goes on in this process. Returns the exit status.
  int run();

 private:
  enum class Next { kServer, kProgram, kEnd };

  // nullptr, or why no server could be started: valid until the next call.
  const char* start();
  const char* failed(const char* what);
  [[noreturn]] void become_server(Fd socket, pid_t keeper);
  Next watch();
  void take_signals();
  void start_check();
  void take_check();
  void ask_to_hand_over();
  void refuse(const char* reason);
  void take_words();
  void take(char word);
  Next judge(int status);
  Next try_again(const char* reason);
  Next give_up(const char* reason);
  // A SIGTERM or SIGINT meanwhile ends the pause.
  void pause();
  void unmount();

  Handover& handover_;
  const Duties duties_;
  Fd signals_;
  Fd server_;  // its pidfd
  Fd words_;   // from the server
  ProgramCheck check_;
  std::array<char, 128> fault_{};
  pid_t pid_ = 0;
  std::chrono::steady_clock::time_point started_;
  bool is_serving_ = false;
  bool was_ready_ = false;  // the first server
  bool is_ending_ = false;  // on a signal, or as the server says
  bool is_mounted_ = true;
  bool is_checked_ = false;       // the program on disk; the server was not asked yet
  bool has_handed_over_ = false;  // this server
  int failures_ = 0;
  int killed_ = 0;
  int exit_status_ = 0;
};

}  // namespace tallyfs
