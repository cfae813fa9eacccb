#include "core/stats3/branch/subsystem_rates.h"

#include <algorithm>
#include <utility>

#include "core/base/bytes.h"
#include "core/stats3/blob/rates.h"
#include "core/stats3/branch/processes_saved.h"

namespace tallyfs::stats3 {

SubsystemRates::SubsystemRates(std::shared_ptr<const FeederTemplates> templates, uid_t uid,
                               Switch* its_switch, Timestamp now)
    : templates_(std::move(templates)), uid_(uid), switch_(its_switch), last_change_(now) {}

// A slot ID is the place among the rates.
Result<SubsystemRates::Rates> SubsystemRates::parse(std::string_view text) const {
  if (text.size() > kTextBytesMax) {
    return Error{ErrorCode::kInvalid,
                 "a text of more than " + std::to_string(kTextBytesMax) + " bytes", 0};
  }
  Rates rates;
  const auto find = [&](std::optional<std::string_view> name, std::uint32_t hash) {
    const auto called = hash != 0 ? templates_->name(uid_, hash) : std::nullopt;
    if (hash != 0 && (!called || (name && *name != *called))) return -1;
    if (hash == 0 && (!name || !templates_->last_hash(uid_, *name))) return -1;
    rates.push_back({hash != 0 ? called : std::optional<std::string>(*name), hash});
    return static_cast<int>(rates.size()) - 1;
  };
  auto parsed = blob::parse_rates(text, find, kRatesMax);
  if (!parsed) return parsed.error();
  const blob::Rates& percents = parsed.value();
  for (std::size_t i = 0; i < rates.size(); ++i) rates[i].percent = percents[i].tpl_sample_pct;
  return rates;
}

Result<SubsystemRates::Rates> SubsystemRates::parse_brought(std::string_view text) const {
  auto rates = parse(text);
  if (!rates) return rates;
  for (Rate& each : rates.value()) each.hash = 0;
  return rates;
}

Result<void> SubsystemRates::set(std::string_view text, Timestamp now) {
  auto wanted = parse(text);
  if (!wanted) return wanted.error();
  const MutexLock lock(mutex_);
  set_by_user_ = true;
  take(std::move(wanted.value()), now);
  return {};
}

void SubsystemRates::take(Rates rates, Timestamp now) {
  rates_ = std::move(rates);
  note_change(now);
}

void SubsystemRates::note_change(Timestamp now) {
  changes_ += 1;
  last_change_ = now;
  if (switch_) switch_->on.store(changes_, std::memory_order_release);
}

Result<void> SubsystemRates::come_again(std::string_view text, Timestamp now) {
  {
    const MutexLock lock(mutex_);
    if (set_by_user_ || text.find_first_not_of(' ') == text.npos) return {};
  }
  auto wanted = parse_brought(text);
  if (!wanted) return wanted.error();
  const MutexLock lock(mutex_);
  if (rates_ != wanted.value()) take(std::move(wanted.value()), now);
  return {};
}

Result<void> SubsystemRates::begin(std::string_view text) {
  auto wanted = parse_brought(text);
  if (!wanted) return wanted.error();
  const MutexLock lock(mutex_);
  rates_ = std::move(wanted.value());
  return {};
}

void SubsystemRates::add_feeder(pid_t process) {
  const MutexLock lock(mutex_);
  if (feeders_.insert(process).second) feeders_changes_ += 1;
}

void SubsystemRates::drop_feeder(pid_t process) {
  const MutexLock lock(mutex_);
  feeders_changes_ += feeders_.erase(process);
}

void SubsystemRates::template_told(pid_t process, std::string_view name, Timestamp now) {
  const MutexLock lock(mutex_);
  if (process != 0 && !feeders_.contains(process)) return;
  const bool is_named =
      std::ranges::any_of(rates_, [&](const Rate& each) { return each.name == name; });
  if (is_named) note_change(now);
}

void SubsystemRates::detach() {
  const MutexLock lock(mutex_);
  switch_ = nullptr;
}

SubsystemRates::Hashes SubsystemRates::hashes_of(const Rate& rate,
                                                 const Processes& processes) const {
  if (rate.hash == 0) return templates_->hashes(uid_, *rate.name, processes);
  return templates_->is_told_by(uid_, rate.hash, processes) ? Hashes{rate.hash} : Hashes{};
}

// Without a feeder that has one, the last of the name.
SubsystemRates::Hashes SubsystemRates::hashes(const Rate& rate) const {
  if (rate.hash != 0) return {rate.hash};
  Hashes found = templates_->hashes(uid_, *rate.name, feeders_);
  if (!found.empty()) return found;
  const auto last = templates_->last_hash(uid_, *rate.name);
  return last ? Hashes{*last} : Hashes{};
}

std::string SubsystemRates::words_for(const Rate& rate, const Hashes& hashes) {
  std::string words = '"' + rate.name.value_or("") + '"';
  if (hashes.size() == 1) words.append(":").append(std::to_string(hashes.front()));
  return words.append("=").append(std::to_string(rate.percent));
}

std::string SubsystemRates::text() const {
  const MutexLock lock(mutex_);
  std::string text;
  for (const Rate& each : rates_) {
    text.append(text.empty() ? "" : ",").append(words_for(each, hashes(each)));
  }
  return text;
}

SubsystemRates::Told SubsystemRates::tell(const Sender& sender) const {
  const MutexLock lock(mutex_);
  const bool is_known =
      sender.uid == uid_ && feeders_.contains(sender.pid) && templates_->has_told(sender.pid);
  Told told{.text = std::string(), .changes = changes_};
  for (const Rate& each : rates_) {
    const Hashes its = is_known ? hashes_of(each, {sender.pid}) : hashes(each);
    if (its.empty()) continue;
    told.text->append(told.text->empty() ? ":" : ",:").append(std::to_string(its.back()));
    told.text->append("=").append(std::to_string(each.percent));
  }
  if (is_known && told.text->empty() && !rates_.empty() && !set_by_user_) told.text.reset();
  return told;
}

std::vector<std::string> SubsystemRates::take_idle() {
  const MutexLock lock(mutex_);
  std::vector<std::string> idle, news;
  const bool some_run =
      std::ranges::any_of(feeders_, [this](pid_t each) { return templates_->has_told(each); });
  for (const Rate& each : rates_) {
    if (!some_run || each.percent == 0 || !hashes_of(each, feeders_).empty()) continue;
    idle.push_back(words_for(each, each.hash != 0 ? Hashes{each.hash} : Hashes{}));
    if (std::ranges::find(idle_, idle.back()) == idle_.end()) news.push_back(idle.back());
  }
  idle_ = std::move(idle);
  return news;
}

std::uint32_t SubsystemRates::changes() const {
  const MutexLock lock(mutex_);
  return changes_;
}

// The sum of numbers that only grow, so that each change of one of them changes it.
std::uint64_t SubsystemRates::version() const {
  const std::uint64_t templates = templates_->version();
  const MutexLock lock(mutex_);
  return templates + changes_ + feeders_changes_;
}

Timestamp SubsystemRates::last_change() const {
  const MutexLock lock(mutex_);
  return last_change_;
}

Result<std::string> SampleRatesFile::render(const CallContext&, std::size_t bytes_max) const {
  std::string text = rates_->text() + "\n";
  if (text.size() > bytes_max) return Error{ErrorCode::kNoSpace, "a text too long to be opened"};
  return text;
}

void SubsystemRates::save(ByteWriter& out) const {
  const MutexLock lock(mutex_);
  save_locked(out);
}

void SubsystemRates::save_locked(ByteWriter& out) const {
  out.put(std::uint8_t{set_by_user_});
  out.put(static_cast<std::uint32_t>(rates_.size()));
  for (const Rate& each : rates_) {
    out.put_text(each.name.value_or(""));
    out.put(each.hash);
    out.put(each.percent);
  }
}

void SubsystemRates::load(ByteReader& in, Timestamp now) {
  const bool is_set = in.get_flag();
  Rates rates = load_rates(in);
  if (!in.ok()) return;
  const MutexLock lock(mutex_);
  set_by_user_ = is_set;
  take(std::move(rates), now);
}

SubsystemRates::Rates SubsystemRates::load_rates(ByteReader& in) {
  Rates rates;
  const auto size = in.get<std::uint32_t>();
  if (size > kRatesMax) in.fail();
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < size && in.ok(); ++i) {
    Rate rate{.name = std::string(in.get_text()),
              .hash = in.get<std::uint32_t>(),
              .percent = in.get<std::uint32_t>()};
    if (rate.percent > 100 - sum || !blob::is_template_name(*rate.name)) in.fail();
    sum += in.ok() ? rate.percent : 0;
    rates.push_back(std::move(rate));
  }
  return rates;
}

