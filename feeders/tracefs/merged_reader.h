// Reads the pipes of all CPUs and hands their events on in the order of their times.
//
// An event may still be overtaken by an older one that another CPU has not finished writing, so
// what is younger than kHoldBack before the start of a poll() waits for the next one, and no CPU
// gets ahead of one that was not read to its end. An event that comes later even so is counted
// among the lost ones: handed on, it would contradict what was already said.
//
// A page says that records were lost before it, but a full one not how many. So the number is what
// the ring's own count (Losses) has grown by, once for all gaps of a CPU in one poll(): as a sum it
// is right, and at a single place it may be one too high or too low.
//
// Confined to one thread. Reads at most kPagesPerPoll pages of a CPU in one poll(), and holds at
// most kHeldMax events of it, plus one poll's.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "feeders/tracefs/page_format.h"
#include "feeders/tracefs/ring_page.h"

namespace tallyfs {

// Receives every event. cpu: the index of the reader's pipe that it came through, which need not be
// the number of the CPU. payload: begins with the common_type, and is valid during the call.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void event(std::chrono::nanoseconds time, std::size_t cpu,
                     std::span<const char> payload) = 0;
  // event() for an event that was recorded with its stack. The last argument has the stack's
  // addresses of 8 bytes each, innermost first, without alignment.
  virtual void event_with_stack(std::chrono::nanoseconds time, std::size_t cpu,
                                std::span<const char> payload, std::span<const char>) {
    event(time, cpu, payload);
  }
  // Records of this pipe are missing at this point of time. events: how many; 0: they are counted
  // with another gap.
  virtual void lost(std::size_t cpu, std::uint64_t events) = 0;
  // Called after the last event of a poll().
  virtual void flush() {}
};

class MergedReader {
 public:
  // The time between the stamp of an event and its being readable: nanoseconds, unless the writer
  // was interrupted or its virtual CPU lost the real one in between.
  static constexpr std::chrono::nanoseconds kHoldBack = std::chrono::milliseconds(1);
  static constexpr std::size_t kPagesPerPoll = 64;
  static constexpr std::size_t kHeldMax = 65'536;

  enum class Remaining {
    kNothing,  // everything but what is held back was handed on
    kHeldBack,
    kMore,  // a pipe has more than one poll() reads: poll again at once
  };

  // How many records the ring behind a pipe has lost so far. Nothing: it is not known.
  using Losses = std::function<std::optional<std::uint64_t>(std::size_t pipe)>;
  // Whether records of these pipes were read, and their losses counted, by another reader before.
  enum class Pipes { kNew, kInherited };

  // fds: the pipes, which outlive the reader, as does the clock. losses: without one a gap counts
  // as its page says.
  MergedReader(const PageFormat& format, const std::vector<int>& fds, const Clock& clock,
               Losses losses = {}, Pipes pipes = Pipes::kNew);

  // From now on a record of the type `stacks` is the stack of an event before it on its CPU, the
  // last one that has the same pid and belongs to with_stack (by type); an interrupt may have come
  // in between. One that finds no such event is left out.
  struct Stacks {
    std::uint16_t type = 0;      // 0: there are none
    std::size_t pid_offset = 0;  // of i32 common_pid, in every record
    std::size_t frames_offset = 0;
    std::vector<bool> with_stack = {};
  };
  void expect_stacks(Stacks stacks) { stacks_ = std::move(stacks); }

  Remaining poll(EventSink& sink);
  // The last poll(), of pipes without a writer: hands on everything.
  void finish(EventSink& sink);
  // Hands on what was read and is held back: another reader goes on with the pipes.
  void hand_on_held(EventSink& sink);

 private:
  static constexpr std::size_t kGap = SIZE_MAX;
  struct Item {
    std::uint64_t time_ns;
    std::uint64_t lost = 0;  // of a gap
    std::size_t offset = 0;  // of the payload in bytes
    std::size_t size = 0;    // kGap: no event
    std::size_t stack_offset = 0;
    std::size_t stack_size = 0;

    bool is_gap() const { return size == kGap; }
  };
  // One CPU.
  struct Lane {
    int fd;
    std::vector<Item> items = {};
    std::size_t next = 0;  // the first of items not handed on yet
    std::string bytes = {};
    bool drained = true;
    std::uint64_t losses = 0;   // of the ring, as far as they were handed on
    bool is_inherited = false;  // until its first pages were read
    // The first gap in the pages that the current poll() has read.
    std::optional<std::size_t> gap = {};
    std::uint64_t said = 0;  // how many records those pages say are missing

    std::size_t held() const { return items.size() - next; }
  };

  // The most records between an event and its stack.
  static constexpr std::size_t kStackReach = 16;

  bool is_stack(std::span<const char> payload) const;
  void put_stack(Lane& lane, std::span<const char> payload) const;
  bool read_page(Lane& lane);
  void take_page(Lane& lane, std::span<const char> bytes);
  static void put_gap(Lane& lane, std::uint64_t time_ns, std::uint64_t lost);
  void count_losses(Lane& lane);
  void read_lane(Lane& lane);
  void hand_on(std::uint64_t horizon_ns, EventSink& sink);
  void hand_on(const Lane& lane, const Item& item, EventSink& sink);
  static void compact(Lane& lane);

  const PageFormat format_;
  const Clock& clock_;
  const Losses losses_;
  Stacks stacks_;
  std::vector<Lane> lanes_;
  std::vector<char> page_;
  std::vector<Lane*> heap_;  // of hand_on(), kept for its memory
  std::uint64_t handed_on_ns_ = 0;
};

}  // namespace tallyfs
