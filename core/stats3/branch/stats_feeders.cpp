// The feeders of the stats/ branch: templates, which rates they are told, and what goes with them.
#include <cstring>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "core/stats3/branch/stats_branch.h"

namespace tallyfs {
namespace {

constexpr std::uint64_t kErrnoMax = 4095;  // the kernel's
// So many objects go together, as each pass over their directory costs about as much as removing a
// few of them.
constexpr std::size_t kObjectsAtOnce = 256;

}  // namespace

Result<bool> StatsBranch::watch(const Sender& sender) const {
  if (sender.pid <= 0) return false;
  const auto watched = processes_.watch(sender);
  if (!watched && watched.error().code == ErrorCode::kBusy) return watched.error();
  return watched.has_value();
}

Result<Done> StatsBranch::add_template(const wire::Template& given, const Sender& sender,
                                       Moment now) {
  const auto watched = watch(sender);
  if (!watched) return watched.error();
  if (!watched.value()) return add_template(given, sender.uid, 0, now);
  return processes_.change_while_watched(
      sender.pid, [&] { return add_template(given, sender.uid, sender.pid, now); },
      [&] { process_ended(sender.pid, now, always_late); });
}

Result<Done> StatsBranch::add_template(const wire::Template& given, uid_t uid, pid_t teller,
                                       Moment now) {
  const auto told = templates_->add(uid, teller, given, now);
  if (!told) return told.error();
  if (told.value() == FeederTemplates::Told::kAgain) return Done{};
  const MutexLock lock(mutex_);
  for (const auto& [name, subsystem] : subsystems_) {
    if (subsystem->uid == uid) subsystem->rates->template_told(teller, given.name, now);
  }
  return Done{};
}

// Root's templates are not the owner's.
Result<void> StatsBranch::add_feeder(Subsystem& subsystem, const Sender& sender) {
  if (auto added = subsystem.feeders.add(ledger_, subsystem.uid, sender.pid); !added) return added;
  if (sender.uid == subsystem.uid) subsystem.rates->add_feeder(sender.pid);
  return {};
}

bool StatsBranch::drop_feeder(Subsystem& subsystem, pid_t process) {
  subsystem.rates->drop_feeder(process);
  return subsystem.feeders.remove(process);
}

bool StatsBranch::process_ended(pid_t process, Moment now, const IsLate& is_late) {
  templates_->process_ended(process);
  const MutexLock lock(mutex_);
  for (const auto& [key, subsystem] : subsystems_) {
    if (!end_feeder(*subsystem, process, now, is_late)) return false;
  }
  return true;
}

bool StatsBranch::end_feeder(Subsystem& subsystem, pid_t process, Moment now,
                             const IsLate& is_late) {
  if (!subsystem.feeders.contains(process)) return true;
  const auto is_gone = [&](Object& object) {
    if (object.feeder != process) return false;
    if (object.lifetime == Lifetime::kFeeder || subsystem.withdrawing == process) return true;
    object.feeder = 0;
    return false;
  };
  if (!forget_if(subsystem, is_gone, now, is_late)) return false;
  drop_feeder(subsystem, process);
  report_idle(subsystem, now);
  return true;
}

bool StatsBranch::forget_if(Subsystem& subsystem, const std::function<bool(Object&)>& is_gone,
                            Moment now, const IsLate& is_late) {
  for (;;) {
    std::vector<Object*> gone;
    for (const auto& [name, object] : subsystem.objects) {
      if (gone.size() == kObjectsAtOnce) break;
      if (is_gone(*object)) gone.push_back(object);
    }
    forget(gone, now);
    if (gone.size() < kObjectsAtOnce) return true;
    if (is_late()) return false;
  }
}

void StatsBranch::forget(std::span<Object* const> objects, Moment now) {
  std::vector<NodeId> files;
  for (Object* const object : objects) {
    object->content->detach();
    files.insert(files.end(), {object->freeform, object->json});
    object->owner->objects.erase(object->name);
    numbered_.remove(object->number);
  }
  tree_.remove(files, now);
}

// sample_rates goes with the directory.
void StatsBranch::forget(Subsystem& subsystem, Moment now) {
  subsystem.rates->detach();
  tree_.remove(subsystem.node, now);
  subsystems_.erase(subsystem.name);
  numbered_.remove(subsystem.number);
}

bool StatsBranch::forget_all(Subsystem& subsystem, Moment now, const IsLate& is_late) {
  if (!forget_if(subsystem, [](Object&) { return true; }, now, is_late)) return false;
  forget(subsystem, now);
  return true;
}

// Like the file, for the owner only.
Result<Done> StatsBranch::tell_rates(const wire::StatsLine& line, const Sender& sender,
                                     Moment now) {
  const auto found = find_owned(line, sender);
  if (!found) return found.error();
  report_idle(*found.value(), now);
  auto told = found.value()->rates->tell(sender);
  return Done{.number = told.changes, .text = std::move(told.text)};
}

// A feeder cannot take the rates that were sent to it: error_log says so to their writer.
Result<Done> StatsBranch::note_refusal(const wire::StatsLine& line, const Sender& sender,
                                       Moment now) {
  const auto found = find_owned(line, sender);
  if (!found) return found.error();
  const auto word = Tokens(line.rest.text).next();
  const auto number = word ? parse_unsigned(word->text) : std::nullopt;
  if (!number || *number == 0 || *number > kErrnoMax) return invalid("no errno", line.rest.at);
  if (!errors_) return Done{};
  const std::string reason =
      "process " + std::to_string(shown_pid(sender.pid)) +
      " does not take these rates: " + std::strerror(static_cast<int>(*number));
  errors_->report({ErrorLog::Source::kSocket, sender.uid}, "stats/" + found.value()->name,
                  found.value()->rates->text(), {ErrorCode::kInvalid, reason}, now);
  return Done{};
}

void StatsBranch::report_idle(const Subsystem& subsystem, Moment now) {
  for (const std::string& rate : subsystem.rates->take_idle()) {
    if (!errors_) return;
    errors_->warn({ErrorLog::Source::kSocket, subsystem.uid}, "stats/" + subsystem.name, rate,
                  {ErrorCode::kNoTemplate, "no running feeder has this template"}, now);
  }
}

}  // namespace tallyfs
