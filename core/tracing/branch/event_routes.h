// Where the records of a source go: to the instances that ask for them.
// Confined to the lock of Tracing's State. A source has as many routes as its highest source_id
// demands; the caller keeps that below Tracing::kSourceIdsMax.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "core/tracing/branch/event_source.h"
#include "core/tracing/branch/tracing_instance.h"
#include "core/tracing/format/task_fields.h"

namespace tallyfs::tracing {

struct EventTarget {
  TracingInstance* instance = nullptr;
  EventNumber number = 0;
};

// Where the records of one source_id go. Without targets, no instance asks for them.
struct EventRoute {
  std::vector<EventTarget> targets;
  TaskFields tasks;       // none, unless it is an event of the kernel
  std::uint32_t use = 0;  // EventOffer::use; the caller of renew() sets it
};

class EventRoutes {
 public:
  using BySourceId = std::vector<EventRoute>;

  // The sources with routes, in the order of their first renew().
  const std::vector<EventSource*>& sources() const { return sources_; }
  // nullptr: the source has no routes.
  const BySourceId* of(const EventSource& source) const;
  std::vector<WantedEvent> wanted(EventSource& source) const;
  bool is_asked(EventSource& source) const { return is_asked(source, nullptr); }
  // instance: nullptr means any.
  bool is_asked(EventSource& source, const TracingInstance* instance) const;
  // Whether it is asked of any source that is not late.
  bool is_prompt_asked_by(const TracingInstance* instance) const;
  std::vector<EventSource*> asked_by(const TracingInstance& instance) const;
  std::set<TracingInstance*> fed_by(const EventSource& source) const;
  std::set<TracingInstance*> fed_by(const EventSource& source, std::uint32_t source_id) const;

  // Whether anything is asked of a late source, or of a source that is not late (a prompt one), as
  // of the last note_asked().
  bool is_late_asked() const { return is_late_asked_; }
  bool is_prompt_asked() const { return is_prompt_asked_; }
  // Whether earlier records may still come after a record of a source that is not late.
  bool may_be_overtaken() const;
  // Looks at all targets anew; due after each change of them, as no function below does it.
  void note_asked();

  // Makes the route of a source_id, or empties the one that is there: no targets, use 0. The result
  // is valid until the source's next renew() or remove().
  EventRoute& renew(EventSource& source, std::uint32_t source_id);
  // The target is taken in or out, as `on` says. Only after renew() of that source_id.
  void set_target(EventSource& source, std::uint32_t source_id, const EventTarget& target, bool on);
  void remove(EventSource& source);
  void remove(const TracingInstance& instance);

 private:
  std::map<EventSource*, BySourceId, std::less<>> routes_;
  std::vector<EventSource*> sources_;
  bool is_late_asked_ = false, is_prompt_asked_ = false;
};

}  // namespace tallyfs::tracing
