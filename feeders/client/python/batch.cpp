// Statistic.add_batch(): columns of numbers, taken in pieces that stay in the nearest cache. A
// buffer of 64-bit numbers is read in place; anything else is iterated once.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "feeders/client/python/arguments.h"
#include "feeders/client/python/invalid.h"
#include "feeders/client/python/objects.h"

namespace tallyfs::python {
namespace {

enum class Sign { kSigned, kUnsigned };

// X, Y or times: a number for all rows, a buffer, or the objects of an iterable.
class Column {
 public:
  Column(Sign sign, std::int64_t absent) : sign_(sign), number_(absent) {}
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;
  ~Column() {
    if (buffer_.obj) PyBuffer_Release(&buffer_);
  }

  // False: an error is set, as the iterable's own.
  bool take(PyObject* values);
  // None: for all rows.
  std::optional<Py_ssize_t> rows() const;
  // All numbers are read without Python, and fit.
  bool is_plain() const { return kind_ == Kind::kNumber || (kind_ == Kind::kBuffer && fits_); }
  // Requires is_plain().
  std::int64_t at(Py_ssize_t row) const {
    if (kind_ == Kind::kNumber) return number_;
    std::int64_t number = 0;
    std::memcpy(&number, static_cast<const char*>(buffer_.buf) + row * stride_, sizeof number);
    return number;
  }
  // For any column. False: the value is no number of 64 bits.
  bool convert(Py_ssize_t row, std::int64_t& number) const;
  // Floats are X of that statistic. A number that it refuses is no number, and an error is set.
  void take_floats(FedObject& fed) { fed_ = &fed; }
  bool is_refused() const { return is_refused_; }
  // A new reference; for a report.
  PyObject* shown(Py_ssize_t row) const;

 private:
  enum class Kind { kNumber, kBuffer, kObjects, kObject };
  bool take_buffer(PyObject* values);
  bool take_objects(PyObject* values);
  bool to_number(PyObject* object, std::int64_t& number) const;

  FedObject* fed_ = nullptr;
  mutable bool is_refused_ = false;
  Sign sign_;
  Kind kind_ = Kind::kNumber;
  std::int64_t number_;
  Py_buffer buffer_{};
  Py_ssize_t stride_ = 0;
  bool fits_ = true;  // no number of the buffer is too large for the sign
  Ref objects_;       // a tuple; or the one object that stands for all rows
};

bool Column::take(PyObject* values) {
  if (values == Py_None && number_ != INT64_MIN) return true;
  if (PyLong_Check(values) && to_number(values, number_)) return true;
  return take_buffer(values) || (!PyErr_Occurred() && take_objects(values));
}

// Numbers of the other sign are read, too, if each of them fits: numpy's integers are signed.
bool Column::take_buffer(PyObject* values) {
  if (!PyObject_CheckBuffer(values)) return false;
  if (PyObject_GetBuffer(values, &buffer_, PyBUF_RECORDS_RO) != 0) {
    PyErr_Clear();
    return false;
  }
  const bool is_row = buffer_.ndim == 1 && buffer_.itemsize == sizeof number_ && buffer_.format;
  const bool is_signed = is_row && std::strchr("ql", buffer_.format[0]);
  const bool is_unsigned = is_row && std::strchr("QL", buffer_.format[0]);
  if (!(is_signed || is_unsigned) || buffer_.format[1] != '\0') {
    PyBuffer_Release(&buffer_);
    return false;
  }
  kind_ = Kind::kBuffer;
  stride_ = buffer_.strides ? buffer_.strides[0] : buffer_.itemsize;
  if (is_signed == (sign_ == Sign::kSigned)) return true;
  std::int64_t all = 0;
  for (Py_ssize_t row = 0; row < buffer_.shape[0]; ++row) all |= at(row);
  fits_ = all >= 0;
  return true;
}

bool Column::take_objects(PyObject* values) {
  const Ref iterator(PyObject_GetIter(values));
  if (iterator) {
    kind_ = Kind::kObjects;
    objects_ = Ref(PySequence_Tuple(iterator.get()));
    return static_cast<bool>(objects_);
  }
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
  PyErr_Clear();
  kind_ = Kind::kObject;
  Py_INCREF(values);
  objects_ = Ref(values);
  return true;
}

std::optional<Py_ssize_t> Column::rows() const {
  if (kind_ == Kind::kBuffer) return buffer_.shape[0];
  if (kind_ == Kind::kObjects) return PyTuple_Size(objects_.get());
  return std::nullopt;
}

bool Column::to_number(PyObject* object, std::int64_t& number) const {
  if (sign_ == Sign::kSigned) {
    if (to_signed(object, number)) return true;
    const IsX is = fed_ ? float_to_x(*fed_, object, number) : IsX::kNo;
    is_refused_ = is == IsX::kRefused;
    return is == IsX::kYes;
  }
  std::uint64_t bits = 0;
  if (!to_unsigned(object, bits)) {
    if (PyErr_ExceptionMatches(PyExc_Exception)) PyErr_Clear();
    return false;
  }
  number = static_cast<std::int64_t>(bits);
  return true;
}

bool Column::convert(Py_ssize_t row, std::int64_t& number) const {
  if (kind_ == Kind::kObjects) return to_number(PyTuple_GetItem(objects_.get(), row), number);
  if (kind_ == Kind::kObject) return to_number(objects_.get(), number);
  number = at(row);
  return fits_ || number >= 0;
}

PyObject* Column::shown(Py_ssize_t row) const {
  PyObject* const object = kind_ == Kind::kObjects  ? PyTuple_GetItem(objects_.get(), row)
                           : kind_ == Kind::kObject ? objects_.get()
                                                    : nullptr;
  Py_XINCREF(object);
  if (object) return object;
  const std::int64_t number = at(row);
  return sign_ == Sign::kSigned ? PyLong_FromLongLong(number)
                                : PyLong_FromUnsignedLongLong(static_cast<std::uint64_t>(number));
}

struct Columns {
  Column xs{Sign::kSigned, INT64_MIN};  // None is no X
  Column ys{Sign::kUnsigned, 1};
  Column times_ns{Sign::kSigned, 0};  // now

