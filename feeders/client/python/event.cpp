// tally.Event: its values are put into the C structure that event_write() takes, by the grammar of
// fields that the library has.
#include "tally/event.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "core/model/field_grammar.h"
#include "feeders/client/python/arguments.h"
#include "feeders/client/python/event.h"
#include "feeders/client/python/invalid.h"

namespace tallyfs::python {
namespace {

constexpr std::size_t kFieldsMax = 64;
constexpr std::size_t kTextMax = 1'024;  // of a char[]

// A field of the structure.
struct Place {
  enum class Kind { kSigned, kUnsigned, kBool, kText, kLocated } kind;
  std::size_t bytes;
  std::size_t at;
};

struct Layout {
  std::vector<Place> places;
  std::size_t bytes = 0;
};

struct EventObject {
  PyObject_HEAD ::user_event* handle;  // null: released, or none was registered
  Layout* layout;
  PyObject* system;
  PyObject* name;
  PyObject* weak_references;
  bool told_invalid;
};

EventObject& event_of(PyObject* object) { return *reinterpret_cast<EventObject*>(object); }

Place::Kind kind_of(const ParsedField& field) {
  if (field.shape == ParsedField::Shape::kText) return Place::Kind::kText;
  if (field.shape == ParsedField::Shape::kLocated) return Place::Kind::kLocated;
  if (field.type->name == "bool") return Place::Kind::kBool;
  return field.type->is_signed ? Place::Kind::kSigned : Place::Kind::kUnsigned;
}

// Where the C compiler has its fields. What the library refuses it refuses when it registers.
Layout lay_out(std::span<const ParsedField> fields) {
  Layout layout;
  std::size_t alignment_max = 1;
  const auto up_to = [](std::size_t value, std::size_t step) {
    return (value + step - 1) / step * step;
  };
  for (const ParsedField& field : fields) {
    const Place::Kind kind = kind_of(field);
    const std::size_t bytes = kind == Place::Kind::kLocated ? sizeof(const char*) : field.bytes;
    const std::size_t alignment = kind == Place::Kind::kText ? 1 : std::max<std::size_t>(bytes, 1);
    const std::size_t at = up_to(layout.bytes, alignment);
    layout.places.push_back({kind, bytes, at});
    layout.bytes = at + bytes;
    alignment_max = std::max(alignment_max, alignment);
  }
  layout.bytes = up_to(layout.bytes, alignment_max);
  return layout;
}

// ---- values

// False: no text. `text` is its first bytes.
bool to_text(PyObject* object, std::size_t bytes_max, std::string& text) {
  Py_buffer buffer{};
  const Ref encoded(PyUnicode_Check(object) ? PyUnicode_AsUTF8String(object) : nullptr);
  if (PyUnicode_Check(object) && !encoded) return false;
  if (PyObject_GetBuffer(encoded ? encoded.get() : object, &buffer, PyBUF_SIMPLE) != 0) {
    return false;
  }
  text.assign(static_cast<const char*>(buffer.buf),
              std::min(static_cast<std::size_t>(buffer.len), bytes_max));
  PyBuffer_Release(&buffer);
  return true;
}

// On a little-endian machine, as x86-64 and AArch64 are, the first bytes of the number are the
// field.
static_assert(std::endian::native == std::endian::little);

bool put_signed(PyObject* value, const Place& place, char* structure) {
  std::int64_t number = 0;
  if (!to_signed(value, number)) return false;
  const int unused = static_cast<int>(64 - 8 * place.bytes);
  const auto bits = static_cast<std::uint64_t>(number);
  if (static_cast<std::int64_t>(bits << unused) >> unused != number) return false;
  std::memcpy(structure + place.at, &number, place.bytes);
  return true;
}

bool put_unsigned(PyObject* value, const Place& place, char* structure) {
  std::uint64_t number = 0;
  if (!to_unsigned(value, number)) return false;
  if (place.bytes < sizeof number && number >> (8 * place.bytes) != 0) return false;
  std::memcpy(structure + place.at, &number, place.bytes);
  return true;
}

// texts: keeps what the structure points at.
bool put(PyObject* value, const Place& place, char* structure, std::vector<std::string>& texts) {
  switch (place.kind) {
    case Place::Kind::kSigned:
      return put_signed(value, place, structure);
    case Place::Kind::kUnsigned:
      return put_unsigned(value, place, structure);
    case Place::Kind::kBool: {
      const int is_true = PyObject_IsTrue(value);
      structure[place.at] = static_cast<char>(is_true);
      return is_true >= 0;
    }
    case Place::Kind::kText: {
      std::string text;
      if (!to_text(value, place.bytes, text)) return false;
      std::memcpy(structure + place.at, text.data(), text.size());
      return true;
    }
    case Place::Kind::kLocated: {
      if (!to_text(value, kTextMax, texts.emplace_back())) return false;
      const char* const text = texts.back().c_str();
      std::memcpy(structure + place.at, &text, sizeof text);
      return true;
    }
  }
  return false;
}

bool write_values(EventObject& event, std::span<PyObject* const> values) {
  const Layout& layout = *event.layout;
  if (values.size() != layout.places.size()) return false;
  std::vector<char> structure(layout.bytes);
  std::vector<std::string> texts;
  texts.reserve(values.size());  // so that none of them moves
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!put(values[i], layout.places[i], structure.data(), texts)) return false;
  }
  (void)event_write(event.handle, structure.data(), structure.size());
  return true;
}

// ---- the type

