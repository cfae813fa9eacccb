#include "core/branch/tracing/instances.h"

#include <utility>

#include "core/base/text.h"

namespace tallyfs {
namespace {

// The kernel's formats. The kernel's id of raw_data differs between versions; this is Linux 6.18's.
constexpr std::string_view kMarkerFormat =
    "name: print\nID: 5\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
    "\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n\n"
    "print fmt: \"%ps: %s\", (void *)REC->ip, REC->buf\n";

constexpr std::string_view kRawMarkerFormat =
    "name: raw_data\nID: 19\nformat:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
    "\tfield:unsigned int id;\toffset:8;\tsize:4;\tsigned:0;\n"
    "\tfield:char buf[];\toffset:12;\tsize:0;\tsigned:0;\n\n"
    "print fmt: \"id:%04x %08x\", REC->id, (int)REC->buf[0]\n";

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
  auto made =
      std::make_shared<TracingInstance>(std::string(name), options_.set, std::move(share.value()));
  made->marker = made->set.events.define_built_in(kMarkerSystem, kMarkerFormat).value();
  made->raw_marker = made->set.events.define_built_in(kMarkerSystem, kRawMarkerFormat).value();
  return made;
}

Result<SharedInstance> Instances::create(std::string_view name, Moment now) {
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
    options_.error_log->warn(ErrorLog::Source::kMount, "instances", name, made.error(), now);
  }
  return made;
}

SharedInstance Instances::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

}  // namespace tallyfs
