// tally-feed-statsd --check: what lines would do, without a daemon and without a socket.
#pragma once

#include "feeders/statsd/series/settings.h"

namespace tallyfs::statsd {

// Reads lines from stdin and prints on stdout what each does: `INTERFACE/STATISTIC KIND XxY` for
// each sample, or why it is refused and where; and what was rounded or clipped. Each line of a set
// is a window of its own. Returns the exit status: 1 if a line was refused.
int check_lines(Settings settings);

}  // namespace tallyfs::statsd
