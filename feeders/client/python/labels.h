// labelled(): the name of a statistic with labels.
#pragma once

#include "feeders/client/python/python.h"

namespace tallyfs::python {

PyObject* labelled(PyObject* module, PyObject* arguments, PyObject* labels);

}  // namespace tallyfs::python
