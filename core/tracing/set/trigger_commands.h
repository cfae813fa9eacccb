// The commands of events/SYSTEM/EVENT/trigger, of all kinds; a HistRegistry carries out those of
// histograms. Confined to the EventSet's lock.
#pragma once

#include <string_view>

#include "core/tracing/command/trigger_command.h"
#include "core/tracing/set/hist_registry.h"

namespace tallyfs {

class TriggerCommands {
 public:
  TriggerCommands(EventTable& events, NamedEvents& named, TriggerStore& triggers,
                  HistRegistry& hists, TraceStore& trace)
      : events_(events), named_(named), triggers_(triggers), hists_(hists), trace_(trace) {}

  // One command; a leading '!' removes. White space around it is not part of it. kNotPermitted: it
  // names an event out of the scope, or is for one.
  Result<void> write(EventNumber event, std::string_view text,
                     NamedEvents::Scope scope = NamedEvents::Scope::kAll);
  // O_TRUNC: removes all triggers of the event, but for those that name one out of the scope.
  void truncate(EventNumber event, NamedEvents::Scope scope);
  // Sets a trigger as it was when it was saved, with its hidden histograms and without entries of
  // histograms. Refused as its command would be; then nothing is set.
  Checked<Trigger*> restore(const SavedTrigger& saved);

 private:
  Result<void> carry_out(EventNumber event, const TriggerCommand& command);
  Result<void> remove(EventNumber event, const TriggerCommand& command);
  Trigger* find_shown(EventNumber event, TriggerKind kind, std::string_view shown) const;
  Checked<Trigger*> restore_one(const SavedTrigger& saved);
  // serial: see TriggerStore::add().
  Checked<Trigger*> add_other(EventNumber event, const TriggerCommand& command,
                              std::uint64_t serial = 0);
  Checked<void> remove_other(EventNumber event, const TriggerCommand& command);
  Checked<void> find_target(std::string_view& parameters, Trigger& trigger) const;
  Checked<void> parse_other(const TriggerCommand& command, Trigger& trigger) const;

  EventTable& events_;
  NamedEvents& named_;
  TriggerStore& triggers_;
  HistRegistry& hists_;
  TraceStore& trace_;
};

}  // namespace tallyfs
