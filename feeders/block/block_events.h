// Decodes the records of the block_rq_* trace events into RequestEvents, by the offsets that this
// kernel's format files give. Immutable once made.
#pragma once

#include <chrono>
#include <optional>
#include <span>

#include "core/base/result.h"
#include "core/tracing/format/format.h"
#include "feeders/block/request.h"

namespace tallyfs {

class BlockEvents {
 public:
  // kNotFound, kInvalid: this kernel's event lacks a field that is needed.
  static Result<BlockEvents> create(const tracing::EventFormat& issue,
                                    const tracing::EventFormat& requeue,
                                    const tracing::EventFormat& complete);

  // nullopt: it is another event, or the record is too short for its fields.
  std::optional<RequestEvent> decode(std::chrono::nanoseconds time,
                                     std::span<const char> payload) const;

 private:
  struct Layout {
    std::uint16_t id;
    std::size_t bytes_min;
    tracing::TraceNumber device;
    tracing::TraceNumber sector;
    tracing::TraceNumber sectors;
    tracing::TraceField rwbs;
  };

  BlockEvents(Layout issue, tracing::TraceNumber issue_bytes, Layout requeue, Layout complete)
      : issue_(std::move(issue)),
        issue_bytes_(std::move(issue_bytes)),
        requeue_(std::move(requeue)),
        complete_(std::move(complete)) {}

  static Result<Layout> layout_of(const tracing::EventFormat& format);
  const Layout* find(std::span<const char> payload) const;

  Layout issue_;
  tracing::TraceNumber issue_bytes_;
  Layout requeue_;
  Layout complete_;
};

}  // namespace tallyfs
