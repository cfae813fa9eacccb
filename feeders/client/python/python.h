// Python's C API, and small helpers that all files of the module need. From Python 3.11 on the
// stable ABI has all functions that are used here, so that a module serves later versions, too.
#pragma once

#include <patchlevel.h>
#if PY_VERSION_HEX >= 0x030B0000
#define Py_LIMITED_API 0x030B0000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <span>
#include <utility>

namespace tallyfs::python {

// Owns one reference; null: none. Needs the GIL. The destructor does not run where Python ends the
// thread: the module is compiled without exceptions.
class Ref {
 public:
  Ref() = default;
  explicit Ref(PyObject* owned) : object_(owned) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }
  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

inline PyObject* none() {
  Py_INCREF(Py_None);
  return Py_None;
}

// __enter__ of a context manager.
inline PyObject* enter_itself(PyObject* self, PyObject*) {
  Py_INCREF(self);
  return self;
}

// The table of methods has one type for functions of all shapes.
template <typename Function>
PyCFunction method(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

template <typename Function>
void* slot(Function* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace tallyfs::python