  bool is_plain() const { return xs.is_plain() && ys.is_plain() && times_ns.is_plain(); }
  Py_ssize_t rows() const { return xs.rows().value_or(1); }
  bool have_one_length() const {
    return ys.rows().value_or(rows()) == rows() && times_ns.rows().value_or(rows()) == rows();
  }
  Py_ssize_t longest() const {
    return std::max({rows(), ys.rows().value_or(0), times_ns.rows().value_or(0)});
  }
};

// Samples on their way to the statistic, which may be released or switched off meanwhile.
class Piece {
 public:
  explicit Piece(FedObject& fed) : fed_(fed) {}
  statistic_sample& next() {
    if (count_ == samples_.size()) send();
    return samples_[count_];
  }
  void keep() { count_ += 1; }
  void send();

 private:
  static constexpr std::size_t kSamples = 256;
  FedObject& fed_;
  std::size_t count_ = 0;
  std::array<statistic_sample, kSamples> samples_;
};

void Piece::send() {
  const std::size_t count = std::exchange(count_, 0);
  if (count == 0 || !statistic_is_on(fed_.handle)) return;
  if (!g_may_wait) return statistic_on_add_batch(fed_.handle, samples_.data(), count);
  ::statistic* const handle = fed_.handle;
  const Outside outside = leave_python(fed_);
  statistic_on_add_batch(handle, samples_.data(), count);
  enter_python(outside);
}

void add_plain(FedObject& fed, const Columns& columns) {
  Piece piece(fed);
  const Py_ssize_t rows = columns.rows();
  for (Py_ssize_t row = 0; row < rows; ++row) {
    piece.next() = {columns.xs.at(row), static_cast<std::uint64_t>(columns.ys.at(row)),
                    columns.times_ns.at(row)};
    piece.keep();
  }
  piece.send();
}

// Sends the rows before the refused one, and sets its error.
PyObject* refuse(const Columns& columns, Piece& piece, Py_ssize_t row) {
  piece.send();
  std::int64_t x = 0;
  (void)columns.xs.convert(row, x);  // sets the error
  return nullptr;
}

// With a look at each number. The first row that is no sample is kept for a report.
PyObject* add_others(FedObject& fed, const Columns& columns) {
  Piece piece(fed);
  std::uint64_t invalid = 0;
  Py_ssize_t example = 0;
  for (Py_ssize_t row = 0; row < columns.rows(); ++row) {
    statistic_sample& sample = piece.next();
    std::int64_t y = 0;
    if (columns.xs.convert(row, sample.x) && columns.ys.convert(row, y) &&
        columns.times_ns.convert(row, sample.time_ns)) {
      sample.y = static_cast<std::uint64_t>(y);
      piece.keep();
      continue;
    }
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) return nullptr;
    PyErr_Clear();
    if (columns.xs.is_refused()) return refuse(columns, piece, row);
    if (invalid++ == 0) example = row;
  }
  piece.send();
  if (invalid == 0) return none();
  const Ref x(columns.xs.shown(example));
  const Ref y(columns.ys.shown(example));
  const Ref time_ns(columns.times_ns.shown(example));
  return note_invalid(reinterpret_cast<PyObject*>(&fed), fed.told_invalid,
                      {x.get(), y.get(), time_ns.get()}, invalid);
}

}  // namespace

PyObject* add_batch(PyObject* self, PyObject* arguments, PyObject* named) {
  static constexpr const char* kNames[] = {"xs", "ys", "times_ns", nullptr};
  PyObject* xs = nullptr;
  PyObject* ys = Py_None;
  PyObject* times_ns = Py_None;
  if (!parse(arguments, named, "O|OO:add_batch", kNames, &xs, &ys, &times_ns)) return nullptr;
  FedObject& fed = fed_of(self);
  if (!statistic_is_on(fed.handle)) return none();
  Columns columns;
  if (!columns.xs.take(xs) || !columns.ys.take(ys) || !columns.times_ns.take(times_ns)) {
    return nullptr;
  }
  if (!columns.have_one_length()) {
    return note_invalid(self, fed.told_invalid, {xs, ys, times_ns},
                        static_cast<std::uint64_t>(columns.longest()));
  }
  columns.xs.take_floats(fed);
  if (!columns.is_plain()) return add_others(fed, columns);
  add_plain(fed, columns);
  return none();
}

}  // namespace tallyfs::python
