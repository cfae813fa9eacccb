// tally.Interface.
#include <cstddef>

#include "feeders/client/python/arguments.h"
#include "feeders/client/python/objects.h"

namespace tallyfs::python {
namespace {

int init_interface(PyObject* self, PyObject* arguments, PyObject* named) {
  static constexpr const char* kNames[] = {"name", "flags", nullptr};
  InterfaceObject& interface = interface_of(self);
  PyObject* object = nullptr;
  Text name{"name", Text::Absent::kNever, nullptr};
  Unsigned flags{"flags", 0, STATISTIC_LIFETIME_FEEDER | STATISTIC_FEED_OWNER, 0};
  if (!parse(arguments, named, "O|O&:Interface", kNames, &object, &Unsigned::convert, &flags) ||
      !Text::convert(object, &name)) {
    return -1;
  }
  if (interface.name) {
    PyErr_SetString(PyExc_ValueError, "this interface was created already");
    return -1;
  }
  const int error =
      statistic_create_interface(&interface.handle, name.value, static_cast<unsigned>(flags.value));
  if (error != 0) {
    raise_last_error(error);
    return -1;
  }
  Py_INCREF(object);
  interface.name = object;
  return 0;
}

void dealloc_interface(PyObject* self) {
  PyObject_ClearWeakRefs(self);
  PyTypeObject* const type = Py_TYPE(self);
  Py_XDECREF(interface_of(self).name);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(reinterpret_cast<PyObject*>(type));
}

PyObject* repr_interface(PyObject* self) {
  PyObject* const name = interface_of(self).name;
  return name ? PyUnicode_FromFormat("<tally.Interface %U>", name)
              : PyUnicode_FromString("<tally.Interface>");
}

PyObject* make_statistic(PyObject* self, PyObject* arguments, PyObject* named) {
  static constexpr const char* kNames[] = {"name", "units", nullptr};
  PyObject* name = nullptr;
  PyObject* units = Py_None;
  if (!parse(arguments, named, "O|O:statistic", kNames, &name, &units)) return nullptr;
  return PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(g_types.statistic), self, name,
                                      units, nullptr);
}

PyObject* remove_interface(PyObject* self, PyObject*) {
  drop(interface_of(self), ServerSide::kDelete);
  return none();
}

PyObject* release_interface(PyObject* self, PyObject*) {
  drop(interface_of(self), ServerSide::kKeep);
  return none();
}

PyMethodDef g_interface_methods[] = {
    {"statistic", method(&make_statistic), METH_VARARGS | METH_KEYWORDS,
     "statistic($self, /, name, units=None)\n--\n\n"
     "A new Statistic, of type value and off until a define_ call, start() or its users change\n"
     "it. name: as an interface's. units: of X and Y, \"microseconds/requests\"; 1 to 255 bytes\n"
     "without white space and =. Fails as Interface() does."},
    {"remove", &remove_interface, METH_NOARGS,
     "remove($self, /)\n--\n\n"
     "Drops the interface and its statistics here and from the tree. Samples that were added\n"
     "before are sent before."},
    {"release", &release_interface, METH_NOARGS,
     "release($self, /)\n--\n\n"
     "Drops the interface and its statistics here. The tree keeps them, to be read."},
    {"__enter__", &enter_itself, METH_NOARGS, nullptr},
    {"__exit__", &release_interface, METH_VARARGS, nullptr},
    {},
};

PyMemberDef g_interface_members[] = {
    {"name", T_OBJECT, offsetof(InterfaceObject, name), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(InterfaceObject, weak_references), READONLY,
     nullptr},
    {},
};

constexpr const char* kInterfaceDocument =
    "Interface(name, flags=0)\n--\n\n"
    "A group of statistics, read at one moment: a directory under statistics/.\n\n"
    "The daemon hears of it within milliseconds. It may refuse it: the name belongs to another\n"
    "user, or a quota is reached. statistic_sync() and Settings.report say so; samples are\n"
    "dropped and counted, and it is requested again every 10 s.\n\n"
    "name: 1 to 255 bytes of printable UTF-8 without white space, / and =. flags: 0, or\n"
    "STATISTIC_LIFETIME_FEEDER and STATISTIC_FEED_OWNER, combined. ValueError: the name or a\n"
    "flag. OSError: EEXIST, this process has it already; ENOSPC, this process has 65,536; EAGAIN,\n"
    "no thread could be started.\n\n"
    "As a context manager it is released at the end.";

}  // namespace

PyTypeObject* make_interface_type() {
  PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>(kInterfaceDocument)},
      {Py_tp_new, slot(&PyType_GenericNew)},
      {Py_tp_init, slot(&init_interface)},
      {Py_tp_dealloc, slot(&dealloc_interface)},
      {Py_tp_repr, slot(&repr_interface)},
      {Py_tp_methods, g_interface_methods},
      {Py_tp_members, g_interface_members},
      {0, nullptr},
  };
  PyType_Spec spec{"tally.Interface", sizeof(InterfaceObject), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

}  // namespace tallyfs::python
