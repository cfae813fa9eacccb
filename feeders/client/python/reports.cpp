#include "feeders/client/python/reports.h"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <string>

namespace tallyfs::python {
namespace {

constexpr std::size_t kLinesMax = 64;
constexpr std::chrono::seconds kEndMax{1};

// Made once, and never destroyed: the library's thread may report while the process ends.
struct Reports {
  PyObject* function;
  std::mutex mutex{};
  std::condition_variable changed{};
  std::deque<std::string> lines{};
  bool is_running = false;  // the thread
  bool is_telling = false;
  bool has_ended = false;
};
Reports* g_reports = nullptr;

// Where the interpreter has ended the thread ends in here, by an unwinding that runs no destructors
// of this module (python.h).
void tell(PyObject* function, const std::string& text) {
  const PyGILState_STATE state = PyGILState_Ensure();
  const Ref line(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
  const Ref done(line ? PyObject_CallFunctionObjArgs(function, line.get(), nullptr) : nullptr);
  if (!done) PyErr_WriteUnraisable(function);
  PyGILState_Release(state);
}

void* run(void*) {
  std::unique_lock lock(g_reports->mutex);
  while (!g_reports->has_ended || !g_reports->lines.empty()) {
    if (g_reports->lines.empty()) {
      g_reports->changed.wait(lock);
      continue;
    }
    const std::string text = std::move(g_reports->lines.front());
    g_reports->lines.pop_front();
    g_reports->is_telling = true;
    lock.unlock();
    tell(g_reports->function, text);
    lock.lock();
    g_reports->is_telling = false;
    g_reports->changed.notify_all();
  }
  return nullptr;
}

bool start_thread() {
  // None of the program's signals is handled on a thread that it does not know.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_t thread{};
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = ::pthread_create(&thread, nullptr, &run, nullptr);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error == 0) ::pthread_detach(thread);
  return error == 0;
}

void after_fork_in_child() {
  new (&g_reports->changed) std::condition_variable;  // the parent's thread waits on the other
  g_reports->lines.clear();
  g_reports->is_running = g_reports->is_telling = false;
  g_reports->mutex.unlock();
}

}  // namespace

void begin_reports(PyObject* function) {
  Py_INCREF(function);
  g_reports = new Reports{.function = function};
  ::pthread_atfork([] { g_reports->mutex.lock(); }, [] { g_reports->mutex.unlock(); },
                   &after_fork_in_child);
}

bool has_reports() { return g_reports != nullptr; }

void add_report(const char* text) {
  const std::lock_guard lock(g_reports->mutex);
  if (g_reports->has_ended) return;
  if (g_reports->lines.size() == kLinesMax) g_reports->lines.pop_front();
  g_reports->lines.emplace_back(text);
  if (!g_reports->is_running) g_reports->is_running = start_thread();
  g_reports->changed.notify_all();
}

void end_reports() {
  if (!g_reports) return;
  PyThreadState* const state = PyEval_SaveThread();
  {
    std::unique_lock lock(g_reports->mutex);
    g_reports->changed.wait_for(lock, kEndMax, [] {
      return !g_reports->is_running || (g_reports->lines.empty() && !g_reports->is_telling);
    });
    g_reports->has_ended = true;
    g_reports->changed.notify_all();
  }
  PyEval_RestoreThread(state);
}

}  // namespace tallyfs::python
