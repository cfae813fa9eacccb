#include "feeders/client/python/process.h"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "feeders/client/python/arguments.h"
#include "feeders/client/python/invalid.h"
#include "feeders/client/python/objects.h"
#include "feeders/client/python/reports.h"

namespace tallyfs::python {
namespace {

using Clock = std::chrono::steady_clock;
using Ms = std::chrono::milliseconds;

// How long a wait for the daemon may keep Ctrl-C from Python: from the first of these on, doubled
// up to the last, since each begins to wait anew for what was added meanwhile.
constexpr Ms kWaitMin{50};
constexpr Ms kWaitMax{1000};

bool g_has_finished = false;

// The library has the settings' text; the function is kept.
int apply(statistic_settings& settings, PyObject* function) {
  if (function != Py_None) settings.report = [](const char* text, void*) { add_report(text); };
  const int error = statistic_configure(&settings);
  if (error != 0) return error;
  if (function != Py_None) begin_reports(function);
  g_may_wait = settings.wait_ms != 0;
  return 0;
}

int sync_once(Ms time_max) {
  PyThreadState* const state = PyEval_SaveThread();
  const int error = statistic_sync(static_cast<unsigned>(time_max.count()));
  PyEval_RestoreThread(state);
  return error;
}

}  // namespace

PyObject* configure(PyObject*, PyObject* arguments) {
  static constexpr const char* kNames[] = {"socket", "delay_us", "wait_ms", "held_max",
                                           "report", "no_lane",  nullptr};
  PyObject* path = nullptr;
  Unsigned delay_us{"delay_us", 0, 10'000'000, 0};
  Unsigned wait_ms{"wait_ms", 0, 60'000, 0};
  Unsigned held_max{"held_max", 1'024, 1'048'576, 0};
  PyObject* report = nullptr;
  int no_lane = 0;
  if (!parse(arguments, nullptr, "OO&O&O&Op:statistic_configure", kNames, &path, &Unsigned::convert,
             &delay_us, &Unsigned::convert, &wait_ms, &Unsigned::convert, &held_max, &report,
             &no_lane)) {
    return nullptr;
  }
  if (report != Py_None && !PyCallable_Check(report)) {
    PyErr_SetString(PyExc_TypeError, "report must be a function, or None");
    return nullptr;
  }
  PyObject* encoded = nullptr;
  if (path != Py_None && !PyUnicode_FSConverter(path, &encoded)) return nullptr;
  const Ref socket(encoded);
  statistic_settings settings = STATISTIC_SETTINGS_DEFAULT;
  settings.socket = socket ? PyBytes_AsString(socket.get()) : nullptr;
  settings.delay_us = static_cast<std::uint32_t>(delay_us.value);
  settings.wait_ms = static_cast<std::uint32_t>(wait_ms.value);
  settings.held_max = static_cast<std::uint32_t>(held_max.value);
  settings.no_lane = no_lane != 0;
  const int error = apply(settings, report);
  return error == 0 ? none() : raise_last_error(error);
}

PyObject* flush(PyObject*, PyObject*) {
  PyThreadState* const state = PyEval_SaveThread();
  const int error = statistic_flush();
  PyEval_RestoreThread(state);
  return error == 0 ? none() : raise_os_error(error, statistic_last_error());
}

PyObject* sync(PyObject*, PyObject* arguments, PyObject* named) {
  static constexpr const char* kNames[] = {"timeout_ms", nullptr};
  Unsigned timeout_ms{"timeout_ms", 0, 60'000, 0};
  if (!parse(arguments, named, "O&:statistic_sync", kNames, &Unsigned::convert, &timeout_ms)) {
    return nullptr;
  }
  const auto deadline = Clock::now() + Ms(timeout_ms.value);
  Ms left(timeout_ms.value);
  for (Ms wait = kWaitMin;; wait = std::min(2 * wait, kWaitMax)) {
    const int error = sync_once(std::min(wait, left));
    if (error == 0) return none();
    if (PyErr_CheckSignals() != 0) return nullptr;
    left = std::chrono::ceil<Ms>(deadline - Clock::now());
    const bool is_final = error != -ETIMEDOUT && error != -ENOTCONN;
    if (is_final || left.count() <= 0) return raise_os_error(error, statistic_last_error());
  }
}

PyObject* count(PyObject*, PyObject*) {
  statistic_counts counts{};
  statistic_count(&counts, sizeof counts);
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  return Py_BuildValue("KKKKKKK", number(counts.added), number(counts.held), number(counts.sent),
                       number(counts.confirmed), number(counts.lost), number(counts.dropped),
                       number(count_invalid()));
}

PyObject* finish(PyObject*, PyObject*) {
  PyThreadState* const state = PyEval_SaveThread();
  statistic_finish();
  PyEval_RestoreThread(state);
  end_reports();
  g_has_finished = true;
  return none();
}

bool has_finished() { return g_has_finished; }

void watch_forks() { ::pthread_atfork(nullptr, nullptr, &forget_invalid); }

}  // namespace tallyfs::python
