// Samples, one at a time: the way that is to cost nanoseconds. Off, a call is two loads and a
// branch beyond Python's own. On, it is a call of libtally, with the GIL, since it does not wait.
#include <string>

#include "feeders/client/python/arguments.h"
#include "feeders/client/python/invalid.h"
#include "feeders/client/python/objects.h"

namespace tallyfs::python {
namespace {

constexpr Py_ssize_t kNone = -1;

Py_ssize_t place_of(PyObject* name, std::span<const char* const> parameters) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (PyUnicode_CompareWithASCIIString(name, parameters[i]) == 0) {
      return static_cast<Py_ssize_t>(i);
    }
  }
  return kNone;
}

// The arguments of a vector call by the places of their parameters; null: not given.
bool match(const char* call, std::span<const char* const> parameters, Py_ssize_t needed,
           std::span<PyObject* const> values, PyObject* names, PyObject** matched) {
  const Py_ssize_t named = names ? PyTuple_Size(names) : 0;
  const auto placed = static_cast<Py_ssize_t>(values.size()) - named;
  bool fits = placed <= static_cast<Py_ssize_t>(parameters.size());
  for (Py_ssize_t i = 0; fits && i < placed; ++i) matched[i] = values[static_cast<std::size_t>(i)];
  for (Py_ssize_t i = 0; fits && i < named; ++i) {
    const Py_ssize_t place = place_of(PyTuple_GetItem(names, i), parameters);
    fits = place != kNone && !matched[place];
    if (fits) matched[place] = values[static_cast<std::size_t>(placed + i)];
  }
  for (Py_ssize_t i = 0; fits && i < needed; ++i) fits = matched[i] != nullptr;
  if (fits) return true;
  std::string all;
  for (const char* const each : parameters) all.append(all.empty() ? "" : ", ").append(each);
  PyErr_Format(PyExc_TypeError, "%s() takes %s", call, all.c_str());
  return false;
}

void feed(FedObject& fed, std::int64_t x, std::uint64_t y) {
  if (!g_may_wait) [[likely]]
    return statistic_on_add(fed.handle, x, y);
  ::statistic* const handle = fed.handle;
  const Outside outside = leave_python(fed);
  statistic_on_add(handle, x, y);
  enter_python(outside);
}

void feed_at(FedObject& fed, const statistic_sample& sample) {
  if (!g_may_wait) return statistic_on_add_batch(fed.handle, &sample, 1);
  ::statistic* const handle = fed.handle;
  const Outside outside = leave_python(fed);
  statistic_on_add_batch(handle, &sample, 1);
  enter_python(outside);
}

IsX to_x(FedObject& fed, PyObject* object, std::int64_t& x) {
  return to_signed(object, x) ? IsX::kYes : float_to_x(fed, object, x);
}

}  // namespace

IsX float_to_x(FedObject& fed, PyObject* object, std::int64_t& x) {
  if (!PyFloat_Check(object)) return IsX::kNo;
  PyErr_Clear();
  const int error = statistic_to_x(fed.handle, PyFloat_AsDouble(object), &x);
  if (error == 0) return IsX::kYes;
  raise_last_error(error);
  return IsX::kRefused;
}

PyObject* inc(PyObject* self, PyObject* x) {
  FedObject& fed = fed_of(self);
  if (statistic_is_on(fed.handle)) {
    std::int64_t number = 0;
    if (!to_signed(x, number)) [[unlikely]] {
      if (const IsX is = float_to_x(fed, x, number); is != IsX::kYes) {
        return is == IsX::kRefused ? nullptr : note_invalid(self, fed.told_invalid, {x});
      }
    }
    feed(fed, number, 1);
  }
  return none();
}

PyObject* add(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  static constexpr const char* kNames[] = {"x", "y"};
  PyObject* matched[] = {nullptr, nullptr};
  if (count == 2 && !names) [[likely]] {
    matched[0] = values[0];
    matched[1] = values[1];
  } else {
    const Py_ssize_t all = count + (names ? PyTuple_Size(names) : 0);
    if (!match("add", kNames, 1, {values, static_cast<std::size_t>(all)}, names, matched)) {
      return nullptr;
    }
  }
  FedObject& fed = fed_of(self);
  if (!statistic_is_on(fed.handle)) return none();
  std::int64_t x = 0;
  std::uint64_t y = 1;
  const IsX is = to_x(fed, matched[0], x);
  if (is == IsX::kRefused) return nullptr;
  if (is == IsX::kYes && (!matched[1] || to_unsigned(matched[1], y))) [[likely]] {
    feed(fed, x, y);
    return none();
  }
  if (!matched[1]) return note_invalid(self, fed.told_invalid, {matched[0]});
  return note_invalid(self, fed.told_invalid, {matched[0], matched[1]});
}

PyObject* add_at(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  static constexpr const char* kNames[] = {"x", "y", "time_ns"};
  PyObject* matched[] = {nullptr, nullptr, nullptr};
  const Py_ssize_t all = count + (names ? PyTuple_Size(names) : 0);
  if (!match("add_at", kNames, 3, {values, static_cast<std::size_t>(all)}, names, matched)) {
    return nullptr;
  }
  FedObject& fed = fed_of(self);
  if (!statistic_is_on(fed.handle)) return none();
  statistic_sample sample{};
  const IsX is = to_x(fed, matched[0], sample.x);
  if (is == IsX::kRefused) return nullptr;
  if (is == IsX::kYes && to_unsigned(matched[1], sample.y) &&
      to_signed(matched[2], sample.time_ns)) {
    feed_at(fed, sample);
    return none();
  }
  return note_invalid(self, fed.told_invalid, {matched[0], matched[1], matched[2]});
}

}  // namespace tallyfs::python
