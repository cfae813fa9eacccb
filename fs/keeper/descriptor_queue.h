// Descriptors that outlive their server, each with a number: they wait in a socket whose two ends
// the keeper holds, so that none of them is the keeper's own. The kernel closes what waits when
// both ends are closed. A message has up to kAtOnce of them, and their numbers as bytes.
//
// A server looks at them and leaves them there (SO_PEEK_OFF), so that the next one finds them
// whenever it is killed. To let go of some, those that stay are put once more, some at a time, and
// what was there before is dropped; a kill in between leaves some twice. What another version has
// put there is passed over, and dropped then, too.
//
// Any process with the ends; one at a time uses them. Bounds: the kernel's, of which the limit of
// open files (RLIMIT_NOFILE) for what waits of one uid is the closest.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/fd.h"
#include "core/base/result.h"

namespace tallyfs {

class DescriptorQueue {
 public:
  using Held = std::vector<std::pair<std::uint32_t, Fd>>;

  // kNoSpace.
  static Result<DescriptorQueue> create();
  // Ends that another program has made; new ones, if it had none. kNoSpace.
  static Result<DescriptorQueue> adopt(Fd in, Fd out) {
    if (!in.valid()) return create();
    return DescriptorQueue(std::move(in), std::move(out));
  }

  int in() const { return in_.get(); }
  int out() const { return out_.get(); }

  // How many may wait, so that keep_only() has room.
  static std::size_t most();
  // It stays open here. kNoSpace.
  Result<void> hold(std::uint32_t number, int fd) const;
  // Lets go of all others, and takes fewer messages for these. kNoSpace: these are held, and some
  // others.
  Result<void> keep_only(std::span<const std::uint32_t> numbers) const;
  // All that wait, each number once. is_whole: else this process may not open as many files.
  struct Look {
    Held held{};
    bool is_whole = true;
  };
  Look look() const;

 private:
  DescriptorQueue(Fd in, Fd out) : in_(std::move(in)), out_(std::move(out)) {}

  using Numbers = std::vector<std::uint32_t>;
  // kPart: there was no room for all of its descriptors.
  enum class Seen { kNothing, kWhole, kPart };
  Seen look_at_next(Held& all) const;
  std::vector<Numbers> numbers_by_message() const;
  Result<void> move_to_the_end(std::size_t messages, const Numbers& kept) const;
  Result<void> put(std::span<const std::uint32_t> numbers, std::span<const int> descriptors) const;

  Fd in_;
  Fd out_;
};

}  // namespace tallyfs
