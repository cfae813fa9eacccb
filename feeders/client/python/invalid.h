// Values that no sample and no record can have. They are counted, and reported once for each
// statistic and event, and never raise: on=1 in a definition cannot end a feeder. Guarded by the
// GIL.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "feeders/client/python/python.h"

namespace tallyfs::python {

// Says what to report: describe(subject, values) is a line of text.
PyObject* set_describe(PyObject* module, PyObject* describe);

// `count` samples of `subject` are none, with these values for example; `told`: one of it was
// reported already. Returns None, or null if an error is set that is no Exception, as
// KeyboardInterrupt, which a number's own code has raised.
PyObject* note_invalid(PyObject* subject, bool& told, std::span<PyObject* const> values,
                       std::uint64_t count = 1);
inline PyObject* note_invalid(PyObject* subject, bool& told,
                              std::initializer_list<PyObject*> values, std::uint64_t count = 1) {
  return note_invalid(subject, told, std::span(values.begin(), values.size()), count);
}

std::uint64_t count_invalid();
// In a forked child: since the fork.
void forget_invalid();

}  // namespace tallyfs::python
