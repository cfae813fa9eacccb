// The extension module tally._tally: Python's package `tally` over libtally. Types and functions
// are made once for the process, as the library's own client is: a sub-interpreter is refused.
//
// Threads: all functions are called with the GIL. Those that may wait for the daemon give it away
// meanwhile (statistic_sync, statistic_flush, the end, and with Settings.wait_ms the calls that add
// samples). The library's own thread never takes it: reports have a thread of their own.
#include "feeders/client/python/event.h"
#include "feeders/client/python/invalid.h"
#include "feeders/client/python/labels.h"
#include "feeders/client/python/latency.h"
#include "feeders/client/python/objects.h"
#include "feeders/client/python/process.h"

namespace tallyfs::python {
namespace {

PyTypeObject* g_event_type = nullptr;

PyObject* version(PyObject*, PyObject*) { return PyUnicode_FromString(tally_version()); }

PyMethodDef g_functions[] = {
    {"configure", &configure, METH_VARARGS, nullptr},
    {"count", &count, METH_NOARGS, nullptr},
    {"set_describe", &set_describe, METH_O, nullptr},
    {"finish", &finish, METH_NOARGS,
     "finish($module, /)\n--\n\n"
     "Sends the samples that are held, within 0.25 s, and ends the library's thread and that of\n"
     "reports. Later samples are sent when the process ends."},
    {"statistic_flush", &flush, METH_NOARGS,
     "statistic_flush($module, /)\n--\n\n"
     "Sends the samples that are held. Waits no longer than wait_ms. OSError: EAGAIN, the\n"
     "daemon's queue is full, or it has not answered a registration yet; ENOTCONN, there is no\n"
     "daemon. Samples that could not be sent are still held, and sent later."},
    {"statistic_sync", method(&sync), METH_VARARGS | METH_KEYWORDS,
     "statistic_sync($module, /, timeout_ms)\n--\n\n"
     "Registers and sends everything, and waits until the daemon has taken it in: a reader sees\n"
     "it then. timeout_ms: 0 to 60,000. OSError: ETIMEDOUT, not within timeout_ms; ENOTCONN,\n"
     "there is no daemon; else the daemon's answer to the first interface or statistic that it\n"
     "refuses: EPERM, it is another user's; ENOSPC, a quota; EINVAL, a definition. ValueError:\n"
     "timeout_ms."},
    {"tally_version", &version, METH_NOARGS,
     "tally_version($module, /)\n--\n\nThe version of the library, \"MAJOR.MINOR.PATCH\"."},
    {"labelled", method(&labelled), METH_VARARGS | METH_KEYWORDS,
     "labelled($module, name, /, **labels)\n--\n\n"
     "The name of a statistic with labels: labelled(\"latency\", route=\"/cart\", code=200).\n"
     "Values are made texts by str(). What names may not have is escaped, and shown as it was.\n"
     "ValueError: the name, an empty key, a text with NUL, or more than 255 bytes in all."},
    {"latency_record", method(&record_latency), METH_VARARGS | METH_KEYWORDS,
     "latency_record($module, /, type, cpu, ns, pid, prio, comm=None)\n--\n\n"
     "Records a latency of ns nanoseconds, which ended now, of a task that ran on this CPU, in\n"
     "the directory tracing/latency_hist/TYPE, which is made if need be. It is sent at once.\n\n"
     "type: a name as an interface's. cpu, pid: 0 to 2^31-1. ns: a signed 64-bit number. prio:\n"
     "as max_latency shows it, -99 to 99: 1 to 99 for real-time tasks, -21 for usual ones. comm:\n"
     "the task's name; 15 bytes of it are kept. ValueError: an argument. OSError: EAGAIN, the\n"
     "daemon's queue is full; ENOTCONN, there is no daemon. Then the latency is dropped, and\n"
     "counted as `dropped` in statistics/tallyfs. In the summary of its directory it is counted\n"
     "as `lost` when the next one is sent there, at statistic_flush(), or when the process ends.\n"
     "\n"
     "The daemon may refuse it: the name is the kernel's own, there is no such CPU, or the\n"
     "directory is another uid's. That stands in its tracing/error_log."},
    {"latency_begin", &begin_latency, METH_NOARGS,
     "latency_begin($module, /)\n--\n\n"
     "The time at which a section begins, for latency_end()."},
    {"latency_end", method(&end_latency), METH_VARARGS | METH_KEYWORDS,
     "latency_end($module, /, type, mark)\n--\n\n"
     "Records the time since mark, for the calling thread, on the CPU on which it runs. Fails as\n"
     "latency_record() does."},
    {},
};

bool make_types() {
  if (g_event_type) return true;
  g_types.interface = make_interface_type();
  if (!g_types.interface || !make_statistic_types()) return false;
  g_event_type = make_event_type();
  if (g_event_type) watch_forks();
  return g_event_type != nullptr;
}

bool add_type(PyObject* module, const char* name, PyTypeObject* type) {
  PyObject* const object = reinterpret_cast<PyObject*>(type);
  Py_INCREF(object);
  if (PyModule_AddObject(module, name, object) == 0) return true;
  Py_DECREF(object);
  return false;
}

int refuse(const char* why) {
  PyErr_SetString(PyExc_ImportError, why);
  return -1;
}

int fill(PyObject* module) {
#ifdef Py_GIL_DISABLED
  return refuse("tally was not tried without the GIL: use a Python that has it");
#endif
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
    return refuse("tally works in the main interpreter only");
  }
  if (has_finished()) return refuse("the interpreter that had tally has ended");
  if (!make_types()) return -1;
  const bool has_all = add_type(module, "Interface", g_types.interface) &&
                       add_type(module, "Shown", g_types.shown) &&
                       add_type(module, "Statistic", g_types.statistic) &&
                       add_type(module, "View", g_types.view) &&
                       add_type(module, "Event", g_event_type);
  return has_all ? 0 : -1;
}

PyModuleDef_Slot g_slots[] = {{Py_mod_exec, slot(&fill)}, {0, nullptr}};

PyModuleDef g_module = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "tally._tally",
    .m_doc = "What tally is made of; see there.",
    .m_size = 0,
    .m_methods = g_functions,
    .m_slots = g_slots,
    .m_traverse = nullptr,
    .m_clear = nullptr,
    .m_free = nullptr,
};

}  // namespace
}  // namespace tallyfs::python

PyMODINIT_FUNC PyInit__tally() { return PyModuleDef_Init(&tallyfs::python::g_module); }
