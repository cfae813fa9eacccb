// tally.Statistic and tally.View: how they come and go. Both are kinds of a type of their own, so
// that the functions of the C library's names take views, too.
#include <cstddef>

#include "feeders/client/python/arguments.h"
#include "feeders/client/python/objects.h"

namespace tallyfs::python {
namespace {

PyObject* make(PyTypeObject* type, PyObject*, PyObject*) {
  const auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  PyObject* const made = allocate(type, 0);
  if (made) fed_of(made).handle = &g_released;
  return made;
}

void link(FedObject& fed, InterfaceObject& interface, PyObject* name) {
  Py_INCREF(name);
  fed.name = name;
  Py_INCREF(reinterpret_cast<PyObject*>(&interface));
  fed.interface = &interface;
  fed.next = interface.first;
  if (fed.next) fed.next->previous = &fed;
  interface.first = &fed;
}

void unlink(FedObject& fed) {
  if (fed.next) fed.next->previous = fed.previous;
  (fed.previous ? fed.previous->next : fed.interface->first) = fed.next;
}

int fail(int error) {
  raise_last_error(error);
  return -1;
}

bool is_new(const FedObject& fed) {
  if (!fed.interface) return true;
  PyErr_SetString(PyExc_ValueError, "this was created already");
  return false;
}

int init_statistic(PyObject* self, PyObject* arguments, PyObject* named) {
  static constexpr const char* kNames[] = {"interface", "name", "units", nullptr};
  FedObject& fed = fed_of(self);
  PyObject* interface = nullptr;
  PyObject* object = nullptr;
  Text name{"name", Text::Absent::kNever, nullptr};
  Text units{"units", Text::Absent::kMayBe, nullptr};
  if (!parse(arguments, named, "O!O|O&:Statistic", kNames, g_types.interface, &interface, &object,
             &Text::convert, &units) ||
      !Text::convert(object, &name) || !is_new(fed)) {
    return -1;
  }
  ::statistic* made = nullptr;
  const int error =
      statistic_create(&made, interface_of(interface).handle, name.value, units.value);
  if (error != 0) return fail(error);
  fed.handle = made;
  link(fed, interface_of(interface), object);
  return 0;
}

int init_view(PyObject* self, PyObject* arguments, PyObject* named) {
  static constexpr const char* kNames[] = {"source", "name", nullptr};
  FedObject& fed = fed_of(self);
  PyObject* source = nullptr;
  PyObject* object = nullptr;
  Text name{"name", Text::Absent::kNever, nullptr};
  if (!parse(arguments, named, "O!O:View", kNames, g_types.statistic, &source, &object) ||
      !Text::convert(object, &name) || !is_new(fed)) {
    return -1;
  }
  ::statistic* made = nullptr;
  ::statistic* const of = is_released(fed_of(source)) ? nullptr : fed_of(source).handle;
  const int error = statistic_create_view(&made, of, name.value);
  if (error != 0) return fail(error);
  fed.handle = made;
  link(fed, *fed_of(source).interface, object);
  return 0;
}

void dealloc_shown(PyObject* self) {
  FedObject& fed = fed_of(self);
  PyObject_ClearWeakRefs(self);
  PyTypeObject* const type = Py_TYPE(self);
  if (fed.interface) {
    unlink(fed);
    Py_DECREF(reinterpret_cast<PyObject*>(fed.interface));
    Py_DECREF(fed.name);
  }
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(reinterpret_cast<PyObject*>(type));
}

PyObject* repr_shown(PyObject* self) {
  const FedObject& fed = fed_of(self);
  const bool is_view = PyObject_TypeCheck(self, g_types.view);
  const char* const kind = is_view ? "View" : "Statistic";
  if (!fed.interface) return PyUnicode_FromFormat("<tally.%s>", kind);
  return PyUnicode_FromFormat("<tally.%s %U/%U>", kind, fed.interface->name, fed.name);
}

PyObject* create_view(PyObject* self, PyObject* arguments, PyObject* named) {
  static constexpr const char* kNames[] = {"name", nullptr};
  PyObject* name = nullptr;
  if (!parse(arguments, named, "O:create_view", kNames, &name)) return nullptr;
  return PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(g_types.view), self, name,
                                      nullptr);
}

template <int (*Change)(::statistic*)>
PyObject* change(PyObject* self, PyObject*) {
  if (is_released(fed_of(self))) return none();
  const int error = Change(fed_of(self).handle);
  return error == 0 ? none() : raise_last_error(error);
}

PyObject* remove_shown(PyObject* self, PyObject*) {
  drop(fed_of(self), ServerSide::kDelete);
  return none();
}

PyObject* release_shown(PyObject* self, PyObject*) {
  drop(fed_of(self), ServerSide::kKeep);
  return none();
}

PyObject* is_on(PyObject* self, PyObject*) {
  return PyBool_FromLong(statistic_is_on(fed_of(self).handle));
}

PyObject* dropped(PyObject* self, PyObject*) {
  const FedObject& fed = fed_of(self);
  return PyLong_FromUnsignedLongLong(is_released(fed) ? 0 : statistic_dropped(fed.handle));
}

const PyMethodDef kOwnMethods[] = {
    {"inc", &inc, METH_O, "inc($self, x, /)\n--\n\n"
     "One sample of X, now: inc(2) is one sample whose value is 2, and a counter goes up by 1.\n"
     "add(x, 2) counts 2."},
    {"add", method(&add), METH_FASTCALL | METH_KEYWORDS,
     "add($self, /, x, y=1)\n--\n\nY times X, now."},
    {"add_at", method(&add_at), METH_FASTCALL | METH_KEYWORDS,
     "add_at($self, /, x, y, time_ns)\n--\n\n"
     "Y times X, at a time of time.monotonic_ns(). A time in the future counts as the time at\n"
     "which the daemon takes the sample in; 0 is now."},
    {"add_batch", method(&add_batch), METH_VARARGS | METH_KEYWORDS,
     "add_batch($self, /, xs, ys=None, times_ns=None)\n--\n\n"
     "Many samples, with a look at the clock for each 256. xs: numbers. ys, times_ns: as many, or\n"
     "one for all; None is a Y of 1, and now; a time of 0 is now. Fastest are array(\"q\") and\n"
     "other buffers of 64-bit numbers, such as numpy's arrays. If the lengths differ, all\n"
     "samples are invalid."},
    {"define_decimals", method(&define_decimals), METH_VARARGS | METH_KEYWORDS,
     "define_decimals($self, /, decimals)\n--\n\n"
     "X has so many decimal places, 0 to 9: floats are samples then, rounded half to even. An\n"
     "integer that is a sample, as range_min, range_max and base_interval, is X * 10^decimals.\n"
     "To be called before the other definitions."},
    {"define_help", method(&define_help), METH_VARARGS | METH_KEYWORDS,
     "define_help($self, /, help)\n--\n\n"
     "What it is, for people, as tallyctl, the web page and metrics show it: any text of one\n"
     "line, of at most 255 bytes, of which a blank takes three. None or \"\": nothing is said."},
    {"dropped", &dropped, METH_NOARGS,
     "dropped($self, /)\n--\n\nHow many of its samples were dropped, in this process."},
    {"is_on", &is_on, METH_NOARGS,
     "is_on($self, /)\n--\n\n"
     "Whether samples are wanted: for programs that have to work for a sample."},
    {"start", &change<&statistic_start>, METH_NOARGS,
     "start($self, /)\n--\n\n"
     "Turns it on. The first of start() and stop() says how it begins: that applies if it is\n"
     "new, and leaves alone what was there before, which its users have defined. Later ones are\n"
     "carried out, in their order with the samples that this thread adds. A daemon that is\n"
     "started again learns the last state."},
    {"stop", &change<&statistic_stop>, METH_NOARGS,
     "stop($self, /)\n--\n\nTurns it off; see start()."},
    {"reset", &change<&statistic_reset>, METH_NOARGS,
     "reset($self, /)\n--\n\nDiscards the samples that were counted so far."},
    {"remove", &remove_shown, METH_NOARGS,
     "remove($self, /)\n--\n\n"
     "Drops it here and from the tree. Samples that were added before are sent before."},
    {"release", &release_shown, METH_NOARGS,
     "release($self, /)\n--\n\n"
     "Drops it here. The tree keeps it, to be read. Samples that were added before are sent."},
    {"__enter__", &enter_itself, METH_NOARGS, nullptr},
    {"__exit__", &release_shown, METH_VARARGS, nullptr},
};

PyMemberDef g_shown_members[] = {
    {"name", T_OBJECT, offsetof(FedObject, name), READONLY, nullptr},
    {"interface", T_OBJECT, offsetof(FedObject, interface), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(FedObject, weak_references), READONLY, nullptr},
    {},
};

PyMethodDef g_statistic_methods[] = {
    {"create_view", method(&create_view), METH_VARARGS | METH_KEYWORDS,
     "create_view($self, /, name)\n--\n\n"
     "A new View of what is fed to this statistic. It begins with the definition of its source,\n"
     "on. One that is there already stays as its users have defined it. The source may be off:\n"
     "what is added after this call is for the view. At most 16 of a statistic.\n"
     "name: as a statistic's. Fails as Interface.statistic() does."},
    {},
};

constexpr const char* kShown =
    "What statistics and views share.\n\n"
    "Definitions say how the daemon shows it until a user decides otherwise. They apply to what\n"
    "this process brings into being: at once, or, with a daemon that is started later, then.\n"
    "What was there before stays as its users have defined it. The last call stands.\n\n"
    "X from range_min to range_max, signed 64-bit numbers, is of interest. Samples outside count\n"
    "in hits_out_of_range only; in an array they count in the first or the last interval, too.\n"
    "ValueError: a number is out of its bounds.";
constexpr const char* kStatistic =
    "Statistic(interface, name, units=None)\n--\n\n"
    "One statistic of an interface, made by Interface.statistic().\n\n"
    "Samples: while the statistic is off, a call returns at once and sends nothing. X is a\n"
    "signed, Y an unsigned 64-bit number; X may be a float where the statistic has decimals, and\n"
    "one that it cannot have is a ValueError. Other values are no samples: they raise nothing,\n"
    "are counted as statistic_count().invalid, and the first of a statistic is reported\n"
    "(Settings.report). Any thread and any signal handler may add samples, and __del__ may.\n\n"
    "As a context manager it is released at the end.";
constexpr const char* kView =
    "View(source, name)\n--\n\n"
    "One view of a statistic, made by Statistic.create_view(). The daemon gives it every sample\n"
    "that its source gets. It is defined, turned on and off, and dropped as a statistic is, but\n"
    "takes no samples of its own: those added to it are ignored. Views go with a source that is\n"
    "removed.";

PyTypeObject* make_type(const char* name, PyTypeObject* base, PyType_Slot* slots) {
  constexpr unsigned kFlags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  PyType_Spec spec{name, sizeof(FedObject), 0, kFlags, slots};
  const Ref bases(base ? PyTuple_Pack(1, base) : nullptr);
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpecWithBases(&spec, bases.get()));
}

