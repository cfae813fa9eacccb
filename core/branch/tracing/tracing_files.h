// The files of the tracing directory, as File: of a whole instance, of a system, of an event.
//
// Called from several threads; what they look at and change is behind the lock of Tracing's State,
// and long texts are made outside of it. A file finds its event by name each time, so that one
// which stays open while its event goes and comes again means the new one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/branch/tracing/tracing_state.h"

namespace tallyfs {

// Shared with Tracing, which may be gone while a file is still open.
using TracingShared = std::shared_ptr<Tracing::State>;

// What all of them have in common.
class TracingFile : public File {
 public:
  TracingFile(TracingShared state, Tracing::State::Instance instance)
      : state_(std::move(state)), instance_(std::move(instance)) {}

  std::optional<std::uint64_t> version(Moment now) const override;
  Moment last_change(Moment now) const override;
  WriteUnit write_unit() const override { return WriteUnit::kCommand; }
  Result<std::shared_ptr<const void>> hold() const final;
  void opened(const CallContext& call) final {
    if (waits()) state_->refresh(call, instance_.get());
  }
  // Whether it shows what records did.
  bool waits() const override = 0;

 protected:
  TracingInstance& instance() const { return *instance_; }
  Tracing::State& state() const { return *state_; }
  // As options/fields has it.
  bool shows_fields() const {
    const MutexLock lock(state_->mutex);
    return instance_->shows_fields;
  }
  // What look() says of the set, under the lock; kNoSpace if it is too long.
  template <typename Look>
  Result<std::string> show(Moment now, std::size_t bytes_max, const Look& look) const {
    std::string text;
    {
      const MutexLock lock(state_->mutex);
      state_->release_drained(now);
      text = look(instance_->set);
    }
    return bounded(std::move(text), bytes_max);
  }
  // What was traced, with its share of what readers may keep.
  struct CopiedTrace {
    Reservation share;
    TraceCopy copy;
  };
  Result<CopiedTrace> copy_trace(Moment now) const;
  Result<CopiedTrace> copy_snapshot(Moment now) const;
  static Error too_long();
  static Result<std::string> bounded(std::string text, std::size_t bytes_max);

 private:
  using KeptBytes = std::size_t (EventSet::*)() const;
  using Copy = TraceCopy (EventSet::*)() const;
  Result<CopiedTrace> copy(Moment now, KeptBytes kept_bytes, Copy copied) const;

  const TracingShared state_;
  const Tracing::State::Instance instance_;
};

// One of the instance, or one that says the same for ever.
class SetFile final : public TracingFile {
 public:
  // Of what is written into trace_marker at once; as in the kernel, the writer hears of the rest
  // that it was not taken.
  static constexpr std::size_t kMarkerBytesMax = 4096;

  enum class Kind {
    kReadme,
    kAvailableEvents,
    kAvailableTracers,
    kCurrentTracer,
    kSetEvent,
    kSetEventPid,
    kTracingOn,
    kTrace,
    kTraceMarker,
    kTraceClock,
    kSnapshot,
    kSyntheticEvents,
    kDynamicEvents,
  };
  SetFile(TracingShared state, Tracing::State::Instance instance, Kind kind)
      : TracingFile(std::move(state), std::move(instance)), kind_(kind) {}

  Result<std::string> render(const CallContext& call, std::size_t bytes_max) const override;
  bool waits() const override;
  Result<void> write_line(std::string_view text, const CallContext& call) override;
  Result<void> write_by(pid_t writer, std::string_view text, const CallContext& call) override;
  WriteUnit write_unit() const override {
    return kind_ == Kind::kTraceMarker ? WriteUnit::kWrite : WriteUnit::kCommand;
  }
  std::size_t write_bytes_max() const override {
    return kind_ == Kind::kTraceMarker ? kMarkerBytesMax : TracingFile::write_bytes_max();
  }
  Result<void> truncate(const CallContext& call) override;

 private:
  Result<std::string> render_trace(const CallContext& call, std::size_t bytes_max) const;
  Result<void> write_set_event(std::string_view text, const CallContext& call);
  Result<void> write_switch(std::string_view text, const CallContext& call);
  Result<void> write_clock(std::string_view text, const CallContext& call);
  Result<void> write_snapshot(std::string_view text, const CallContext& call);
  Result<void> write_synthetic(std::string_view text, const CallContext& call);

  const Kind kind_;
};

// `enable` and `filter` of a system; `enable` of all, whose system is empty.
class SystemFile final : public TracingFile {
 public:
  enum class Kind { kEnable, kFilter };
  SystemFile(TracingShared state, Tracing::State::Instance instance, std::string system, Kind kind)
      : TracingFile(std::move(state), std::move(instance)),
        system_(std::move(system)),
        kind_(kind) {}

  Result<std::string> render(const CallContext& call, std::size_t bytes_max) const override;
  bool waits() const override;
  Result<void> write_line(std::string_view text, const CallContext& call) override;

 private:
  const std::string system_;
  const Kind kind_;
};

class EventFile final : public TracingFile {
 public:
  enum class Kind { kEnable, kFilter, kFormat, kHist, kHistJson, kId, kTrigger };
  // Shared by the files of one event.
  using Path = std::shared_ptr<const Tracing::State::EventPath>;
  EventFile(TracingShared state, Tracing::State::Instance instance, Path path, Kind kind)
      : TracingFile(std::move(state), std::move(instance)), path_(std::move(path)), kind_(kind) {}

  Result<std::string> render(const CallContext& call, std::size_t bytes_max) const override;
  std::optional<std::uint64_t> news(Moment now) const override;
  bool waits() const override;
  Result<void> write_line(std::string_view text, const CallContext& call) override;
  Result<void> truncate(const CallContext& call) override;

 private:
  // kNotFound when it is gone.
  Result<EventNumber> find(const EventSet& set) const;
  Result<std::string> render_hist(const CallContext& call, std::size_t bytes_max) const;
  Result<Tracing::State::Reading> read_hist(Moment now) const;
  Result<void> write(EventSet& set, std::string_view text) const;
  void take_back(EventSet& set, std::string_view text, std::string_view before) const;

  const Path path_;
  const Kind kind_;
};

}  // namespace tallyfs
