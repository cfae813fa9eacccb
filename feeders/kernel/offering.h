// Tells the daemon of all events that there are (core/wire/FORMAT.md, kind 9).
#pragma once

#include "core/base/result.h"
#include "feeders/client/link.h"
#include "feeders/kernel/catalogue.h"

namespace tallyfs {

// Some 2 MB for 2,000 events, in datagrams that wait for the daemon to take those before, each for
// some seconds at most; returns when all have been taken in. kNotFound: there is no daemon; kBusy:
// it does not take them.
Result<void> offer_all(const Catalogue& catalogue, Link& link);

}  // namespace tallyfs