void SubsystemRates::save_for_successor(ByteWriter& out) const {
  const MutexLock lock(mutex_);
  out.put(changes_);
  out.put(feeders_changes_);
  put_processes(out, feeders_);
  out.put(static_cast<std::uint32_t>(idle_.size()));
  for (const std::string& each : idle_) out.put_text(each);
  save_locked(out);
}

void SubsystemRates::load_transferred(ByteReader& in) {
  const auto changes = in.get<std::uint32_t>();
  const auto feeders_changes = in.get<std::uint64_t>();
  const auto feeders = get_processes(in);
  std::vector<std::string> idle;
  for (auto left = in.get<std::uint32_t>(); in.ok() && left != 0; --left) {
    idle.emplace_back(in.get_text());
  }
  const bool is_set = in.get_flag();
  Rates rates = load_rates(in);
  if (!in.ok()) return;
  const MutexLock lock(mutex_);
  // A server that was killed may have shown more than it has saved: no number is shown twice.
  const std::uint32_t shown = switch_ ? switch_->on.load(std::memory_order_relaxed) : 0;
  changes_ = shown > changes ? shown + 1 : changes;
  feeders_changes_ = feeders_changes;
  feeders_.insert(feeders.begin(), feeders.end());
  idle_ = std::move(idle);
  set_by_user_ = is_set;
  rates_ = std::move(rates);
  if (switch_) switch_->on.store(changes_, std::memory_order_release);
}

}  // namespace tallyfs::stats3
