// Calls that concern the whole process: settings, sending, counts, and the end.
#pragma once

#include "feeders/client/python/python.h"

namespace tallyfs::python {

PyObject* configure(PyObject* module, PyObject* arguments);
PyObject* flush(PyObject* module, PyObject* unused);
PyObject* sync(PyObject* module, PyObject* arguments, PyObject* named);
PyObject* count(PyObject* module, PyObject* unused);
PyObject* finish(PyObject* module, PyObject* unused);

// finish() was called: an interpreter that begins afterwards is another one.
bool has_finished();

// In a forked child nothing is counted yet. Once.
void watch_forks();

}  // namespace tallyfs::python
