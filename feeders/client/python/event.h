// tally.Event.
#pragma once

#include "feeders/client/python/python.h"

namespace tallyfs::python {

// Null: an error is set.
PyTypeObject* make_event_type();

}  // namespace tallyfs::python
