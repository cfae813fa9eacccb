// The grammar of an event's fields, as definitions of events have them: synthetic_events,
// `event define` on the socket, and libtally's calls. One parser, so that a program refuses no
// field that the daemon takes for good.
//
//   FIELDS = FIELD { [";"] FIELD } [";"]
//   FIELD  = ["unsigned"] TYPE ARRAY NAME  or  ["unsigned"] TYPE NAME ARRAY
//   ARRAY  = nothing, "[]" or "[" N "]", without white space before it
//   TYPE   = one of the names in field_grammar.cpp; `unsigned` stands before char, int and
//            long only
//   NAME   = an identifier, see is_identifier()
//
// Arrays: `char[N]`, N bytes with N from 1 to kFieldTextBytesMax; `char[]`, a text of any length;
// `long[]` and `unsigned long[]`, a stack. Blanks around ";" are free; no field reaches beyond it.
//
// Pure functions: any thread. The results view the text.
#pragma once

#include <boost/system/result.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tallyfs {

inline constexpr std::uint32_t kFieldTextBytesMax = 256;

struct FieldType {
  std::string_view name;  // "u64", "unsigned long"
  std::uint32_t bytes;
  bool is_signed;
};

struct ParsedField {
  enum class Shape {
    kNumber,
    kText,     // char[N]
    kLocated,  // char[]
    kStack,    // long[], unsigned long[]
  };

  const FieldType* type = nullptr;  // of an array, its elements'; lives for ever
  std::string_view brackets;        // "[16]", "[]"; empty: it is a number
  std::string_view name;
  Shape shape = Shape::kNumber;
  std::uint32_t bytes = 0;  // of the number, or N; 0 for a shape without a length of its own
};

// Why a text has no fields. Each grammar makes an error of its own of it.
struct FieldRefusal {
  enum class Cause {
    kIncompleteType,  // nothing behind `unsigned TYPE`
    kIncomplete,      // a type without a name
    kBadName,
    kUnknownType,
    kUnclosedArray,
    kTwoArrays,  // behind the type and behind the name
    kBadArray,   // of a type that makes none, or of a bad length
    kTooManyFields,
  };

  Cause cause = Cause::kIncomplete;
  std::string_view word;  // the place: the first word of the field, or that of its name
  std::string_view part;  // what is wrong: the word, or a part of the field
};
[[noreturn]] void throw_exception_from_error(const FieldRefusal& refusal,
                                             const boost::source_location& where);

// No fields: the text has no words.
boost::system::result<std::vector<ParsedField>, FieldRefusal> parse_fields(std::string_view text,
                                                                           std::size_t fields_max);

// A letter or '_', then letters, digits and '_'; at most kNameBytesMax bytes.
bool is_identifier(std::string_view text);

}  // namespace tallyfs
