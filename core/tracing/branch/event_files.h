// The files of one event of an instance: events/SYSTEM/EVENT/.
//
// Thread-safe; see InstanceAccess. A file looks its event up by name each time. If the event is
// removed and defined again while the file is open, the file means the new event.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/tracing/branch/instance_access.h"

namespace tallyfs::tracing {

class EventFile final : public File {
 public:
  enum class Kind { kEnable, kFilter, kFormat, kHist, kHistJson, kId, kTrigger };
  // Shared by the files of one event.
  using Path = std::shared_ptr<const EventPath>;
  EventFile(SharedView view, Path path, Kind kind)
      : view_(std::move(view)), path_(std::move(path)), kind_(kind) {}

  Result<std::string> render(const CallContext& call, std::size_t bytes_max) const override;
  std::optional<std::uint64_t> version(Timestamp) const override { return view_->version(); }
  Timestamp last_change(Timestamp) const override { return view_->last_change(); }
  void opened(const CallContext& call) override {
    if (waits()) view_->refresh(call);
  }
  Result<std::shared_ptr<const void>> hold(Access, Timestamp) const override {
    return view_->hold();
  }
  bool waits() const override;
  std::optional<std::uint64_t> news(Timestamp now) const override;
  WriteUnit write_unit() const override { return WriteUnit::kCommand; }
  Result<void> write_line(std::string_view text, const CallContext& call) override;
  Result<void> truncate(const CallContext& call) override;

 private:
  // The state of the event that an undo restores.
  struct Before {
    EnableState enable;
    FilterState filter;
  };

  std::optional<EventNumber> find(const EventSet& set) const {
    return set.events.find(path_->first, path_->second);
  }
  // InstanceAccess::show() for this event; an event that was removed has an empty text.
  template <typename Copy, typename Text>
  Result<std::string> show(Timestamp now, std::size_t bytes_max, const Copy& copy,
                           const Text& text) const;
  Result<std::string> render_hist(const CallContext& call, std::size_t bytes_max) const;
  // nullptr: the event was removed.
  Result<SharedHistReading> read_hist(Timestamp now) const;
  Result<void> write(EventSet& set, std::string_view text, CallContext::Rights rights) const;
  bool may_change(const EventSet& set, CallContext::Rights rights) const;
  void undo(EventSet& set, std::string_view text, const Before& before) const;

  const SharedView view_;
  const Path path_;
  const Kind kind_;
};

}  // namespace tallyfs::tracing
