#include "core/tree/subsystem_rates.h"

#include <cerrno>
#include <utility>
#include <variant>

namespace tally {

SubsystemRates::SubsystemRates(std::shared_ptr<const FeederTemplates> templates, uid_t uid,
                               Switch* its_switch, Moment now)
    : templates_(std::move(templates)), uid_(uid), switch_(its_switch), last_change_(now) {}

Result<blob::Rates> SubsystemRates::parse(std::string_view text) const {
  auto parsed =
      blob::parse_rates(text, [this](std::optional<std::string_view> name, std::uint32_t hash) {
        return templates_->find(uid_, name, hash);
      });
  if (const auto* const fault = std::get_if<blob::RatesFault>(&parsed)) {
    const auto code = fault->error == ESRCH ? ErrorCode::kNoTemplate : ErrorCode::kInvalid;
    return Error{code, fault->reason, fault->at};
  }
  auto& rates = std::get<blob::Rates>(parsed);
  if (rates.size() > kRatesMax) return Error{ErrorCode::kInvalid, "more than 1000 rates"};
  return std::move(rates);
}

Result<void> SubsystemRates::set(std::string_view text, Moment now) {
  auto wanted = parse(text);
  if (!wanted) return wanted.error();
  const MutexLock lock(mutex_);
  rates_ = std::move(wanted.value());
  changes_ += 1;
  last_change_ = now;
  if (switch_) switch_->on.store(changes_, std::memory_order_release);
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
