#include "feeders/client/python/labels.h"

#include <string>
#include <vector>

#include "feeders/client/python/arguments.h"
#include "tally/statistic.h"

namespace tallyfs::python {
namespace {

// False, with the exception set: the object has no text, or one with NUL.
bool take_text(PyObject* object, std::vector<std::string>& texts) {
  PyObject* const text = PyObject_Str(object);
  if (!text) return false;
  Py_ssize_t size = 0;
  const char* const bytes = PyUnicode_AsUTF8AndSize(text, &size);
  if (bytes) texts.emplace_back(bytes, static_cast<std::size_t>(size));
  Py_DECREF(text);
  if (!bytes) return false;
  if (texts.back().find('\0') == std::string::npos) return true;
  PyErr_SetString(PyExc_ValueError, "a label must have no NUL");
  return false;
}

std::vector<const char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

}  // namespace

PyObject* labelled(PyObject*, PyObject* arguments, PyObject* labels) {
  Text family{"name", Text::Absent::kNever, nullptr};
  if (!PyArg_ParseTuple(arguments, "O&:labelled", &Text::convert, &family)) return nullptr;
  std::vector<std::string> keys;
  std::vector<std::string> values;
  PyObject* key = nullptr;
  PyObject* value = nullptr;
  for (Py_ssize_t at = 0; labels && PyDict_Next(labels, &at, &key, &value);) {
    if (!take_text(key, keys) || !take_text(value, values)) return nullptr;
  }
  char name[STATISTIC_NAME_SIZE];
  const int error =
      statistic_name_with_labels(name, sizeof name, family.value, pointers_to(keys).data(),
                                 pointers_to(values).data(), keys.size());
  return error == 0 ? PyUnicode_FromString(name) : raise_last_error(error);
}

}  // namespace tallyfs::python
