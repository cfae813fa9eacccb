// Arguments of calls as the C library wants them, and its errors as exceptions. The structures are
// for "O&" of PyArg_ParseTupleAndKeywords(): each has the name of its argument, for the text of the
// ValueError. Needs the GIL.
#pragma once

#include <cstdint>
#include <span>

#include "feeders/client/python/python.h"

namespace tallyfs::python {

// A signed number.
struct Signed {
  const char* name;
  std::int64_t least;
  std::int64_t most;
  std::int64_t value;
  static int convert(PyObject* object, void* argument);
};

// An unsigned number.
struct Unsigned {
  const char* name;
  std::uint64_t least;
  std::uint64_t most;
  std::uint64_t value;
  static int convert(PyObject* object, void* argument);
};

// One of some words; value is its place among them.
struct Word {
  const char* name;
  std::span<const char* const> words;
  int value;
  static int convert(PyObject* object, void* argument);
};

// A text without NUL, which lives as long as its object; None: null, if it may be absent.
struct Text {
  const char* name;
  enum class Absent { kNever, kMayBe } absent;
  const char* value;
  static int convert(PyObject* object, void* argument);
};

// PyArg_ParseTupleAndKeywords() with names that are const.
template <typename... Target>
bool parse(PyObject* arguments, PyObject* named, const char* format, const char* const* names,
           Target... targets) {
  return PyArg_ParseTupleAndKeywords(arguments, named, format, const_cast<char**>(names),
                                     targets...) != 0;
}

// Numbers of samples. False: the object is none. An error may be set then; see note_invalid().
bool to_signed_slowly(PyObject* object, std::int64_t& value);
bool to_unsigned_slowly(PyObject* object, std::uint64_t& value);
inline bool to_signed(PyObject* object, std::int64_t& value) {
  if (!PyLong_CheckExact(object)) return to_signed_slowly(object, value);
  int overflow = 0;
  value = PyLong_AsLongLongAndOverflow(object, &overflow);
  return overflow == 0;
}
inline bool to_unsigned(PyObject* object, std::uint64_t& value) {
  if (!PyLong_CheckExact(object)) return to_unsigned_slowly(object, value);
  value = PyLong_AsUnsignedLongLong(object);
  return value != UINT64_MAX || !PyErr_Occurred();
}

// A call of libtally has returned this negative errno. ValueError for -EINVAL, else OSError.
// Returns null.
PyObject* raise_error(int error, const char* reason);
// raise_error() with the reason of statistic_last_error().
PyObject* raise_last_error(int error);
// Raises OSError, also for -EINVAL: the daemon has answered that.
PyObject* raise_os_error(int error, const char* reason);

}  // namespace tallyfs::python
