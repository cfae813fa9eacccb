#include "core/tree/subsystem_rates.h"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <variant>

namespace tally {

SubsystemRates::SubsystemRates(std::shared_ptr<const FeederTemplates> templates,
                               const Sender& feeder, Switch* its_switch, Moment now)
    : templates_(std::move(templates)), feeder_(feeder), switch_(its_switch), last_change_(now) {}

Result<blob::Rates> SubsystemRates::parse(std::string_view text) const {
  if (text.size() > kTextBytesMax) {
    return Error{ErrorCode::kInvalid,
                 "a text of more than " + std::to_string(kTextBytesMax) + " bytes", 0};
  }
  const Sender feeder = [this] {
    const MutexLock lock(mutex_);
    return feeder_;
  }();
  auto parsed = blob::parse_rates(
      text,
      [&](std::optional<std::string_view> name, std::uint32_t hash) {
        return templates_->find(feeder, name, hash);
      },
      kRatesMax);
  if (const auto* const fault = std::get_if<blob::RatesFault>(&parsed)) {
    const auto code = fault->error == ESRCH ? ErrorCode::kNoTemplate : ErrorCode::kInvalid;
    return Error{code, fault->reason, fault->at};
  }
  return std::move(std::get<blob::Rates>(parsed));
}

Result<void> SubsystemRates::set(std::string_view text, Moment now) {
  auto wanted = parse(text);
  if (!wanted) return wanted.error();
  const MutexLock lock(mutex_);
  set_by_user_ = true;
  take(std::move(wanted.value()), now);
  return {};
}

void SubsystemRates::take(blob::Rates rates, Moment now) {
  rates_ = std::move(rates);
  changes_ += 1;
  last_change_ = now;
  if (switch_) switch_->on.store(changes_, std::memory_order_release);
}

Result<void> SubsystemRates::come_again(pid_t feeder, std::string_view text, Moment now) {
  {
    const MutexLock lock(mutex_);
    feeder_.pid = feeder;
    if (set_by_user_ || text.find_first_not_of(' ') == text.npos) return {};
  }
  auto wanted = parse(text);
  if (!wanted) return wanted.error();
  const MutexLock lock(mutex_);
  const auto is_same = [](const stats_tpl_sample_rate& one, const stats_tpl_sample_rate& other) {
    return one.tpl_slot_id == other.tpl_slot_id && one.tpl_sample_pct == other.tpl_sample_pct;
  };
  if (!std::ranges::equal(rates_, wanted.value(), is_same)) take(std::move(wanted.value()), now);
  return {};
}

Result<void> SubsystemRates::begin(std::string_view text) {
  auto wanted = parse(text);
  if (!wanted) return wanted.error();
  const MutexLock lock(mutex_);
  rates_ = std::move(wanted.value());
  return {};
}

void SubsystemRates::detach() {
  const MutexLock lock(mutex_);
  switch_ = nullptr;
}

std::string SubsystemRates::text() const {
  const MutexLock lock(mutex_);
  return blob::print_rates(rates_, [this](std::int32_t id) { return templates_->spec(id); });
}

std::string SubsystemRates::text_by_hash(std::uint32_t& changes) const {
  const MutexLock lock(mutex_);
  changes = changes_;
  return blob::print_rates(
      rates_, [this](std::int32_t id) { return ":" + std::to_string(templates_->hash(id)); });
}

std::uint32_t SubsystemRates::changes() const {
  const MutexLock lock(mutex_);
  return changes_;
}

Moment SubsystemRates::last_change() const {
  const MutexLock lock(mutex_);
  return last_change_;
}

Result<std::string> SampleRatesFile::render(Moment, std::size_t bytes_max) const {
  std::string text = rates_->text() + "\n";
  if (text.size() > bytes_max) return Error{ErrorCode::kNoSpace, "a text too long to be opened"};
  return text;
}

}  // namespace tally
