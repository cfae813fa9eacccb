#include "feeders/client/python/arguments.h"

#include <cerrno>
#include <cstring>
#include <string>

#include "tally/statistic.h"

namespace tallyfs::python {
namespace {

template <typename Number>
int fail_range(const Number& wanted, PyObject* object) {
  if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) return 0;
  PyErr_Clear();
  const std::string text = std::string(wanted.name) + " must be a number from " +
                           std::to_string(wanted.least) + " to " + std::to_string(wanted.most);
  PyErr_Format(PyExc_ValueError, "%s, not %R", text.c_str(), object);
  return 0;
}

}  // namespace

bool to_signed_slowly(PyObject* object, std::int64_t& value) {
  const Ref number(PyNumber_Index(object));
  if (!number) return false;
  int overflow = 0;
  value = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
  return overflow == 0;
}

bool to_unsigned_slowly(PyObject* object, std::uint64_t& value) {
  const Ref number(PyNumber_Index(object));
  if (!number) return false;
  value = PyLong_AsUnsignedLongLong(number.get());
  return value != UINT64_MAX || !PyErr_Occurred();
}

int Signed::convert(PyObject* object, void* argument) {
  Signed& wanted = *static_cast<Signed*>(argument);
  const bool fits = PyLong_Check(object) && to_signed(object, wanted.value);
  const bool is_in_range = fits && wanted.value >= wanted.least && wanted.value <= wanted.most;
  return is_in_range ? 1 : fail_range(wanted, object);
}

int Unsigned::convert(PyObject* object, void* argument) {
  Unsigned& wanted = *static_cast<Unsigned*>(argument);
  const bool fits = PyLong_Check(object) && to_unsigned(object, wanted.value);
  const bool is_in_range = fits && wanted.value >= wanted.least && wanted.value <= wanted.most;
  return is_in_range ? 1 : fail_range(wanted, object);
}

int Word::convert(PyObject* object, void* argument) {
  Word& wanted = *static_cast<Word*>(argument);
  std::string all;
  for (std::size_t i = 0; i < wanted.words.size(); ++i) {
    if (PyUnicode_Check(object) && PyUnicode_CompareWithASCIIString(object, wanted.words[i]) == 0) {
      wanted.value = static_cast<int>(i);
      return 1;
    }
    all.append(i == 0 ? "" : ", ").append(wanted.words[i]);
  }
  PyErr_Format(PyExc_ValueError, "%s must be one of %s, not %R", wanted.name, all.c_str(), object);
  return 0;
}

int Text::convert(PyObject* object, void* argument) {
  Text& wanted = *static_cast<Text*>(argument);
  if (object == Py_None && wanted.absent == Absent::kMayBe) return 1;
  Py_ssize_t bytes = 0;
  const char* const text =
      PyUnicode_Check(object) ? PyUnicode_AsUTF8AndSize(object, &bytes) : nullptr;
  if (text && std::strlen(text) == static_cast<std::size_t>(bytes)) {
    wanted.value = text;
    return 1;
  }
  // A surrogate by itself has left an error, which is a ValueError, too.
  if (!PyErr_Occurred()) {
    PyErr_Format(PyExc_ValueError, "%s must be a text without NUL, not %R", wanted.name, object);
  }
  return 0;
}

PyObject* raise_error(int error, const char* reason) {
  if (error != -EINVAL) return raise_os_error(error, reason);
  PyErr_SetString(PyExc_ValueError, reason);
  return nullptr;
}

PyObject* raise_last_error(int error) { return raise_error(error, statistic_last_error()); }

PyObject* raise_os_error(int error, const char* reason) {
  if (error == -ENOMEM) return PyErr_NoMemory();
  const Ref arguments(Py_BuildValue("is", -error, reason));
  if (arguments) PyErr_SetObject(PyExc_OSError, arguments.get());
  return nullptr;
}

}  // namespace tallyfs::python
