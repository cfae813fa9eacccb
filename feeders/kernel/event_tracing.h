// Has the kernel trace the events that are wanted, in an instance of its own that is there only as
// long as one is: switched one by one, each with its filter, its stacks and its tasks' names.
//
// Confined to one thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/tracing/format/task_fields.h"
#include "core/wire/event_order.h"
#include "feeders/kernel/catalogue.h"
#include "feeders/kernel/record_shipper.h"
#include "feeders/tracefs/instance.h"
#include "feeders/tracefs/merged_reader.h"
#include "feeders/tracefs/recording.h"

namespace tallyfs {

class EventTracing {
 public:
  struct Options {
    unsigned buffer_kib_per_cpu = 8'192;
    RecordingOwner owner = {};
  };

  // All outlive it.
  EventTracing(const Catalogue& catalogue, RecordShipper& shipper, const Clock& clock,
               const Options& options)
      : catalogue_(catalogue), shipper_(shipper), clock_(clock), options_(options) {}
  ~EventTracing() { end(); }

  // Sets each of the events as given; other events stay as they are. All are tried, and the error
  // is that of the first which fails: kNoDevice, kNoAccess; kInvalid: the kernel cannot turn on a
  // probe of a program, with the place. A filter that the kernel refuses is
  // left out, since the daemon filters the records in any case. The filter includes that of the
  // threads which are left out.
  Result<void> change(const std::vector<wire::WatchedEvent>& events);
  // What was wanted of a predecessor has been said: what is left of it besides goes.
  void drop_leftovers();
  // The event is not asked for any more, and its id may be another event's next. Returns whether it
  // was ever on in the instance that there is now, as far as is known.
  bool forget(std::uint32_t id);
  // Threads whose records are left out (own_filter.h), of the events that are on, too.
  void leave_out(std::vector<pid_t> threads);

  // The recording and its sink; nullptr: nothing is wanted.
  Recording* recording() { return running_ ? &*running_ : nullptr; }
  EventSink& sink() { return shipper_; }

 private:
  // An event that is on.
  struct Watched {
    TracefsInstance::Event event;
    wire::WatchedEvent as;
    tracing::TaskFields tasks;
    // As it was last asked of the kernel, which has event.filter instead if it refused; nothing: a
    // predecessor's, or none so far.
    std::optional<std::string> asked_filter;
  };

  Result<void> begin();
  void end();
  Result<void> start(const wire::WatchedEvent& event);
  Error refusal(std::uint32_t id, const Error& error) const;
  Result<void> record_as(Watched& watched, const wire::WatchedEvent& event);
  void filter(Watched& watched, const std::string& text);
  bool set_filter(Watched& watched, const std::string& text);
  void stop(Watched& watched);
  void tell_shipper();
  void expect_stacks();
  void follow_names();
  void follow_names_of(const char* event, const char* name_field);
  bool names_tasks(std::uint32_t id) const;

  const Catalogue& catalogue_;
  RecordShipper& shipper_;
  const Clock& clock_;
  Options options_;
  std::map<std::uint32_t, Watched> watched_;      // by id
  std::set<std::uint32_t> were_on_;               // in the instance that there is now
  bool is_taken_over_ = false;                    // that: others may have been on
  std::vector<TracefsInstance::Event> followed_;  // for what tasks are called
  MergedReader::Stacks stacks_;
  std::vector<pid_t> left_out_;
  std::optional<Recording> running_;
};

}  // namespace tallyfs
