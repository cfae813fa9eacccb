#include "core/tracing/branch/tracing_branch.h"

#include <algorithm>
#include <array>
#include <span>

namespace tallyfs::tracing {
namespace {

constexpr std::size_t kRecordsAtOnce = 64;

// Events are counted as records, not as commands or samples.
constexpr Counted kNotCounted{.count = 0};

Result<Done> uncounted(const Result<void>& done) {
  if (!done) return done.error();
  return Done{.counted = kNotCounted};
}

UserEvents::Record user_record(const EventRecord& each) {
  return {.time_ns = each.time_ns,
          .cpu = each.cpu,
          .pid = each.pid,
          .comm = until_nul(each.comm),
          .fields = each.bytes};
}

// An error in a line: its token counts from the rest of the line, or it is about the target.
Error error_in_line(const wire::EventLine& line, Error error) {
  const bool in_rest = error.token_at != Error::kNoToken;
  error.token_at = in_rest ? line.rest.at + error.token_at : line.target.at;
  return error;
}

}  // namespace

TracingBranch::TracingBranch(Tree& tree, NodeId directory, Ledger& ledger, const Options& options,
                             Timestamp now)
    : tracing_(tree, directory, ledger, options.tracing, now),
      user_events_(tracing_, ledger, options.tracing.owner, options.dependencies) {
  if (options.kernel) kernel_.emplace(tracing_, *options.kernel, options.tracing.owner);
}

Result<Done> TracingBranch::execute(const wire::Line& line, Call& call) {
  const auto& event = std::get<wire::EventLine>(line);
  const auto [system, name, has_name] = wire::split_path(event.target.text);
  const std::string_view text = event.rest.text;
  Result<Done> done = Done{};
  switch (event.verb) {
    case wire::EventVerb::kWrite:
      done = uncounted(user_events_.write(system, name, text, call.sender, call.now));
      break;
    case wire::EventVerb::kRemove: {
      const auto removed = user_events_.remove(system, name, call.sender, call.now);
      if (!removed) done = removed.error();
      break;
    }
    case wire::EventVerb::kDefine:
      done = user_events_.define(system, name, text, call.sender, call.now);
      break;
  }
  if (!done) return error_in_line(event, done.error());
  return done;
}

Result<Done> TracingBranch::take(const wire::Message& message, Call& call) {
  const auto* const records = std::get_if<wire::PackedEvents>(&message);
  if (records && records->number()) return uncounted(feed(*records, call));
  if (!kernel_) return Error{ErrorCode::kNotFound, "this daemon does not read the kernel's events"};
  const uid_t sender = call.sender.uid;
  if (records) return uncounted(kernel_->feed(*records, sender, call.now));
  if (const auto* const offered = std::get_if<wire::OfferedEvent>(&message)) {
    return uncounted(kernel_->offer(*offered, sender));
  }
  return uncounted(kernel_->lost(std::get<wire::LostEvents>(message), sender, call.now));
}

Result<void> TracingBranch::feed(wire::PackedEvents records, const Call& call) {
  std::array<EventRecord, kRecordsAtOnce> scratch;
  std::array<UserEvents::Record, kRecordsAtOnce> run;
  for (auto some = records.unpack(scratch, call.now.monotonic); !some.empty();
       some = records.unpack(scratch, call.now.monotonic)) {
    std::ranges::transform(some, run.begin(), user_record);
    auto fed = user_events_.feed(*records.number(), std::span(run).first(some.size()), call.sender,
                                 call.now);
    if (!fed) return fed;
  }
  if (!records.broken()) return {};
  return Error{ErrorCode::kInvalid, "a record beyond the end of its message"};
}

bool TracingBranch::process_ended(pid_t process, Timestamp now, const IsLate& is_late) {
  return user_events_.process_ended(process, now, is_late);
}

void TracingBranch::save(ObjectSink& sink) const {
  if (sink.reader() == ObjectSink::Reader::kSuccessor) {
    if (!user_events_.save_for_successor(sink)) return;
    tracing_.save(sink);
    return user_events_.hand_on_numbers(sink);
  }
  if (user_events_.save(sink)) tracing_.save(sink);
}

void TracingBranch::save_for_successor(ObjectSink& sink, Timestamp) {
  if (!user_events_.save_for_successor(sink)) return;
  tracing_.save_for_successor(sink);
  user_events_.hand_on_numbers(sink);
}

std::uint64_t TracingBranch::stamp(Timestamp now) const {
  return user_events_.stamp() + tracing_.stamp(now);
}

Result<void> TracingBranch::load(const SavedObject& object, const Loading& loading) {
  if (is_of(object, SavedKind::kProgramEvent)) return user_events_.load(object, loading.now);
  if (is_of(object, SavedKind::kFedEvent)) return user_events_.load_fed(object, loading);
  if (is_of(object, SavedKind::kProgramEventNumbers)) {
    return user_events_.load_numbers(object, loading);
  }
  return tracing_.load(object, loading);
}

}  // namespace tallyfs::tracing