std::vector<PyMethodDef> make_shown_methods() {
  std::vector<PyMethodDef> all = definition_methods();
  all.insert(all.end(), std::begin(kOwnMethods), std::end(kOwnMethods));
  all.push_back({});
  return all;
}

}  // namespace

bool make_statistic_types() {
  static std::vector<PyMethodDef> shown_methods = make_shown_methods();
  PyType_Slot shown[] = {
      {Py_tp_doc, const_cast<char*>(kShown)},
      {Py_tp_new, slot(&make)},
      {Py_tp_dealloc, slot(&dealloc_shown)},
      {Py_tp_repr, slot(&repr_shown)},
      {Py_tp_methods, shown_methods.data()},
      {Py_tp_members, g_shown_members},
      {0, nullptr},
  };
  PyType_Slot statistic[] = {
      {Py_tp_doc, const_cast<char*>(kStatistic)},
      {Py_tp_init, slot(&init_statistic)},
      {Py_tp_methods, g_statistic_methods},
      {0, nullptr},
  };
  PyType_Slot view[] = {
      {Py_tp_doc, const_cast<char*>(kView)},
      {Py_tp_init, slot(&init_view)},
      {0, nullptr},
  };
  g_types.shown = make_type("tally.Shown", nullptr, shown);
  if (!g_types.shown) return false;
  g_types.statistic = make_type("tally.Statistic", g_types.shown, statistic);
  g_types.view = make_type("tally.View", g_types.shown, view);
  return g_types.statistic && g_types.view;
}

}  // namespace tallyfs::python
