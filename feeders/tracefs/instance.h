// A tracing instance of our own: instances/tallyfs-NAME-NUMBER-PID, never the top level one, so
// that we and other users of tracing do not disturb one another. It is removed with the object. The
// instance of a killed feeder goes on recording. The next feeder of the same owner may take it over
// with the records gathered in it; once the owner has ended, the next create() removes it.
//
// NUMBER is that of the owner's group of probes (probe_group.h). Its lock tells whether the owner
// lives, in whichever PID namespace. Without uprobes the name is tallyfs-NAME-PID, and the process
// id alone has to tell.
//
// Confined to one thread. One pipe per CPU that the kernel could have.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "core/tracing/format/format.h"
#include "feeders/tracefs/page_format.h"

namespace tallyfs {

// The process that instances are named after: this one, or one that outlives it.
struct InstanceOwner {
  pid_t pid = ::getpid();
  std::optional<std::uint32_t> number = {};  // of its group of probes, which is locked

  // The end of the name of its instances: NUMBER-PID or PID.
  std::string suffix() const;
};

class TracefsInstance {
 public:
  struct Event {
    std::string system;
    std::string name;
    std::string filter = {};  // as for the event's filter file; empty: all

    std::string directory() const { return "events/" + system + "/" + name; }
  };
  enum class Predecessor { kNone, kMayHaveLeftOne };
  struct Options {
    std::string name;  // of the feeder
    std::vector<Event> events;
    // 1 MiB holds 14,000 block events of one CPU: more than 10 ms of the fastest disks.
    unsigned buffer_kib_per_cpu = 1024;
    InstanceOwner owner = {};
    Predecessor predecessor = Predecessor::kNone;
    int tracefs = -1;  // as for open_tracefs()
  };

  // Makes the instance, with its events still off, or takes over an instance that a predecessor has
  // left, with its events unchanged. kNotPermitted, kNotFound: see open_tracefs(), or one of the
  // events does not exist. kInvalid: the reason says which file refused what.
  static Result<TracefsInstance> create(const Options& options);
  // Removes instances left behind, as create() does, for a caller that needs no instance now.
  // first_of: the instances of that owner go too, left by an earlier process of its id or by a
  // feeder of it that has ended; nullptr: none. Returns how many of owners that have ended for sure
  // cannot be removed: another process has them open.
  static std::size_t remove_left_behind(const Fd& tracefs, const InstanceOwner* first_of);
  ~TracefsInstance();
  TracefsInstance(TracefsInstance&&) = default;
  TracefsInstance& operator=(TracefsInstance&&) = delete;

  Result<tracing::EventFormat> format(const Event& event) const;
  const PageFormat& page_format() const { return page_format_; }
  // trace_pipe_raw of each CPU, non-blocking; readable as soon as there is an event. A read of
  // page_format().page_bytes() yields a page for RingPage, times in CLOCK_MONOTONIC.
  const std::vector<Fd>& pipes() const { return pipes_; }
  // The CPU of each of the pipes.
  const std::vector<unsigned>& cpus() const { return cpus_; }
  // How many records the ring of that pipe has lost since the instance was made. nullopt: the
  // kernel does not say.
  std::optional<std::uint64_t> losses(std::size_t pipe) const;
  // True if a predecessor made it and stop_others() was not called yet: events may be on, with
  // stacks and filters.
  bool is_inherited() const { return is_inherited_; }

  // Starts the events of Options.
  Result<void> start();
  // Records that were made before can still be read.
  Result<void> stop();

  // Starts or stops one event, in addition to those of Options.
  Result<void> start(const Event& event);
  Result<void> stop(const Event& event);
  // Stops all events but these, with their stacks and filters. It examines every event of the
  // kernel.
  void stop_others(const std::vector<Event>& events);
  // Sets the event's filter; empty: it records all. kInvalid: the kernel does not accept this
  // filter, and the event has none.
  Result<void> filter(const Event& event);
  // Starts or stops recording a stack after each record that passes the filter.
  Result<void> start_stacks(const Event& event);
  Result<void> stop_stacks(const Event& event);

 private:
  TracefsInstance(Fd root, std::string name, std::vector<Event> events)
      : root_(std::move(root)), name_(std::move(name)), events_(std::move(events)) {}

  bool take_over();
  Result<void> set_up(const Options& options);
  Result<void> open_pages();
  Result<void> open_pipes();
  Result<void> enable(const std::string& value);
  void clear(const Event& event);

  Fd root_;  // of tracefs; invalid once moved from
  std::string name_;
  std::vector<Event> events_;
  Fd directory_;
  PageFormat page_format_;
  std::vector<Fd> pipes_;
  std::vector<unsigned> cpus_;
  std::vector<Fd> stats_;  // of each CPU
  bool is_inherited_ = false;
};

}  // namespace tallyfs
