// The histograms of critical sections, a story for each rule.
#include "tests/unit/latency_hist_engine/story.h"

namespace tallyfs::latency_hist {
namespace {

class SectionStory : public StoryTest {
 protected:
  SectionStory() { on(Measuring::kSections); }
};

TEST_F(SectionStory, MeasuresInterruptsOffPreemptionOffAndEither) {
  replay(R"(
    100 cpu=0 preempt_off
    110 cpu=0 irqs_off
    115 cpu=0 irqs_on
    130 cpu=0 preempt_on
  )");
  EXPECT_EQ(measured(), "irqsoff CPU0 5\npreemptoff CPU0 30\npreemptirqsoff CPU0 30\n");
}

TEST_F(SectionStory, JoinsSectionsThatOverlap) {
  replay(R"(
    100 cpu=0 irqs_off
    110 cpu=0 preempt_off
    115 cpu=0 irqs_on
    130 cpu=0 preempt_on
  )");
  EXPECT_EQ(measured(), "irqsoff CPU0 15\npreemptoff CPU0 20\npreemptirqsoff CPU0 30\n");
}

TEST_F(SectionStory, BeginsWithTheFirstOfSeveralAndKeepsCpusApart) {
  replay(R"(
    100 cpu=0 irqs_off
    104 cpu=1 irqs_on
    105 cpu=0 irqs_off
    109 cpu=0 irqs_on
    119 cpu=0 irqs_on
  )");
  EXPECT_EQ(measured(), "irqsoff CPU0 9\npreemptirqsoff CPU0 9\n");
}

TEST_F(SectionStory, GivesUpASectionWhoseEndWasMissed) {
  replay(R"(
    100     cpu=0 irqs_off
    1000100 cpu=0 irqs_on
  )");
  EXPECT_EQ(measured(), "");
  EXPECT_EQ(unmatched(Latencies::kIrqsOff), 1u);
  EXPECT_EQ(unmatched(Latencies::kPreemptIrqsOff), 1u);
}

TEST_F(SectionStory, ForgetsSectionsAtALossAndWhenTheyAreSwitchedOff) {
  replay(R"(
    100 cpu=0 irqs_off
    110 cpu=0 lost 1
    120 cpu=0 irqs_on
    130 cpu=0 irqs_off
  )");
  off(Measuring::kSections);
  on(Measuring::kSections);
  replay("140 cpu=0 irqs_on");
  EXPECT_EQ(measured(), "");
  EXPECT_EQ(lost(Latencies::kPreemptOff), 1u);
}

}  // namespace
}  // namespace tallyfs::latency_hist
