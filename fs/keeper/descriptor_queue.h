// Descriptors on their way from one server to the next: they wait in a socket whose two ends the
// keeper holds, so that none of them is the keeper's own. The kernel closes what waits when both
// ends are closed.
//
// Any process with the ends; one at a time puts or takes. Bounds: the kernel's, of which the limit
// of open files (RLIMIT_NOFILE) for what waits of one uid is the closest.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "core/base/fd.h"
#include "core/base/result.h"

namespace tallyfs {

class DescriptorQueue {
 public:
  // kNoSpace.
  static Result<DescriptorQueue> create();
  // Ends that another program has made; new ones, if it had none. kNoSpace.
  static Result<DescriptorQueue> adopt(Fd in, Fd out) {
    if (!in.valid()) return create();
    return DescriptorQueue(std::move(in), std::move(out));
  }

  int in() const { return in_.get(); }
  int out() const { return out_.get(); }

  // They stay open here. kNoSpace: some may wait.
  Result<void> put(std::span<const int> descriptors) const;
  // All that wait, in their order.
  std::vector<Fd> take() const;

 private:
  DescriptorQueue(Fd in, Fd out) : in_(std::move(in)), out_(std::move(out)) {}

  Fd in_;
  Fd out_;
};

}  // namespace tallyfs
