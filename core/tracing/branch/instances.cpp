#include "core/tracing/branch/instances.h"

#include <utility>

#include "core/base/text.h"
#include "core/tracing/trace/built_in_formats.h"

namespace tallyfs::tracing {
namespace {

// Memory for formats and for the nodes of their files, beside the records.
constexpr std::uint64_t kInstanceBytes = 16u << 20;

}  // namespace

Instances::Instances(Ledger& ledger, const Tracing::Options& options)
    : ledger_(ledger), options_(options), top_(make({}).value()) {}

// The ledger counts only the histograms of the top, which always exists.
Result<SharedInstance> Instances::make(std::string_view name) {
  Holdings takes;
  if (!name.empty()) {
    takes = {.interfaces = 1, .bytes = kInstanceBytes + 2 * options_.set.trace_bytes_max};
  }
  auto share = Reservation::create(ledger_, options_.owner, takes);
  if (!share) return share.error();
  auto made = std::make_shared<TracingInstance>(std::string(name), options_.set, ids_,
                                                std::move(share.value()));
  EventTable& events = made->set.events;
  made->marker = events.define_built_in(kMarkerSystem, kPrintFormat).value();
  made->raw_marker = events.define_built_in(kMarkerSystem, kRawDataFormat).value();
  (void)events.define_built_in(kMarkerSystem, kKernelStackFormat);
  return made;
}

Result<SharedInstance> Instances::create(std::string_view name, Timestamp now) {
  if (by_name_.contains(name)) return Error{ErrorCode::kExists, "there is one of this name"};
  if (!is_name(name)) return Error{ErrorCode::kInvalid, "not a name for an instance"};
  if (by_name_.size() >= options_.instances_max) {
    return Error{ErrorCode::kNoSpace, "more instances than allowed"};
  }
  auto made = make(name);
  if (made) {
    made.value()->last_change = now;
  } else if (options_.error_log) {
    // ENOSPC alone would not name the bound.
    options_.error_log->warn(ErrorLog::kDaemon, "instances", name, made.error(), now);
  }
  return made;
}

SharedInstance Instances::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

}  // namespace tallyfs::tracing
