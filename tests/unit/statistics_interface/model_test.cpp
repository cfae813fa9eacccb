// Random samples, switched on and off, reset, saved and loaded in between: the files say what a
// slow model says.
#include <limits>

#include "tests/unit/statistics_interface/fixture.h"
#include "tests/unit/statistics_interface/slow_model.h"

namespace tallyfs::statistics {
namespace {

constexpr int kStatistics = 150;
constexpr int kSteps = 60;

std::string pick(Random& random, std::vector<std::string> words) {
  return words[random.below(words.size())];
}

// Small numbers around zero, and now and then any of 63 bits: sums of few of those fit into 128.
std::int64_t draw_x(Random& random) {
  const auto any = static_cast<std::int64_t>(random.any());
  return random.below(20) == 0 ? any / 4 : any % 64;
}

SlowModel draw_model(Random& random, const std::string& type) {
  SlowModel model{.type = type};
  model.mode = pick(random, {"increments", "products"});
  if (type == "history" && random.below(3) == 0) model.mode = "range";
  model.scale = pick(random, {"lin", "log2"});
  model.entries_max = 1 + random.below(12);
  model.period_ns = static_cast<std::int64_t>(1 + random.below(5)) * 1000;
  model.range_min = draw_x(random) % 50;
  model.range_max = model.range_min + static_cast<std::int64_t>(random.below(100));
  if (type != "array" && random.below(2) == 0) {
    model.range_min = std::numeric_limits<std::int64_t>::min();
    model.range_max = std::numeric_limits<std::int64_t>::max();
  }
  if (type == "array" && model.scale == "log2" && random.below(2) == 0) {
    model.range_min = draw_x(random) * 2;
    model.range_max = std::max(model.range_min, draw_x(random) * 2);
  }
  model.base_interval = 1 + random.below(random.below(2) ? 9 : 1000);
  return model;
}

std::string definition_of(const SlowModel& model) {
  return "on=1 type=" + model.type +
         " mode=" + (model.type == "value" || model.type == "history" ? model.mode : "range") +
         " entries_max=" + std::to_string(model.entries_max) +
         " base_interval=" + std::to_string(model.base_interval) + " scale=" + model.scale +
         " period=" + std::to_string(model.period_ns / 1000) + " precision=0 quantiles=10,50,99" +
         " range_min=" + std::to_string(model.range_min) +
         " range_max=" + std::to_string(model.range_max);
}

std::vector<Sample> draw_run(Random& random, std::chrono::nanoseconds now) {
  std::vector<Sample> run(random.below(30));
  for (Sample& sample : run) {
    sample = {.x = draw_x(random), .y = random.below(4), .time = now};
    // Some ms late, as client time stamps may be; or a little early.
    if (random.below(3) == 0) sample.time -= std::chrono::nanoseconds(random.below(30'000));
    if (random.below(9) == 0) sample.time += std::chrono::nanoseconds(random.below(30'000));
  }
  return run;
}

struct Pair {
  Random& random;
  SlowModel model;
  Fixture fixture{definition_of(model)};

  std::int64_t now_ns() const { return fixture.clock.now().monotonic.count(); }

  void step() {
    switch (random.below(12)) {
      case 0:
        return switch_to(random.below(2) == 1);
      case 1:
        if (random.below(4) == 0) reset();
        return;
      case 2:
        return save_and_load();
      case 3:
      case 4:
      case 5: {
        const std::int64_t from = now_ns();
        fixture.clock.advance(
            std::chrono::nanoseconds(random.below(random.below(5) ? 4000 : 90'000)));
        return model.pass(from, now_ns());
      }
      default: {
        const auto run = draw_run(random, fixture.clock.now().monotonic);
        fixture.add(run);
        return model.add(run);
      }
    }
  }
  void switch_to(bool on) {
    ASSERT_EQ(fixture.define(on ? "on=1" : "on=0"), "");
    model.on = on;
    model.pass(now_ns(), now_ns());
  }
  void reset() {
    ASSERT_EQ(fixture.define("data=reset"), "");
    model.reset(now_ns());
  }
  void save_and_load() {
    const std::string bytes = fixture.saved();
    ByteReader in(bytes);
    auto loaded = Interface::load(in, fixture.ledger);
    ASSERT_TRUE(loaded.has_value());
    ASSERT_EQ(in.left(), 0u);
    fixture.interface = std::move(loaded.value());
  }
};

class ModelTest : public testing::TestWithParam<const char*> {};

TEST_P(ModelTest, SaysWhatTheSlowModelSays) {
  Random random;
  TRACE_SEED(random);
  for (int i = 0; i < kStatistics && !HasFailure(); ++i) {
    Pair pair{random, draw_model(random, GetParam())};
    pair.model.reset(0);
    SCOPED_TRACE(pair.fixture.definition());
    for (int step = 0; step < kSteps && !HasFailure(); ++step) {
      pair.step();
      ASSERT_EQ(pair.fixture.overview().on, pair.model.on ? 1u : 0u);
      ASSERT_EQ(pair.fixture.data(), pair.model.data());
      ASSERT_EQ(pair.fixture.attribute("hits_out_of_range"),
                std::to_string(pair.model.out_of_range));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EachType, ModelTest,
                         testing::Values("value", "range", "list", "array", "history", "raw",
                                         "quantiles", "last"),
                         [](const auto& type) { return std::string(type.param); });

}  // namespace
}  // namespace tallyfs::statistics
