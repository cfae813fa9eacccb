#include "tools/ctl/top_past.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include "tools/display/grid.h"
#include "tools/past/moment_source.h"
#include "tools/tree/json.h"

namespace tallyfs {
namespace {

constexpr std::array kSpeeds = {1, 2, 5, 10, 30, 60};
// The step of t and T, unless points are farther apart.
constexpr std::uint64_t kSeekUs = 60'000'000;
constexpr std::string_view kBetween = "  ";  // two notes

// The other span is never cut: the column VS means nothing without it.
std::string joined(const std::string& before, const TopPast::Notes& notes,
                   const view::Look& look) {
  std::string text = before + notes.versus;
  if (notes.fault.empty()) return text;
  if (!notes.versus.empty()) text.append(kBetween);
  const int room = look.width - 2 - view::width_of(text, look.charset);
  return text.append(view::cut_middle(notes.fault, std::max(0, room), look.charset));
}

}  // namespace

Result<TopSource> open_past(const std::string& store, const past::Span& span) {
  auto opened = past::StoreReader::open(store);
  if (!opened) return opened.error();
  auto made = past::MomentSource::open(std::move(opened).value(), span, {});
  if (!made) return made.error();
  const past::MomentSource& source = *made.value();
  return TopSource{std::move(made).value(),
                   [&source]() -> const auto& { return source.damaged(); }};
}

// The samples of each interface, without those of views, which are those of their statistics, by
// the time for which the statistic that was observed longest was: that of the recorder.
Result<std::map<std::string, double>> rates_in(past::StoreReader& store, const past::Span& span) {
  const auto series = store.series();
  if (!series) return series.error();
  std::map<std::string, double> made;
  // Samples of any tier are exact, whatever the precision of percentiles.
  const auto parts = store.cover(span, 0);
  if (!parts) return parts.error();
  past::StoreReader::Wanted wanted;
  for (const past::StoredSeries& each : series.value()) {
    const auto shape = parse_json(each.shape);
    if (!shape || !shape.value().text_of("of").empty()) continue;
    wanted[each.id] = 0;
    made.try_emplace(each.interface, 0);
  }
  const auto sums = store.sums(parts.value(), wanted);
  if (!sums) return sums.error();
  // A redefinition is a series of its own.
  std::map<std::pair<std::string, std::string>, std::uint64_t> known;
  std::uint64_t longest = 0;
  for (const past::StoredSeries& each : series.value()) {
    const auto found = sums.value().find(each.id);
    if (found == sums.value().end() || found->second.known == 0) continue;
    auto& of_name = known[{each.interface, each.name}];
    of_name += found->second.known;
    longest = std::max(longest, of_name);
    made[each.interface] += static_cast<double>(found->second.samples);
  }
  if (longest == 0) return std::map<std::string, double>();
  const auto observed_us = static_cast<double>(longest * store.tiers().front().step_us);
  for (auto& [interface, rate] : made) rate *= 1e6 / observed_us;
  return made;
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
  // While a place is still being read, a further key continues from that place.
  if (is_seeking_) now_us = place_.realtime_us;
  const std::uint64_t wanted_us = is_later ? now_us + step_us : now_us - std::min(now_us, step_us);
  const std::uint64_t last_us = extent_.end_us - std::min(extent_.end_us, 2 * point_us);
  place_ = {place_.number + 1, std::max(extent_.begin_us, std::min(wanted_us, last_us))};
  is_seeking_ = true;
}

std::string TopPast::position(std::uint64_t now_us, std::chrono::microseconds period,
                              const Notes& notes, const view::Look& look) const {
  if (store_.empty() || now_us == 0) return joined("", notes, look);
  constexpr std::uint64_t kWidth = 20;
  now_us = std::clamp(now_us, extent_.begin_us, extent_.end_us);
  const std::uint64_t length_us = std::max<std::uint64_t>(extent_.end_us - extent_.begin_us, 1);
  const auto part = static_cast<std::size_t>((now_us - extent_.begin_us) * kWidth / length_us);
  const std::string bar = std::string(part, '=') + "|" + std::string(kWidth - part, ' ');
  const std::string whole =
      look.moment(extent_.begin_us) + " [" + bar + "] " + look.moment(extent_.end_us) + "  ";
  const std::string here = "at " + look.moment(now_us) + "  " + pace(period) + "  ";
  if (notes.versus.empty() && notes.fault.empty()) {
    return whole + here + "t T a minute  < > speed";
  }
  const std::size_t needed = whole.size() + here.size() + notes.versus.size() +
                             notes.fault.size() + kBetween.size();
  const bool has_room = static_cast<int>(needed) < look.width;
  return joined((has_room ? whole : "") + here, notes, look);
}

}  // namespace tallyfs
