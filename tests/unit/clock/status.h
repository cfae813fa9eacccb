// What the instrumentation clock says of itself, as a program would ask.
#pragma once

#include <gtest/gtest.h>

#include "tally/clock.h"

inline tally_clock_status status() {
  tally_clock_status status{};
  EXPECT_EQ(tally_clock_get_status(&status, sizeof status), 0);
  return status;
}
