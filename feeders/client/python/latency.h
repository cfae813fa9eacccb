// Calls of tally/latency.h.
#pragma once

#include "feeders/client/python/python.h"

namespace tallyfs::python {

PyObject* record_latency(PyObject* module, PyObject* arguments, PyObject* named);
PyObject* begin_latency(PyObject* module, PyObject* unused);
PyObject* end_latency(PyObject* module, PyObject* arguments, PyObject* named);

}  // namespace tallyfs::python
