// Longer than most: one transaction, and all that it keeps within bounds.
#include "tools/past/store_writer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace tallyfs::past {
namespace {

constexpr std::uint64_t kPruneUs = 60'000'000;
constexpr std::uint64_t kHourUs = 3'600'000'000;
// Closed blocks that could not be written are kept up to here.
constexpr std::size_t kClosedBytesMax = 16 << 20;
constexpr std::size_t kFactsWaitingMax = 10'000;

Result<Fd> lock_directory(const std::string& directory) {
  if (::mkdir(directory.c_str(), 0750) != 0 && errno != EEXIST) {
    return Error{errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kNoAccess,
                 directory + ": " + std::strerror(errno)};
  }
  Fd made(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!made.valid()) return Error{ErrorCode::kNoAccess, directory + ": " + std::strerror(errno)};
  if (::flock(made.get(), LOCK_EX | LOCK_NB) != 0) {
    return Error{ErrorCode::kBusy, "another tallyctl record writes the store " + directory +
                                       "; a store has one writer"};
  }
  return made;
}

Result<void> check_tiers(Database& database, const Tiers& wanted) {
  const auto tables = database.number("SELECT count(*) FROM sqlite_schema");
  if (!tables) return tables.error();
  if (tables.value() == 0) return make_tables(database, wanted);
  const auto found = read_tiers(database);
  if (!found) return found.error();
  if (std::ranges::equal(found.value(), wanted, {}, &Tier::step_us, &Tier::step_us)) {
    return upgrade_tables(database);
  }
  return invalid("the store has the tiers " + tiers_text(found.value()) +
                 "; record with steps of those, or into another directory");
}

}  // namespace

StoreWriter::StoreWriter(Settings settings, std::string directory, Fd lock, Database database)
    : settings_(std::move(settings)),
      directory_(std::move(directory)),
      lock_(std::move(lock)),
      database_(std::move(database)) {
  for (std::size_t i = 0; i < settings_.tiers.size(); ++i) {
    const std::uint64_t step_us = settings_.tiers[i].step_us;
    tiers_.emplace_back(i, settings_.tiers[i], step_us / settings_.tiers.front().step_us);
  }
}

Result<std::unique_ptr<StoreWriter>> StoreWriter::open(const std::string& directory,
                                                       Settings settings) {
  auto lock = lock_directory(directory);
  if (!lock) return lock.error();
  auto database = Database::open_to_write(file_of(directory));
  if (!database) return database.error();
  if (auto done = check_tiers(database.value(), settings.tiers); !done) return done.error();
  std::unique_ptr<StoreWriter> made(new StoreWriter(
      std::move(settings), directory, std::move(lock).value(), std::move(database).value()));
  if (auto done = made->load(); !done) return done.error();
  return made;
}

Result<void> StoreWriter::load() {
  auto all = database_.prepare("SELECT id, interface, name, shape, last_us FROM series");
  if (!all) return all.error();
  Statement& row = all.value();
  const auto done = row.each_row([&] {
    const Series made{row.number(0), row.number(4), true};
    const auto [at, is_new] =
        series_.insert_or_assign(Name(row.text(1), row.text(2), row.text(3)), made);
    by_id_[made.id] = &at->second;
    next_series_ = std::max(next_series_, made.id + 1);
  });
  if (!done) return done;
  auto derived = database_.prepare("SELECT series, source FROM derived");
  if (!derived) return derived.error();
  Statement& view = derived.value();
  const auto read = view.each_row([&] { derived_.emplace(view.number(0), view.number(1)); });
  if (!read) return read;
  const auto block = database_.number("SELECT max(id) FROM block");
  if (!block) return block.error();
  next_block_ = block.value() + 1;
  const auto until = database_.number("SELECT max(end_us) FROM block WHERE tier=0");
  if (!until) return until.error();
  written_until_us_ = until.value();
  return {};
}

std::uint64_t StoreWriter::series(const std::string& interface, const std::string& name,
                                  const std::string& shape) {
  const auto [at, is_new] = series_.try_emplace(Name(interface, name, shape));
  if (is_new) {
    at->second.id = next_series_++;
    at->second.last_us = now_us_;
    by_id_[at->second.id] = &at->second;
    unwritten_.push_back(&at->first);
  }
  return at->second.id;
}

void StoreWriter::go_to(std::uint64_t moment_us) {
  now_us_ = moment_us;
  for (std::size_t i = 0; i < tiers_.size(); ++i) {
    tiers_[i].go_to(moment_us, i + 1 < tiers_.size() ? &tiers_[i + 1] : nullptr, closed_);
  }
}

void StoreWriter::add(std::uint64_t series, const Point& point, const Adding& adding) {
  tiers_.front().add(series, point, adding);
  const auto found = by_id_.find(series);
  if (found != by_id_.end()) found->second->last_us = now_us_;
}

void StoreWriter::note(Fact fact) {
  if (facts_.size() < kFactsWaitingMax) facts_.push_back(std::move(fact));
}

