// The base of the files of one instance: how they copy under the lock of Tracing's State and make
// their texts outside of it, and how they write.
//
// Thread-safe; shared by the files of the instance, which may be open for longer than Tracing and
// the instance exist.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "core/tracing/branch/tracing_state.h"
#include "core/tree/text_file.h"

namespace tallyfs::tracing {

using SharedState = std::shared_ptr<Tracing::State>;

class InstanceAccess {
 public:
  // A copy of what was traced, with its share of the memory of readers.
  struct CopiedTrace {
    Reservation share;
    TraceCopy copy;
  };

  InstanceAccess(SharedState state, SharedInstance instance)
      : state_(std::move(state)), instance_(std::move(instance)) {}

  Tracing::State& state() const { return *state_; }
  TracingInstance& instance() const { return *instance_; }

  std::uint64_t version() const;
  Timestamp last_change() const;
  // kStale: the instance was removed.
  Result<std::shared_ptr<const void>> hold() const;
  void refresh(const CallContext& call) const { state_->refresh(call, instance_.get()); }
  // Records as the options of the instance show them.
  TraceBuffer::View view_by_options() const;

  // copy(const TracingInstance&), under the lock, gives a value. text(value), outside of the lock,
  // makes the text. kNoSpace if the text is too long. The copy is no text: nothing is rendered
  // under the lock.
  template <typename Copy, typename Text>
  Result<std::string> show(Timestamp now, std::size_t bytes_max, const Copy& copy,
                           const Text& text) const {
    using Copied = std::invoke_result_t<Copy, TracingInstance&>;
    static_assert(!std::is_convertible_v<Copied, std::string>);
    const auto copied = [&] {
      const MutexLock lock(state_->mutex);
      state_->order.release_drained(now);
      return std::optional(copy(*instance_));
    }();
    return bounded(text(*copied), bytes_max);
  }
  Result<CopiedTrace> copy_trace(Timestamp now) const;
  Result<CopiedTrace> copy_snapshot(Timestamp now) const;

  Result<void> change(const CallContext& call, const Tracing::State::Write& write,
                      const Tracing::State::Undo& undo = {}) const {
    return state_->change(*instance_, call, write, undo);
  }
  // A change that cannot be refused.
  template <typename Do>  // void(TracingInstance&)
  Result<void> change_always(const CallContext& call, const Do& change_it) const {
    return change(call, [&](EventSet&) -> Result<void> {
      change_it(*instance_);
      return {};
    });
  }

  static Error too_long();
  static Result<std::string> bounded(std::string text, std::size_t bytes_max);

 private:
  const SharedState state_;
  const SharedInstance instance_;
};

using SharedView = std::shared_ptr<const InstanceAccess>;

}  // namespace tallyfs::tracing
