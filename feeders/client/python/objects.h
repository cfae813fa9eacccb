// Python's objects for the library's interfaces and statistics. The library's outlive them: an
// object that is dropped by the program leaves its statistic registered. One that is released or
// removed, by itself or with its interface, is off for good: it points at kReleased. Guarded by the
// GIL.
#pragma once

#include <cstdint>
#include <vector>

#include "feeders/client/python/python.h"
#include "tally/statistic.h"

namespace tallyfs::python {

enum class ServerSide { kDelete, kKeep };

struct FedObject;

// An object to be dropped when no call uses the interface any more.
struct Drop {
  ::statistic* statistic;
  ::statistic_interface* interface;
  ServerSide server_side;
};

struct InterfaceObject {
  PyObject_HEAD ::statistic_interface* handle;  // null: released, or none was created
  PyObject* name;
  PyObject* weak_references;
  FedObject* first;          // of its statistics and views
  unsigned calls;            // that have given the GIL away, with a statistic of it
  std::vector<Drop>* drops;  // that wait for these; null: none
};

// A statistic or a view.
struct FedObject {
  PyObject_HEAD ::statistic* handle;
  InterfaceObject* interface;  // null: none was created
  PyObject* name;
  PyObject* weak_references;
  FedObject* next;
  FedObject* previous;
  bool told_invalid;
};

struct Types {
  PyTypeObject* interface;
  PyTypeObject* shown;  // what statistics and views share
  PyTypeObject* statistic;
  PyTypeObject* view;
};
extern Types g_types;

// The switch of what is released.
extern ::statistic g_released;

// Settings.wait_ms is not 0: a call that adds samples may wait.
extern bool g_may_wait;

inline FedObject& fed_of(PyObject* object) { return *reinterpret_cast<FedObject*>(object); }
inline InterfaceObject& interface_of(PyObject* object) {
  return *reinterpret_cast<InterfaceObject*>(object);
}
inline bool is_released(const FedObject& fed) { return fed.handle == &g_released; }

void drop(InterfaceObject& interface, ServerSide server_side);
void drop(FedObject& fed, ServerSide server_side);

// A call that may wait for the daemon: other threads run meanwhile, and what they drop is dropped
// afterwards. No destructor does this: Python may end a daemon thread in enter_python().
struct Outside {
  InterfaceObject* interface;
  PyThreadState* state;
};
Outside leave_python(FedObject& fed);
void enter_python(const Outside& outside);

// Makes a type of the module; null: an error is set.
PyTypeObject* make_interface_type();
bool make_statistic_types();

// Whether an object is an X. kRefused: a float that the statistic does not take; an error is set.
enum class IsX { kYes, kNo, kRefused };
// Converts an object that is no integer. An error may be set from the attempt to read an integer,
// and stays set with kNo.
IsX float_to_x(FedObject& fed, PyObject* object, std::int64_t& x);

// The methods of samples, which statistics and views share.
PyObject* inc(PyObject* self, PyObject* x);
PyObject* add(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names);
PyObject* add_at(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names);
PyObject* add_batch(PyObject* self, PyObject* arguments, PyObject* named);

// Methods that define properties of any type. definition_methods() has those that define a type,
// without an end mark.
PyObject* define_decimals(PyObject* self, PyObject* arguments, PyObject* named);
PyObject* define_help(PyObject* self, PyObject* arguments, PyObject* named);
const std::vector<PyMethodDef>& definition_methods();

}  // namespace tallyfs::python
