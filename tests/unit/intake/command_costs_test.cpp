// What the commands of a sender are charged with.
#include "feeders/intake/command_costs.h"

#include <gtest/gtest.h>

namespace tallyfs {
namespace {

using namespace std::chrono_literals;

// Of a machine that has time for the thread, or none.
class SharedClock final : public Clock {
 public:
  Timestamp now() const override { return {.monotonic = passed_, .realtime = {}}; }
  std::chrono::nanoseconds cpu_time() const override { return worked_; }

  void work(std::chrono::nanoseconds time) {
    worked_ += time;
    passed_ += time;
  }
  void stand_still(std::chrono::nanoseconds time) { passed_ += time; }

 private:
  std::chrono::nanoseconds passed_{7h};
  std::chrono::nanoseconds worked_{3s};
};

class CommandCostsTest : public testing::Test {
 protected:
  void carry_out(std::chrono::nanoseconds work, std::chrono::nanoseconds without = 0ns) {
    costs_.begin();
    const auto begun = clock_.now().monotonic;
    clock_.work(work);
    clock_.stand_still(without);
    costs_.add(clock_.now().monotonic - begun);
  }

  SharedClock clock_;
  CommandCosts costs_{clock_};
};

TEST_F(CommandCostsTest, AreWhatTheCommandsTook) {
  carry_out(2ms);
  carry_out(3ms);
  EXPECT_EQ(costs_.take(), 5ms);
  EXPECT_EQ(costs_.take(), 0ns);
}

TEST_F(CommandCostsTest, AreNothingOfTheTimeInWhichOthersHadTheCpu) {
  carry_out(50us, 40ms);
  carry_out(50us);
  EXPECT_EQ(costs_.take(), 100us);
}

TEST_F(CommandCostsTest, AreNothingOfWorkBeforeTheCommands) {
  carry_out(1ms);
  EXPECT_EQ(costs_.take(), 1ms);
  clock_.work(1h);
  carry_out(20us, 1s);
  EXPECT_EQ(costs_.take(), 20us);
}

TEST_F(CommandCostsTest, AreNothingOfCheapCommands) {
  for (int i = 0; i < 1'000; ++i) carry_out(Accounts::kCostly - 1ns);
  EXPECT_EQ(costs_.take(), 0ns);
}

// A program that starts creates thousands of statistics, as a rule with a request for each.
TEST_F(CommandCostsTest, AreNothingOfShortWritesForTheNextServer) {
  const auto write = [&](std::chrono::nanoseconds work) {
    costs_.begin();
    clock_.work(work);
    costs_.add_write(work);
  };
  for (int i = 0; i < 2'000; ++i) write(16us);
  EXPECT_EQ(costs_.take(), 0ns);
  write(3ms);
  EXPECT_EQ(costs_.take(), 3ms);
}

}  // namespace
}  // namespace tallyfs
