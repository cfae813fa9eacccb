// A trigger that is set on an event: its action, the filter of its records, its remaining count.
// Confined to its EventSet's lock; line() is a value that any thread may show.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/tracing/command/trigger_line.h"
#include "core/tracing/filter/filter.h"
#include "core/tracing/hist/hist_plan.h"

namespace tallyfs::tracing {

struct Trigger : TriggerLine {
  EventNumber event = 0;
  std::uint64_t serial = 0;  // by which the triggers of an EventSet have come, from 1 on
  std::optional<Filter> filter = {};
  EventNumber target = 0;  // has_target()
  // kHist
  std::string parameters;                // as they were written
  std::shared_ptr<const HistPlan> plan;  // shared with copies that are being rendered
  std::shared_ptr<HistTable> table;      // shared by triggers of one name; the last one frees it
  const Trigger* owner = nullptr;  // of a hidden histogram: the trigger that needs its variable

  void set_plan(std::shared_ptr<const HistPlan> made) {
    plan = std::move(made);
    hist_text = {plan, &plan->text};
  }
  // Whether other triggers reference variables of its histogram.
  bool is_referenced() const { return table && table->referrers > 0; }
  TriggerLine line() const { return *this; }
};

}  // namespace tallyfs::tracing
