// A definition of each type, with bounds that a test of all of them reaches soon.
#pragma once

namespace tallyfs::statistics {

inline constexpr const char* kEachType[] = {
    "on=1 units=a/b",
    "on=1 mode=products range_min=-5",
    "on=1 type=range range_max=100",
    "on=1 type=list entries_max=2",
    "on=1 type=array base_interval=2 scale=log2 range_min=-3 range_max=50",
    "on=1 type=array base_interval=2 scale=lin range_min=-3 range_max=50",
    "on=1 type=history entries_max=3 mode=increments period=1000",
    "on=1 type=history entries_max=3 mode=products period=1000",
    "on=1 type=history entries_max=3 mode=range period=1000",
    "on=1 type=raw entries_max=3",
    "on=1 type=quantiles precision=3 quantiles=50,99.9 range_min=-20",
    "on=1 type=quantiles precision=8 quantiles=1 units=microseconds/requests",
    "on=1 type=last range_max=100",
    "on=1 type=history entries_max=3 mode=quantiles period=1000 precision=2 quantiles=50,99",
    "on=1 type=history entries_max=9 mode=quantiles period=1000 precision=0 quantiles=1,2,3,4,5",
    "on=1 type=range range_min=0 range_max=0",
    "on=1 type=array base_interval=1 scale=lin range_min=0 range_max=0",
    "on=1 type=history entries_max=3 mode=increments period=1",
};

}  // namespace tallyfs::statistics