bool StoreWriter::is_due() const { return now_us_ / kFlushUs != flushed_us_ / kFlushUs; }

// No reader can be sent away: one that holds the log lets it grow.
Result<void> StoreWriter::check_log() {
  if (log_bytes(directory_) < settings_.wal_bytes_max) return {};
  if (auto done = database_.checkpoint(); !done && done.error().code != ErrorCode::kBusy) {
    return done.error();
  }
  if (log_bytes(directory_) < settings_.wal_bytes_max) return {};
  return Error{ErrorCode::kBusy, "a program that reads the store has held " + log_of(directory_) +
                                     " too long: tallyctl doctor names it"};
}

Result<void> StoreWriter::flush() {
  flushed_us_ = now_us_;
  auto done = check_log();
  if (done) done = database_.run("BEGIN IMMEDIATE");
  if (done) {
    done = write();
    if (!done) (void)database_.run("ROLLBACK");
  }
  if (!done) {
    keep_closed(done.error());
    return done;
  }
  for (const Name* each : unwritten_) series_.at(*each).is_written = true;
  unwritten_.clear();
  facts_.clear();
  closed_.clear();
  return now_us_ < pruned_us_ || now_us_ - pruned_us_ >= kPruneUs ? prune() : Result<void>();
}

Result<void> StoreWriter::end() {
  for (std::size_t i = 0; i < tiers_.size(); ++i) {
    tiers_[i].end(i + 1 < tiers_.size() ? &tiers_[i + 1] : nullptr, closed_);
  }
  if (auto done = flush(); !done) return done;
  if (auto done = database_.checkpoint(); !done && done.error().code != ErrorCode::kBusy) {
    return done;
  }
  return {};
}

// Numbers of blocks that are open in the file change only with the transaction.
Result<void> StoreWriter::write() {
  if (auto done = write_series(); !done) return done;
  if (auto done = delete_open(); !done) return done;
  const std::uint64_t first = next_block_;
  Views views;
  for (const PackedBlock& each : closed_) {
    if (auto done = write_block(each); !done) return done;
    views.insert(each.views.begin(), each.views.end());
  }
  std::vector<std::uint64_t> open;
  for (const OpenTier& tier : tiers_) {
    for (const PackedBlock& each : tier.pack()) {
      open.push_back(next_block_);
      if (auto done = write_block(each); !done) return done;
      views.insert(each.views.begin(), each.views.end());
    }
  }
  if (auto done = write_derived(views); !done) return done;
  if (auto done = write_facts(); !done) return done;
  if (auto done = database_.run("COMMIT"); !done) {
    next_block_ = first;
    return done;
  }
  open_ids_ = std::move(open);
  derived_.merge(views);
  return {};
}

Result<void> StoreWriter::write_series() {
  auto statement = database_.prepare("INSERT INTO series VALUES(?,?,?,?,?)");
  if (!statement) return statement.error();
  for (const Name* each : unwritten_) {
    const auto& [interface, name, shape] = *each;
    const Series& series = series_.at(*each);
    statement.value().bind(series.id).bind(interface).bind(name).bind(shape).bind(series.last_us);
    if (auto done = statement.value().run(); !done) return done;
  }
  return {};
}

Result<void> StoreWriter::delete_open() {
  auto statement = database_.prepare("DELETE FROM block WHERE id=?");
  if (!statement) return statement.error();
  for (const std::uint64_t each : open_ids_) {
    if (auto done = statement.value().bind(each).run(); !done) return done;
  }
  return {};
}

Result<void> StoreWriter::write_block(const PackedBlock& block) {
  auto statement = database_.prepare("INSERT INTO block VALUES(?,?,?,?,?,?,?)");
  if (!statement) return statement.error();
  statement.value().bind(next_block_++).bind(std::uint64_t{block.tier});
  statement.value().bind(block.span.begin_us).bind(block.span.end_us);
  statement.value().bind(block.first_series).bind(block.last_series).bind_bytes(block.bytes);
  return statement.value().run();
}

Result<void> StoreWriter::write_derived(const Views& views) {
  auto statement = database_.prepare("INSERT INTO derived VALUES(?,?)");
  if (!statement) return statement.error();
  for (const auto& [series, source] : views) {
    if (derived_.contains({series, source})) continue;
    if (auto done = statement.value().bind(series).bind(source).run(); !done) return done;
  }
  return {};
}

Result<void> StoreWriter::write_facts() {
  auto statement = database_.prepare(
      "INSERT INTO fact(begin_us, end_us, interface, name, reason) VALUES(?,?,?,?,?)");
  if (!statement) return statement.error();
  for (const Fact& each : facts_) {
    statement.value().bind(each.span.begin_us).bind(each.span.end_us).bind(each.interface);
    statement.value().bind(each.statistic).bind(each.reason);
    if (auto done = statement.value().run(); !done) return done;
  }
  return {};
}

