// Lines of StatsD: every line is taken or refused, a refusal has a reason and a place, and what is
// taken becomes statistics with names that tallyfs accepts.
#include <set>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "feeders/statsd/listen/stream_framing.h"
#include "feeders/statsd/series/map_file.h"
#include "feeders/statsd/series/translator.h"
#include "tests/fuzz/fuzzed.h"

namespace tallyfs::statsd {
namespace {

class CheckingOutlet final : public Outlet {
 public:
  std::optional<Id> open(const NewSeries& series) override {
    fuzz::must(is_name(series.interface), "a name of an interface");
    fuzz::must(is_name(series.name), "a name of a statistic");
    return opened_++;
  }
  void add(Id series, const Sample& sample) override {
    fuzz::must(series < opened_ && sample.y != 0, "a sample of a series");
    fuzz::must(!removed_.contains(series), "a sample of a series that is there");
    added += 1;
  }
  void remove(Id series) override {
    fuzz::must(series < opened_ && removed_.insert(series).second, "a series that is there");
  }
  void write(const Event& event) override { fuzz::must(!event.title.empty(), "a title"); }
  void write(const Check& check) override { fuzz::must(!check.name.empty(), "a name"); }

  std::uint64_t added = 0;

 private:
  Id opened_ = 0;
  std::set<Id> removed_;
};

void take(std::string_view packet, const Settings& settings, bool is_unix) {
  CheckingOutlet outlet;
  std::uint64_t refused = 0;
  const auto on_refusal = [&](std::string_view line, const Refusal& refusal, const Arrival&) {
    fuzz::must(refusal.at <= line.size() && refusal.text[0] != '\0', "a place and a reason");
    refused += 1;
  };
  Translator translator(settings, outlet, on_refusal);
  Arrival arrival{.now = {std::chrono::hours(1), std::chrono::hours(400'000)},
                  .keeps_signs = is_unix};
  StreamFraming framing(is_unix ? StreamFraming::Kind::kDetected : StreamFraming::Kind::kLines);
  const auto on_packet = [&](std::string_view each) {
    translator.take_packet(each, arrival);
    translator.finish();
    // Names give way to those of the next packet.
    arrival.now.monotonic += std::chrono::hours(1);
  };
  if (framing.take(packet, on_packet) == StreamFraming::State::kOpen) {
    (void)framing.finish(on_packet);
  }
  translator.end_set_windows(arrival.now.monotonic);
  const Counts& counts = translator.counts();
  fuzz::must(counts.metrics + counts.events + counts.checks + refused >= counts.lines,
             "each line taken or refused");
  fuzz::must(outlet.added >= counts.events + counts.checks, "samples of events and checks");
}

}  // namespace
}  // namespace tallyfs::statsd

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace tallyfs::statsd;  // NOLINT(google-build-using-namespace): this function alone
  if (size == 0) return 0;
  const std::string_view packet(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  Settings settings;
  settings.limits = {.series_max = 8, .per_name_max = 3};
  settings.name_tags = static_cast<NameTags>(bytes[0] % 3);
  settings.has_container_tag = (bytes[0] & 4) != 0;
  if (auto map = parse_map(packet.substr(0, packet.size() / 4))) settings.map = map.value();
  take(packet, settings, (bytes[0] & 8) != 0);
  return 0;
}
