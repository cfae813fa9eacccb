// A reload, as the two daemons see it: the one leaves its state, the next one takes it.
#include <unistd.h>

#include <chrono>
#include <string>
#include <utility>

#include "fs/daemon/boot_id.h"
#include "fs/daemon/daemon.h"
#include "program/log.h"

namespace tallyfs {
namespace {

// What of the work that was received is left then is the next server's.
constexpr std::chrono::milliseconds kHandOverDrainMax{20};

constexpr std::uint16_t kNodesFormat = transfer_format(SavedKind::kNodes);
constexpr std::uint16_t kCachedDirectoriesFormat = transfer_format(SavedKind::kCachedDirectories);

void put_nodes(ObjectSink& sink, const Tree& tree) {
  std::string bytes;
  ByteWriter out(bytes);
  tree.save(out);
  sink.put(saved_object(SavedKind::kNodes, kNodesFormat, "nodes", bytes));
}

void put_cached_directories(ObjectSink& sink, const Notifier& notifier) {
  std::string bytes;
  ByteWriter out(bytes);
  notifier.save(out);
  sink.put(
      saved_object(SavedKind::kCachedDirectories, kCachedDirectoriesFormat, "directories", bytes));
}

void note_fault(const SavedObject& object, const Error& error) {
  std::string text("reload: the ");
  text.append(name_of(static_cast<SavedKind>(object.kind))).append(" are left out: ");
  log_error(text.append(error.reason));
}

}  // namespace

// Without the numbers, the kernel looks all names up anew, and open files are stale. A number of an
// open file would mean another one here.
void Daemon::expect_nodes() {
  if (!predecessor_) return;
  const SavedObject* const nodes = predecessor_->find(SavedKind::kNodes);
  const SavedObject* const handles = predecessor_->find(SavedKind::kHandles);
  if (!nodes || !handles || !OpenFiles::can_load(*handles)) {
    return log_error("reload: there are no numbers of open files: they are stale");
  }
  const Result<void> done =
      nodes->format == kNodesFormat ? tree_.expect(nodes->bytes) : other_format(*nodes);
  has_nodes_ = done.has_value();
  if (!done) note_fault(*nodes, done.error());
}

// Of a server that was killed, and of one that handed over.
void Daemon::take_state(const std::string& from, const StateFile& file, const Loading& loading) {
  const auto parts = handed_parts();
  report_loaded(from,
                tallyfs::take_state(file, {branches_->all(), parts, descriptors_}, loading));
}

void Daemon::take_reload() {
  if (feeder_) branches_->tracing().tracing().expect(*feeder_);
  take_state("reload", predecessor_->file(), {.now = clock_.now(), .has_pages = has_pages_});
  enter_expected();
  if (!has_nodes_) return;
  const SavedObject& handles = *predecessor_->find(SavedKind::kHandles);
  const auto stale = operations_->open_files().load(handles, predecessor_->open_files());
  if (!stale) return note_fault(handles, stale.error());
  for (const std::string& fault : stale.value()) log_warning("reload: " + fault);
}

// From now on it is told of all that feeders share with this one, whenever this one ends.
void Daemon::keep_for_successor(ObjectStore::Opened kept) {
  const KeptState::Dependencies dependencies{.branches = branches_->all(),
                                             .counters = branches_->statistics().counters(),
                                             .errors = *errors_,
                                             .clock = clock_,
                                             .handed = handed_parts(),
                                             .descriptors = descriptors_};
  kept_.emplace(std::move(kept.store), dependencies, read_boot_id());
  kept_->remove_lost_bindings(kept.contents);
  const bool has_mark = KeptState::has_mark(kept.contents);
  kept.contents = {};
  // In another epoch, what the memory has belongs together until the first whole save. In the same
  // one, what was taken out of lanes that have ended must not be looked for there again.
  if (has_pages_) kept_->write_parts();
  if (has_kept_) kept_->write_numbers();
  if (has_pages_ && has_mark) kept_->resume();
  processes_.keep_with(*kept_);
  if (lanes_) lanes_->keep_with(*kept_);
  intake_->keep_with(*kept_);
  intake_->tell_of_work([this] {
    kept_->note_work();
    const std::uint64_t given = branches_->statistics().numbers_given();
    const bool has_given = numbers_given_.exchange(given, std::memory_order_relaxed) != given;
    if (has_given || journal_.wants_save()) kept_->note_soon();
    if (journal_.wants_save_at_once()) kept_->note_urgent();
    if (const std::uint64_t missed = journal_.take_missed(); missed != 0) {
      branches_->statistics().counters().count("journal_missed", missed, clock_.now());
    }
  });
  statistics::StatisticsBranch& statistics = branches_->statistics();
  statistics.changes().keep(
      {.write = [&](const auto& put) { return kept_->write_through(statistics, put); },
       .save_soon = [this] { kept_->note_soon(); }});
  operations_->tell_of_changes(
      [this](const std::string& path) { return kept_->write_through(path); });
}

// Behind keep_for_successor(), which writes through what commands in it change.
void Daemon::take_journal(std::optional<Boot> killed, int crashes) {
  statistics::StatisticsBranch& statistics = branches_->statistics();
  const Timestamp begun = clock_.now();
  const InputPosition loaded = statistics.loaded_input();
  if (journal_.is_open()) {
    auto left = journal_.left();
    if (!left) {
      log_error("the journal is not whole: what came since the last save is lost");
      journal_.close(descriptors_);
    } else if (killed) {
      report_missed(left->missed);
      report_replay(intake_->replay(journal_, std::move(*left), crashes), begun);
    } else {
      journal_.drop(*left);
    }
  }
  if (killed) statistics.end_replay(*killed, clock_.now());
  if (options_.journal_bytes == 0) journal_.close(descriptors_);
  if (!journal_.is_open() && options_.journal_bytes != 0) {
    const auto made = journal_.make(options_.journal_bytes, loaded);
    if (!made) log_warning("a kill loses what came since the last save: " + made.error().reason);
  }
  if (!journal_.is_open()) return kept_->remove(SavedKind::kJournal, "journal");
  kept_->write_through(journal_);
  journal_.follow([&statistics] { return statistics.input(); });
  intake_->note_in(journal_);
}

// Behind the journal, with which interfaces come that were not saved.
void Daemon::take_open_files(const std::vector<SavedObject>& before, bool is_after_kill) {
  OpenFiles& open_files = operations_->open_files();
  if (is_after_kill) {
    for (const std::string& fault : open_files.load_kept(before)) log_warning("kept: " + fault);
  }
  open_files.keep_with(*kept_, before);
}

void Daemon::report_missed(std::uint64_t records) {
  if (records == 0) return;
  log_error("the journal was full: " + std::to_string(records) +
            " datagrams and pieces of rings since the last save are lost");
  branches_->statistics().counters().count("journal_missed", records, clock_.now());
}

void Daemon::report_replay(const Intake::Replayed& replayed, Timestamp begun) {
  const Timestamp now = clock_.now();
  DaemonCounters& counters = branches_->statistics().counters();
  const auto took =
      std::chrono::duration_cast<std::chrono::microseconds>(now.monotonic - begun.monotonic);
  counters.record("replay_us", took.count(), 1, now);
  log_info("journal: " + std::to_string(replayed.datagrams) + " datagrams were looked at again");
  for (const Datagram& each : replayed.poisoned) {
    constexpr std::size_t kShown = 64;
    const std::string bytes(each.bytes.data(), std::min(each.bytes.size(), kShown));
    const std::string reason = "two servers have crashed with this datagram of " +
                               std::to_string(each.bytes.size()) +
                               " bytes: what is in it and was not saved is left out";
    log_error("uid " + std::to_string(each.origin.uid) + ", process " +
              std::to_string(each.origin.pid) + ": " + reason + ": " + statistics::shown(bytes));
    errors_->report({ErrorLog::Source::kSocket, each.origin.uid}, "socket",
                    statistics::shown(bytes), invalid(reason), now);
    counters.count("poisoned", 1, now);
  }
}

void Daemon::report_loaded(const std::string& from, const LoadedState& loaded) {
  for (const std::string& fault : loaded.faults) log_warning(from + ": " + fault);
  if (!loaded.faults.empty()) {
    report_left_out(loaded, from, "", branches_->statistics().counters(), *errors_, clock_.now());
  }
  log_info(from + ": took over " + objects_text(loaded));
}

// Entries that a directory makes when a person looks into it had been made.
void Daemon::enter_expected() {
  std::vector<NodeId> before;
  for (auto incomplete = tree_.incomplete(); incomplete != before;
       incomplete = tree_.incomplete()) {
    for (const NodeId directory : incomplete) {
      if (const auto rules = tree_.rules(directory)) rules.value()->entered(clock_.now());
    }
    before = std::move(incomplete);
  }
}

std::vector<NodeId> Daemon::resume(Notifier& notifier) {
  const SavedObject* const known =
      has_nodes_ ? predecessor_->find(SavedKind::kCachedDirectories) : nullptr;
  if (!known) return {};
  auto left = known->format == kCachedDirectoriesFormat
                  ? notifier.resume(known->bytes)
                  : Result<std::vector<NodeId>>(other_format(*known));
  if (left) return std::move(left.value());
  note_fault(*known, left.error());
  return {};
}

// The kernel's feeder goes on until the next server replaces it.
int Daemon::hand_over(Session& session, const ServedMount& mount) {
  using Kernel = WaitingReaders::Kernel;
  // The session waits for each write, and a write for the feeder, which may take long or not come.
  branches_->tracing().tracing().end_waits();
  if (feeder_) feeder_->end_waits();
  session.leave();
  operations_->leave(session.kernel_resends() ? Kernel::kResends : Kernel::kNoResend);
  if (kept_) kept_->stop();
  intake_->finish(kHandOverDrainMax);
  branches_->tracing().tracing().feed_pending(clock_.now());
  // Should the next server be killed before it has saved all, the one behind it has this.
  if (kept_) (void)kept_->save_all();
  tree_.observe(nullptr);
  const StateHeader header{.boot = read_boot_id(), .saved = clock_.now()};
  const auto put = [&](ObjectSink& sink) {
    put_nodes(sink, tree_);
    put_cached_directories(sink, session.notifier());
    operations_->open_files().save(sink);
    for (Branch* const branch : branches_->all()) branch->save_for_successor(sink, header.saved);
    branches_->tracing().tracing().save_records(sink);
    for (TransferredPart* const part : handed_parts()) part->save_for_successor(sink, descriptors_);
  };
  const auto saved = save_objects(
      header, put, [&](std::string_view piece) { return mount.handover->append_state(piece); });
  if (!saved) {
    log_error("reload: the state cannot be handed over: " + saved.error().reason);
    if (kept_) (void)kept_->save_all();
    if (state_) state_->finish();
    ::_exit(1);  // as a crash: the keeper starts another server, and the mount stays
  }
  mount.handover->finish_state();
  mount.handed_over();
  return 0;
}

}  // namespace tallyfs
