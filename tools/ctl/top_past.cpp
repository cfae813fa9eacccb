#include "tools/ctl/top_past.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "tools/past/moment_source.h"

namespace tallyfs {
namespace {

constexpr std::array kSpeeds = {1, 2, 5, 10, 30, 60};
// What t and T pass over, if points are not farther apart.
constexpr std::uint64_t kSeekUs = 60'000'000;

}  // namespace

Result<std::unique_ptr<Source>> open_past(const std::string& store, const past::Span& span) {
  auto opened = past::StoreReader::open(store);
  if (!opened) return opened.error();
  auto made = past::MomentSource::open(std::move(opened).value(), span, {});
  if (!made) return made.error();
  return std::unique_ptr<Source>(std::move(made).value());
}

OpenAt TopPast::opener() const {
  if (store_.empty()) return {};
  return [store = store_, end_us = extent_.end_us](std::uint64_t begin_us) {
    return open_past(store, {begin_us, end_us});
  };
}

int TopPast::speed() const { return kSpeeds[speed_]; }

std::string TopPast::pace(std::chrono::microseconds period) const {
  const double point = static_cast<double>(point_.count()) * speed();
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "x%.4g", point / static_cast<double>(period.count()));
  return text.data();
}

std::string TopPast::take(char32_t letter, std::uint64_t now_us,
                          std::chrono::microseconds period) {
  if (letter == '<' || letter == '>') {
    if (is_mount_) return "a mount has one speed; --at and --from show the past";
    change_speed(letter == '>');
    return store_.empty() ? "speed " + pace(period) : "";
  }
  if (store_.empty()) return "only a store is sought in: top --at 03:00";
  seek(letter == 't', now_us);
  return "";
}

void TopPast::change_speed(bool is_faster) {
  if (is_faster && speed_ + 1 < kSpeeds.size()) ++speed_;
  if (!is_faster && speed_ > 0) --speed_;
}

void TopPast::seek(bool is_later, std::uint64_t now_us) {
  const auto point_us = static_cast<std::uint64_t>(point_.count());
  const std::uint64_t step_us = std::max(kSeekUs, point_us);
  // Of several keys each goes on from where the one before leads.
  if (is_seeking_) now_us = place_.realtime_us;
  const std::uint64_t wanted_us = is_later ? now_us + step_us : now_us - std::min(now_us, step_us);
  const std::uint64_t last_us = extent_.end_us - std::min(extent_.end_us, 2 * point_us);
  place_ = {place_.number + 1, std::max(extent_.begin_us, std::min(wanted_us, last_us))};
  is_seeking_ = true;
}

std::string TopPast::position(std::uint64_t now_us, std::chrono::microseconds period,
                              const view::Look& look) const {
  if (store_.empty() || now_us == 0) return "";
  constexpr std::uint64_t kWidth = 20;
  now_us = std::clamp(now_us, extent_.begin_us, extent_.end_us);
  const std::uint64_t length_us = std::max<std::uint64_t>(extent_.end_us - extent_.begin_us, 1);
  const auto part = static_cast<std::size_t>((now_us - extent_.begin_us) * kWidth / length_us);
  const std::string bar = std::string(part, '=') + "|" + std::string(kWidth - part, ' ');
  return look.moment(extent_.begin_us) + " [" + bar + "] " + look.moment(extent_.end_us) + "  at " +
         look.moment(now_us) + "  " + pace(period) + "  t T a minute  < > speed";
}

}  // namespace tallyfs
