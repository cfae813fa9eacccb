#include "core/model/field_grammar.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <optional>

#include "core/base/text.h"

namespace tallyfs {
namespace {

constexpr FieldType kTypes[] = {
    {"s64", 8, true},
    {"u64", 8, false},
    {"s32", 4, true},
    {"u32", 4, false},
    {"s16", 2, true},
    {"u16", 2, false},
    {"s8", 1, true},
    {"u8", 1, false},
    {"char", 1, true},
    {"int", 4, true},
    {"long", 8, true},
    {"bool", 1, true},
    {"pid_t", 4, true},
    {"gfp_t", 4, false},
    {"unsigned char", 1, false},
    {"unsigned int", 4, false},
    {"unsigned long", 8, false},
};

const FieldType* find_type(std::string_view word, bool is_unsigned) {
  constexpr std::string_view kUnsigned = "unsigned ";
  const auto is_it = [&](const FieldType& type) {
    if (type.name.starts_with(kUnsigned) != is_unsigned) return false;
    return type.name.substr(is_unsigned ? kUnsigned.size() : 0) == word;
  };
  const auto* const found = std::ranges::find_if(kTypes, is_it);
  return found == std::end(kTypes) ? nullptr : found;
}

using Cause = FieldRefusal::Cause;
using Parsed = boost::system::result<ParsedField, FieldRefusal>;
using Checked = boost::system::result<void, FieldRefusal>;

// The text from the start of one part of it to the end of another.
std::string_view span_of(std::string_view first, std::string_view last) {
  return {first.data(), static_cast<std::size_t>(last.data() + last.size() - first.data())};
}

// brackets, which are not empty, end in ']'.
Checked give_array(ParsedField& field, std::string_view name_word) {
  const FieldRefusal refusal{Cause::kBadArray, name_word, field.brackets};
  const std::string_view inside = field.brackets.substr(1, field.brackets.size() - 2);
  const bool is_char = field.type->name == "char";
  if (inside.empty() && field.brackets.size() == 2) {
    const bool is_stack = field.type->name == "long" || field.type->name == "unsigned long";
    if (!is_char && !is_stack) return refusal;
    field.shape = is_stack ? ParsedField::Shape::kStack : ParsedField::Shape::kLocated;
    field.bytes = 0;
    return {};
  }
  const auto bytes = parse_unsigned(inside);
  if (!is_char || !bytes || *bytes == 0 || *bytes > kFieldTextBytesMax) return refusal;
  field.shape = ParsedField::Shape::kText;
  field.bytes = static_cast<std::uint32_t>(*bytes);
  return {};
}

// The next field of a text between two semicolons, which has a word.
Parsed parse_field(Tokens& words) {
  const std::string_view first = words.next()->text;
  const bool is_unsigned = first == "unsigned";
  const auto type_token = is_unsigned ? words.next() : Token{first};
  const auto name_token = words.next();
  if (!type_token || !name_token) {
    const auto cause = is_unsigned ? Cause::kIncompleteType : Cause::kIncomplete;
    return FieldRefusal{cause, first, first};
  }
  const std::string_view type_word = type_token->text, name_word = name_token->text;
  const std::string_view base = type_word.substr(0, type_word.find('['));
  ParsedField field;
  field.name = name_word.substr(0, name_word.find('['));
  if (!is_identifier(field.name)) return FieldRefusal{Cause::kBadName, name_word, name_word};
  field.type = find_type(base, is_unsigned);
  if (!field.type) return FieldRefusal{Cause::kUnknownType, first, span_of(first, base)};
  field.bytes = field.type->bytes;
  const std::string_view of_type = type_word.substr(base.size());
  const std::string_view of_name = name_word.substr(field.name.size());
  if (!of_type.empty() && !of_name.empty()) {
    return FieldRefusal{Cause::kTwoArrays, name_word, name_word};
  }
  field.brackets = of_type.empty() ? of_name : of_type;
  if (field.brackets.empty()) return field;
  if (!field.brackets.ends_with(']')) {
    return FieldRefusal{Cause::kUnclosedArray, name_word, field.brackets};
  }
  if (const auto array = give_array(field, name_word); !array) return array.error();
  return field;
}

bool has_word(Tokens words) { return words.next().has_value(); }

}  // namespace

void throw_exception_from_error(const FieldRefusal& refusal, const boost::source_location&) {
  std::fprintf(stderr, "tallyfs: value() of refused fields: %.*s\n",
               static_cast<int>(refusal.part.size()), refusal.part.data());
  std::abort();
}

bool is_identifier(std::string_view text) {
  const auto good = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  };
  return !text.empty() && text.size() <= kNameBytesMax &&
         std::isdigit(static_cast<unsigned char>(text[0])) == 0 && std::ranges::all_of(text, good);
}

boost::system::result<std::vector<ParsedField>, FieldRefusal> parse_fields(std::string_view text,
                                                                           std::size_t fields_max) {
  std::vector<ParsedField> fields;
  while (!text.empty()) {
    const std::string_view segment = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(segment.size() + 1, text.size()));
    for (Tokens words(segment); has_word(words);) {
      const auto field = parse_field(words);
      if (!field) return field.error();
      const std::string_view name = field.value().name;
      if (fields.size() == fields_max) return FieldRefusal{Cause::kTooManyFields, name, name};
      fields.push_back(field.value());
    }
  }
  return fields;
}

}  // namespace tallyfs
