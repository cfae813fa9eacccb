// The routes of a source's records: to the instances that ask for them.
// Confined to the lock of Tracing's State.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "core/branch/tracing/event_source.h"
#include "core/branch/tracing/tracing_instance.h"

namespace tallyfs {

struct EventTarget {
  TracingInstance* instance = nullptr;
  EventNumber number = 0;
};

// The route of the records of one source_id.
struct EventRoute {
  static constexpr std::uint32_t kNoSubject = ~0u;

  std::vector<EventTarget> targets;
  std::uint32_t subject_at = kNoSubject;  // offset of the thread that a record is about
  std::uint32_t use = 0;                  // of the source_id
};

class EventRoutes {
 public:
  using BySourceId = std::vector<EventRoute>;

  // In the order of their first offers.
  const std::vector<EventSource*>& sources() const { return sources_; }
  // nullptr: the source has no routes.
  const BySourceId* of(const EventSource& source) const;
  std::vector<WantedEvent> wanted(EventSource& source) const;
  bool is_asked(EventSource& source) const { return is_asked(source, nullptr); }
  // instance: nullptr means any.
  bool is_asked(EventSource& source, const TracingInstance* instance) const;
  std::vector<EventSource*> asked_by(const TracingInstance& instance) const;
  std::set<TracingInstance*> fed_by(const EventSource& source) const;

  // Whether anything is asked of a late source, and of a source that is not late, at the last
  // note_asked().
  bool is_late_asked() const { return is_late_asked_; }
  bool is_prompt_asked() const { return is_prompt_asked_; }
  // Whether a record may be fed after a later record of a source that is not late.
  bool may_be_overtaken() const;
  void note_asked();

  // The route of a source_id, emptied.
  EventRoute& renew(EventSource& source, std::uint32_t source_id);
  void set_target(EventSource& source, std::uint32_t source_id, const EventTarget& target, bool on);
  void remove(EventSource& source);
  void remove(const TracingInstance& instance);

 private:
  std::map<EventSource*, BySourceId, std::less<>> routes_;
  std::vector<EventSource*> sources_;
  bool is_late_asked_ = false, is_prompt_asked_ = false;
};

}  // namespace tallyfs
