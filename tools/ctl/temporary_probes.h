// Probes of one command, which go when it ends, however it ends: a process of their own waits for
// that, which no signal of the terminal reaches. After a kill of both they are left over, under
// their name, `tallyctl_PID` or `tallyctl_PID_2`: `tallyctl probe ls` shows them, and `rm` removes
// them. The command holds a lock on the directory of its instance, which tells that it lives, in
// whichever PID namespace. A guardian that was killed alone is replaced by the command itself, at
// its end.
// Confined to one thread.
#pragma once

#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "tools/ctl/probe_files.h"

namespace tallyfs {

// Whether probes of a command have this name.
bool is_temporary(std::string_view name);
// Whether the command of that name lives. False of one that has begun in this moment.
bool has_command(const ProbeFiles& files, const std::string& name);

class TemporaryProbes {
 public:
  // Makes the instance in which their triggers are set. kExists: a container's command, or what is
  // left over, has each of the names.
  static Result<TemporaryProbes> open(const ProbeFiles& files);
  TemporaryProbes(TemporaryProbes&&) = default;
  // Complains of what is left over.
  ~TemporaryProbes();

  // The name of their group, of the instance, and of the synthetic event; another one has `_back`
  // after it.
  const std::string& name() const { return name_; }
  // Below tracing/: the directory of an event in the instance.
  std::string event(const std::string& name) const;
  std::string synthetic() const;

  // They remain after the end.
  void stay();
  // Removes them now. kBusy, kNoDevice: something is left, which the reason names. kTimedOut: the
  // guardian goes on removing them, and it takes long.
  Result<void> end();

 private:
  static Result<TemporaryProbes> open_as(const ProbeFiles& files, std::string name);
  TemporaryProbes(const ProbeFiles& files, std::string name, Fd socket, pid_t guardian)
      : files_(files), name_(std::move(name)), socket_(std::move(socket)), guardian_(guardian) {}

  ProbeFiles files_;
  std::string name_;
  Fd socket_;  // its end, or a letter, is the guardian's order
  pid_t guardian_;
  Fd lock_ = {};
  bool stays_ = false;
};

// Removes instance, probes and synthetic event of that name. kNotFound: there are none; kBusy: they
// are in use; kNoDevice: all else that keeps them there.
Result<void> remove_temporary(const ProbeFiles& files, const std::string& name);

}  // namespace tallyfs
