// What tallyctl reads, as JSON and as a recording: what is parsed is written again as it was, a
// recording is read to its end or refused with its line, and whatever its snapshots say can be
// subtracted and drawn. The input is a recording.
#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <string>

#include "core/base/fd.h"
#include "tests/fuzz/fuzzed.h"
#include "tools/display/change.h"
#include "tools/display/distribution.h"
#include "tools/display/heat.h"
#include "tools/display/heat_panel.h"
#include "tools/display/plot.h"
#include "tools/display/show.h"
#include "tools/display/summary.h"
#include "tools/tree/source.h"

namespace tallyfs::fuzz {
namespace {

constexpr int kMoments = 16;
constexpr std::size_t kInterfaces = 4;

void check_json(std::string_view text) {
  const auto json = parse_json(text);
  if (!json) {
    must(!json.error().reason.empty(), "a reason is given");
    must(json.error().token_at <= text.size(), "the place is inside");
    return;
  }
  const auto written = [](const Json& value) {
    std::string made;
    JsonWriter writer(made);
    write_json(writer, value);
    return made;
  };
  const std::string once = written(json.value());
  const auto again = parse_json(once);
  must(again.has_value(), "what was read can be written and read again");
  must(written(again.value()) == once, "and is the same");
}

// As tallyctl draws, on a narrow and a wide grid.
class Drawer {
 public:
  void draw(const view::Interface& interface, const view::Statistic& statistic,
            const view::Change& change) {
    check_percentiles(statistic);
    for (const int width : {20, 100}) {
      view::Look look{.width = width, .cut = true, .clock = [](std::uint64_t) { return "00:00"; }};
      view::Grid grid(width);
      view::draw_statistic(grid, interface, statistic, look);
      view::draw_rows(grid, {{&interface, &statistic, change}}, look);
      if (view::has_bars(statistic)) view::draw_bars(grid, statistic, look);
      if (const auto series = view::series_of(interface, statistic)) {
        view::draw_series(grid, *series, 10, look);
      }
      draw_heat(grid, interface, statistic, change, look);
      must(!grid.text().empty(), "something is drawn");
    }
  }

 private:
  static void check_percentiles(const view::Statistic& statistic) {
    const auto distribution = view::distribution_of(statistic, view::Detail::kFine);
    if (!distribution) return;
    for (const std::uint32_t millionths : {500'000u, 999'000u}) {
      const auto found = view::percentile(*distribution, millionths);
      if (!found || found->ends != view::Bin::Ends::kBoth) continue;
      must(found->low <= found->high, "a percentile has its bounds in order");
    }
  }

  static void draw_heat(view::Grid& grid, const view::Interface& interface,
                        const view::Statistic& statistic, const view::Change& change,
                        const view::Look& look) {
    if (!view::distribution_of(statistic, view::Detail::kOctaves)) return;
    view::HeatMap map(look, view::Colours::k256, view::Steps::kLog);
    map.draw_line(grid, statistic, change, interface.realtime_us, 1);
    const std::deque<view::HeatColumn> columns = {
        {.realtime_us = interface.realtime_us, .counted = change.counted}};
    view::draw_heat_panel(grid, {grid.height(), 0, look.width, 12}, {statistic, columns}, look);
  }
};

class Reader {
 public:
  void read(Source& source) {
    for (int i = 0; i < kMoments; ++i) {
      if (const auto tree = read_tree(source)) look_at(source, tree.value());
      const auto next = source.next(std::chrono::microseconds(0));
      if (!next) must(!next.error().reason.empty(), "a reason is given");
      if (!next || next.value() == Source::Next::kEnd) return;
    }
  }

 private:
  void look_at(Source& source, const view::Tree& tree) {
    for (std::size_t i = 0; i < std::min(tree.interfaces.size(), kInterfaces); ++i) {
      const std::string& name = tree.interfaces[i].name;
      auto now = read_interface(source, name);
      if (!now) continue;
      for (const view::Statistic& each : now.value().statistics) {
        drawer_.draw(now.value(), each,
                     view::change_between(before_[name], now.value(), each.name));
      }
      before_[name] = std::move(now).value();
    }
  }

  Drawer drawer_;
  std::map<std::string, view::Interface> before_;
};

void check_recording(std::string_view bytes) {
  const Fd file(::memfd_create("recording", MFD_CLOEXEC));
  must(file.valid(), "a file in memory");
  must(::write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
       "it is written");
  const auto source = open_recording("/proc/self/fd/" + std::to_string(file.get()));
  if (!source) return must(!source.error().reason.empty(), "a reason is given");
  Reader().read(*source.value());
}

}  // namespace
}  // namespace tallyfs::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  tallyfs::fuzz::Input lines(bytes, size);
  while (!lines.empty()) {
    // Apart, so that reading beyond its end is seen.
    tallyfs::fuzz::check_json(std::string(lines.until('\n')));
  }
  tallyfs::fuzz::check_recording(text);
  return 0;
}
