// The interfaces of the statistics that a command draws, as read now and at the last step of the
// source. An interface is read and stored once for each step, however many of its statistics are
// drawn. Confined to one thread.
#pragma once

#include <functional>
#include <utility>

#include "core/base/result.h"
#include "tools/ctl/read_interfaces.h"
#include "tools/ctl/what.h"
#include "tools/tree/source.h"

namespace tallyfs {

class Readings {
 public:
  // The source outlives it.
  explicit Readings(Source& source) : source_(source) {}

  // Calls `change` for each interface that is read from now on. It may replace the interface's
  // statistics by others (sums of them, say): then read() selects from these.
  void change_with(std::function<void(view::Interface&)> change) { change_ = std::move(change); }
  // Call when the source has advanced to its next step: the interfaces become those of before().
  void advance() { before_ = std::exchange(now_, {}); }
  // Reads the statistic's interface, unless it was read at this step. Errors are those of
  // read_selected().
  Result<void> read(const SelectedStatistic& what);
  // The interface of a statistic that was read at this step, and at the last one.
  const ReadInterface& now(const SelectedStatistic& what) const {
    return now_.find(what.interface)->second;
  }
  const view::Interface& before(const SelectedStatistic& what) const {
    return before_.find(what.interface)->second.interface;
  }

 private:
  Source& source_;
  std::function<void(view::Interface&)> change_{};
  ReadInterfaces now_, before_;
};

}  // namespace tallyfs
