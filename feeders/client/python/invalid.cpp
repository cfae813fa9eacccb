#include "feeders/client/python/invalid.h"

#include "feeders/client/python/reports.h"

namespace tallyfs::python {
namespace {

std::uint64_t g_count = 0;
PyObject* g_describe = nullptr;

void report(PyObject* subject, std::span<PyObject* const> values) {
  const Ref list(PyList_New(0));
  for (PyObject* const each : values) {
    if (list && PyList_Append(list.get(), each) != 0) break;
  }
  const Ref line(PyObject_CallFunctionObjArgs(g_describe, subject, list.get(), nullptr));
  const Ref bytes(line ? PyUnicode_AsEncodedString(line.get(), "utf-8", "backslashreplace")
                       : nullptr);
  if (bytes) add_report(PyBytes_AsString(bytes.get()));
  PyErr_Clear();
}

}  // namespace

PyObject* set_describe(PyObject*, PyObject* describe) {
  Py_INCREF(describe);
  const Ref before(std::exchange(g_describe, describe));
  return none();
}

PyObject* note_invalid(PyObject* subject, bool& told, std::span<PyObject* const> values,
                       std::uint64_t count) {
  if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) return nullptr;
  PyErr_Clear();
  g_count += count;
  if (!std::exchange(told, true) && has_reports() && g_describe) report(subject, values);
  return none();
}

std::uint64_t count_invalid() { return g_count; }

void forget_invalid() { g_count = 0; }

}  // namespace tallyfs::python