const char* reason_of(int error) {
  if (error == -EEXIST) return "this process has the event already";
  if (error == -ENOSPC) return "this process has as many events as it may";
  if (error == -EAGAIN) return "no thread could be started";
  return "not a name, or not the fields of an event";
}

int init_event(PyObject* self, PyObject* arguments, PyObject* named) {
  static constexpr const char* kNames[] = {"system", "name", "fields", nullptr};
  EventObject& event = event_of(self);
  PyObject* objects[] = {nullptr, nullptr};
  Text system{"system", Text::Absent::kNever, nullptr};
  Text name{"name", Text::Absent::kNever, nullptr};
  Text fields{"fields", Text::Absent::kNever, nullptr};
  if (!parse(arguments, named, "OOO&:Event", kNames, &objects[0], &objects[1], &Text::convert,
             &fields) ||
      !Text::convert(objects[0], &system) || !Text::convert(objects[1], &name)) {
    return -1;
  }
  if (event.layout) {
    PyErr_SetString(PyExc_ValueError, "this event was created already");
    return -1;
  }
  const auto parsed = parse_fields(fields.value, kFieldsMax);
  if (!parsed) {
    const std::string part(parsed.error().part);
    PyErr_Format(PyExc_ValueError, "not a field of an event: '%s'", part.c_str());
    return -1;
  }
  const int error = event_register(&event.handle, system.value, name.value, fields.value);
  if (error != 0) {
    raise_error(error, reason_of(error));
    return -1;
  }
  event.layout = new Layout(lay_out(parsed.value()));
  for (PyObject* const each : objects) Py_INCREF(each);
  event.system = objects[0];
  event.name = objects[1];
  return 0;
}

void dealloc_event(PyObject* self) {
  EventObject& event = event_of(self);
  PyObject_ClearWeakRefs(self);
  PyTypeObject* const type = Py_TYPE(self);
  delete event.layout;
  Py_XDECREF(event.system);
  Py_XDECREF(event.name);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(reinterpret_cast<PyObject*>(type));
}

PyObject* repr_event(PyObject* self) {
  const EventObject& event = event_of(self);
  if (!event.name) return PyUnicode_FromString("<tally.Event>");
  return PyUnicode_FromFormat("<tally.Event %U/%U>", event.system, event.name);
}

PyObject* enabled(PyObject* self, PyObject*) {
  return PyBool_FromLong(event_enabled(event_of(self).handle));
}

PyObject* write_event(PyObject* self, PyObject* const* values, Py_ssize_t count) {
  EventObject& event = event_of(self);
  if (!event_enabled(event.handle)) return none();
  const std::span all(values, static_cast<std::size_t>(count));
  return write_values(event, all) ? none() : note_invalid(self, event.told_invalid, all);
}

PyObject* release_event(PyObject* self, PyObject*) {
  event_unregister(&event_of(self).handle);
  return none();
}

PyMethodDef g_event_methods[] = {
    {"enabled", &enabled, METH_NOARGS, "enabled($self, /)\n--\n\nWhether records are wanted."},
    {"write", method(&write_event), METH_FASTCALL,
     "write($self, /, *values)\n--\n\n"
     "A record, now: a value for each field, in their order; texts are str or bytes, and are cut\n"
     "to their room. A record without room is dropped and counted. Values that do not fit the\n"
     "fields raise nothing: they count as statistic_count().invalid, and the first of an event\n"
     "is reported."},
    {"release", &release_event, METH_NOARGS,
     "release($self, /)\n--\n\nEnds it. In the tree it goes with the process."},
    {"__enter__", &enter_itself, METH_NOARGS, nullptr},
    {"__exit__", &release_event, METH_VARARGS, nullptr},
    {},
};

PyMemberDef g_event_members[] = {
    {"system", T_OBJECT, offsetof(EventObject, system), READONLY, nullptr},
    {"name", T_OBJECT, offsetof(EventObject, name), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(EventObject, weak_references), READONLY, nullptr},
    {},
};

constexpr const char* kEventDocument =
    "Event(system, name, fields)\n--\n\n"
    "An event of this program: tracing/events/SYSTEM/NAME, see include/tally/event.h.\n\n"
    "    done = tally.Event(\"web\", \"done\", \"u64 lat; pid_t pid; char comm[16]\")\n"
    "    if done.enabled():\n"
    "        done.write(1750, os.getpid(), \"worker\")\n\n"
    "system, name: as an interface's name. fields: `TYPE NAME`, separated by semicolons, as in\n"
    "synthetic_events; 1 to 64. ValueError: a name or the fields. OSError: EEXIST, this process\n"
    "has it already; ENOSPC, this process has 4,096; EAGAIN, no thread could be started. A\n"
    "refusal of the daemon is reported like that of a statistic.\n\n"
    "As a context manager it is released at the end.";

}  // namespace

PyTypeObject* make_event_type() {
  PyType_Slot slots[] = {
      {Py_tp_doc, const_cast<char*>(kEventDocument)},
      {Py_tp_new, slot(&PyType_GenericNew)},
      {Py_tp_init, slot(&init_event)},
      {Py_tp_dealloc, slot(&dealloc_event)},
      {Py_tp_repr, slot(&repr_event)},
      {Py_tp_methods, g_event_methods},
      {Py_tp_members, g_event_members},
      {0, nullptr},
  };
  PyType_Spec spec{"tally.Event", sizeof(EventObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                   slots};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

}  // namespace tallyfs::python