// Blocks that cannot be written are kept while they are few; the older ones become a gap.
void StoreWriter::keep_closed(const Error& error) {
  std::size_t bytes = 0;
  for (const PackedBlock& each : closed_) bytes += each.bytes.size();
  auto first = closed_.begin();
  for (; first != closed_.end() && bytes > kClosedBytesMax; ++first) {
    bytes -= first->bytes.size();
    note({.span = first->span, .reason = "not written: " + error.reason});
  }
  closed_.erase(closed_.begin(), first);
}

Result<void> StoreWriter::prune() {
  pruned_us_ = now_us_;
  std::uint64_t keep_max = 0;
  for (std::size_t i = 0; i < settings_.tiers.size(); ++i) {
    const Tier& tier = settings_.tiers[i];
    keep_max = std::max(keep_max, tier.keep_us);
    auto statement =
        database_.prepare("DELETE FROM block WHERE tier=? AND begin_us<? AND end_us<?");
    if (!statement) return statement.error();
    const std::uint64_t before = now_us_ - std::min(now_us_, tier.keep_us);
    statement.value().bind(std::uint64_t{i}).bind(before).bind(before);
    if (auto done = statement.value().run(); !done) return done;
  }
  auto statement = database_.prepare(
      "DELETE FROM fact WHERE end_us<? OR id<=(SELECT max(id) FROM"
      " fact)-?");
  if (!statement) return statement.error();
  statement.value().bind(now_us_ - std::min(now_us_, keep_max)).bind(kFactsMax);
  if (auto done = statement.value().run(); !done) return done;
  if (auto done = prune_series(); !done) return done;
  return prune_to_size();
}

// Deletes statistics that no block has any more. The moments of the others are written, so that the
// next writer knows them.
Result<void> StoreWriter::prune_series() {
  std::uint64_t keep_max = 0;
  for (const Tier& each : settings_.tiers) keep_max = std::max(keep_max, each.keep_us);
  // A block reaches further than its last point of a statistic.
  const std::uint64_t block_us = settings_.tiers.back().step_us * kBlockPoints;
  const std::uint64_t before = now_us_ - std::min(now_us_, keep_max + block_us + kHourUs);
  if (auto done = database_.run("BEGIN IMMEDIATE"); !done) return done;
  auto erase = database_.prepare("DELETE FROM series WHERE id=?");
  auto update = database_.prepare("UPDATE series SET last_us=? WHERE id=? AND last_us<?");
  if (!erase || !update) return erase ? update.error() : erase.error();
  // One that is an hour off is good enough, and is seldom written.
  const auto hour_before = [](const Series& series) {
    return series.last_us - std::min(series.last_us, kHourUs);
  };
  std::set<std::uint64_t> gone;
  for (auto each = series_.begin(); each != series_.end();) {
    const Series& series = each->second;
    const bool is_old = series.is_written && series.last_us < before;
    const auto done =
        is_old
            ? erase.value().bind(series.id).run()
            : update.value().bind(series.last_us).bind(series.id).bind(hour_before(series)).run();
    if (!done) {
      (void)database_.run("ROLLBACK");
      return done;
    }
    if (is_old) by_id_.erase(series.id);
    if (is_old) gone.insert(series.id);
    each = is_old ? series_.erase(each) : std::next(each);
  }
  std::erase_if(derived_, [&](const auto& each) {
    return gone.contains(each.first) || gone.contains(each.second);
  });
  const auto done = gone.empty() ? Result<void>()
                                 : database_.run("DELETE FROM derived WHERE series NOT IN"
                                                 " (SELECT id FROM series) OR source NOT IN"
                                                 " (SELECT id FROM series)");
  if (!done) (void)database_.run("ROLLBACK");
  return done ? database_.run("COMMIT") : done;
}

Result<std::uint64_t> StoreWriter::used_bytes() {
  const auto pages = database_.number("PRAGMA page_count");
  if (!pages) return pages.error();
  const auto free = database_.number("PRAGMA freelist_count");
  if (!free) return free.error();
  const auto size = database_.number("PRAGMA page_size");
  if (!size) return size.error();
  return (pages.value() - free.value()) * size.value() + log_bytes(directory_);
}

Result<void> StoreWriter::prune_to_size() {
  for (std::size_t tier = 0; tier < tiers_.size();) {
    const auto used = used_bytes();
    if (!used) return used.error();
    if (used.value() <= settings_.bytes_max) break;
    const std::string number = std::to_string(tier);
    const auto oldest = database_.number("SELECT min(begin_us) FROM block WHERE tier=" + number);
    if (!oldest) return oldest.error();
    const std::uint64_t block_us = settings_.tiers[tier].step_us * kBlockPoints;
    // The block that is open is rewritten anyway.
    if (oldest.value() == 0 || oldest.value() + block_us > now_us_) {
      ++tier;
      continue;
    }
    auto done = database_.run("DELETE FROM block WHERE tier=" + number + " AND begin_us<" +
                              std::to_string(oldest.value() + block_us));
    if (done) done = check_log();
    if (!done) return done;
  }
  return database_.run("PRAGMA incremental_vacuum");
}

}  // namespace tallyfs::past
