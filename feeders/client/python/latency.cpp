#include "feeders/client/python/latency.h"

#include <cerrno>

#include "feeders/client/python/arguments.h"
#include "tally/latency.h"

namespace tallyfs::python {
namespace {

PyObject* answer(int error) {
  if (error == 0) return none();
  return raise_error(error, error == -EAGAIN     ? "the daemon's queue is full"
                            : error == -ENOTCONN ? "there is no daemon"
                                                 : "the type must be a name as an interface's");
}

}  // namespace

PyObject* record_latency(PyObject*, PyObject* arguments, PyObject* named) {
  static constexpr const char* kNames[] = {"type", "cpu", "ns", "pid", "prio", "comm", nullptr};
  Text type{"type", Text::Absent::kNever, nullptr};
  Unsigned cpu{"cpu", 0, INT32_MAX, 0};
  Signed ns{"ns", INT64_MIN, INT64_MAX, 0};
  Signed pid{"pid", 0, INT32_MAX, 0};
  Signed prio{"prio", -99, 99, 0};
  Text comm{"comm", Text::Absent::kMayBe, nullptr};
  if (!parse(arguments, named, "O&O&O&O&O&|O&:latency_record", kNames, &Text::convert, &type,
             &Unsigned::convert, &cpu, &Signed::convert, &ns, &Signed::convert, &pid,
             &Signed::convert, &prio, &Text::convert, &comm)) {
    return nullptr;
  }
  return answer(latency_record(type.value, static_cast<unsigned>(cpu.value), ns.value,
                               static_cast<pid_t>(pid.value), static_cast<int>(prio.value),
                               comm.value));
}

PyObject* begin_latency(PyObject*, PyObject*) {
  return PyLong_FromLongLong(latency_begin().time_ns);
}

PyObject* end_latency(PyObject*, PyObject* arguments, PyObject* named) {
  static constexpr const char* kNames[] = {"type", "mark", nullptr};
  Text type{"type", Text::Absent::kNever, nullptr};
  Signed mark{"mark", INT64_MIN, INT64_MAX, 0};
  if (!parse(arguments, named, "O&O&:latency_end", kNames, &Text::convert, &type, &Signed::convert,
             &mark)) {
    return nullptr;
  }
  return answer(latency_end(type.value, {mark.value}));
}

}  // namespace tallyfs::python
