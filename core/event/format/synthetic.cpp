#include "core/event/format/synthetic.h"

#include <algorithm>
#include <cctype>

#include "core/base/text.h"
#include "core/event/format/program.h"

namespace tallyfs {
namespace {

struct Type {
  std::string_view name;
  std::uint32_t size;
  bool is_signed;
  std::string_view print;
};

constexpr Type kFieldTypes[] = {
    {"s64", 8, true, "%lld"},
    {"u64", 8, false, "%llu"},
    {"s32", 4, true, "%d"},
    {"u32", 4, false, "%u"},
    {"s16", 2, true, "%d"},
    {"u16", 2, false, "%u"},
    {"s8", 1, true, "%d"},
    {"u8", 1, false, "%u"},
    {"char", 1, true, "%d"},
    {"int", 4, true, "%d"},
    {"long", 8, true, "%ld"},
    {"bool", 1, true, "%d"},
    {"pid_t", 4, true, "%d"},
    {"gfp_t", 4, false, "%x"},
    {"unsigned char", 1, false, "%u"},
    {"unsigned int", 4, false, "%u"},
    {"unsigned long", 8, false, "%lu"},
};

const Type* find_type(std::string_view name) {
  const auto* const at = std::ranges::find(kFieldTypes, name, &Type::name);
  return at == std::end(kFieldTypes) ? nullptr : at;
}

constexpr char kCommonFields[] =
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

using Field = FieldsDefinition::Field;

// Makes the field an array, `type[N]`. brackets: from the type or from the name; empty: no array.
Checked<void> give_array(Field& field, std::string_view type, std::string_view brackets,
                         std::string_view token) {
  const std::string_view inside = brackets.substr(1, brackets.size() - 2);
  field.type.append(brackets);
  const bool stack = field.type == "long[]" || field.type == "unsigned long[]";
  if (stack || (type == "char" && inside.empty())) {
    field.kind = stack ? FieldKind::kStack : FieldKind::kLocated;
    field.size = 8;
    return {};
  }
  const auto bytes = parse_unsigned(inside);
  if (type != "char" || !bytes || *bytes == 0 || *bytes > kTextBytesMax) {
    return wrong(fault::kInvalidArray, token);
  }
  field.kind = FieldKind::kText;
  field.size = static_cast<std::uint32_t>(*bytes);
  return {};
}

struct Words {
  std::vector<std::string_view> all;
  std::size_t next = 0;

  std::size_t left() const { return all.size() - next; }
};

Words words_of(std::string_view text) {
  Words words;
  Tokens tokens(text);
  while (const auto token = tokens.next()) words.all.push_back(token->text);
  return words;
}

// `[unsigned] TYPE NAME`, brackets behind either.
Checked<Field> parse_field(Words& words) {
  const std::string_view first = words.all[words.next];
  const bool is_unsigned = first == "unsigned";
  if (words.left() < (is_unsigned ? 3u : 2u)) {
    return wrong(is_unsigned ? fault::kIncompleteType : fault::kInvalidField, first);
  }
  words.next += is_unsigned ? 1 : 0;
  const std::string_view type_word = words.all[words.next++];
  const std::string_view name_word = words.all[words.next++];
  const std::string_view base = type_word.substr(0, type_word.find('['));
  const std::string_view name = name_word.substr(0, name_word.find('['));
  if (!is_identifier(name)) return wrong(fault::kBadName, name_word);
  Field field;
  field.name = name;
  field.type = (is_unsigned ? "unsigned " : "") + std::string(base);
  const Type* const type = find_type(field.type);
  if (!type) return wrong(fault::kInvalidType, first);
  field.size = type->size;
  field.is_signed = type->is_signed;
  const bool of_type = base.size() < type_word.size();
  const std::string_view brackets =
      of_type ? type_word.substr(base.size()) : name_word.substr(name.size());
  if (brackets.empty()) return field;
  if (!brackets.ends_with(']') || (of_type && name.size() < name_word.size())) {
    return wrong(fault::kInvalidArray, name_word);
  }
  const auto array = give_array(field, field.type, brackets, name_word);
  if (!array) return array.error();
  return field;
}

Checked<void> add_fields(FieldsDefinition& definition, std::string_view segment) {
  Words words = words_of(segment);
  while (words.left() > 0) {
    auto field = parse_field(words);
    if (!field) return field.error();
    const auto same =
        std::ranges::find(definition.fields, field.value().name, &Field::name);
    if (same != definition.fields.end()) {
      return wrong(fault::kDuplicateField, field.value().name);
    }
    if (definition.fields.size() == FieldsDefinition::kFieldsMax) {
      return wrong(fault::kTooManyFields, field.value().name);
    }
    field.value().offset = definition.fixed_bytes;
    definition.fixed_bytes += (field.value().size + 7) / 8 * 8;
    definition.fields.push_back(std::move(field.value()));
  }
  return {};
}

void append_field(std::string& out, const Field& field) {
  const std::size_t bracket = field.type.find('[');
  const bool located = field.kind == FieldKind::kLocated || field.kind == FieldKind::kStack;
  out.append("\tfield:").append(located ? "__data_loc " : "");
  out.append(located ? field.type : field.type.substr(0, bracket)).append(" ").append(field.name);
  if (!located && bracket != std::string::npos) out.append(field.type, bracket);
  out.append(";\toffset:");
  append_number(out, std::uint64_t{field.offset});
  out.append(";\tsize:");
  append_number(out, std::uint64_t{field.size});
  out.append(field.is_signed ? ";\tsigned:1;\n" : ";\tsigned:0;\n");
}

std::string_view print_format(const Field& field) {
  const Type* const type = find_type(field.type);
  return type ? type->print : "%s";
}

void append_argument(std::string& out, const Field& field) {
  const bool stack = field.kind == FieldKind::kStack;
  if (stack || field.kind == FieldKind::kLocated) {
    out.append(stack ? ", __get_stacktrace(" : ", __get_str(").append(field.name).append(")");
  } else {
    out.append(", REC->").append(field.name);
  }
}

}  // namespace

bool is_identifier(std::string_view text) {
  const auto good = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  };
  return !text.empty() && text.size() <= kNameBytesMax &&
         std::isdigit(static_cast<unsigned char>(text[0])) == 0 && std::ranges::all_of(text, good);
}

Checked<FieldsDefinition> FieldsDefinition::parse(std::string_view text) {
  Tokens tokens(text);
  const auto name = tokens.next();
  std::string_view rest = tokens.rest().text;
  const std::size_t start = rest.find_first_not_of(" \t\n\v\f\r");
  if (!name || name->text.find(';') != text.npos || start == rest.npos || rest[start] == ';') {
    return wrong(fault::kInvalidCommand);
  }
  if (!is_identifier(name->text)) return wrong(fault::kBadName, name->text);
  FieldsDefinition definition;
  definition.name = name->text;
  while (!rest.empty()) {
    const std::string_view segment = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(segment.size() + 1, rest.size()));
    if (const auto added = add_fields(definition, segment); !added) return added.error();
  }
  return definition;
}

std::string FieldsDefinition::text() const {
  std::string text = name + "\t";
  for (const Field& field : fields) {
    if (&field != &fields.front()) text.append("; ");
    text.append(field.type).append(" ").append(field.name);
  }
  return text;
}

std::string FieldsDefinition::format_text(std::uint16_t id) const {
  std::string text = "name: " + name + "\nID: ";
  append_number(text, std::uint64_t{id});
  text.append("\nformat:\n").append(kCommonFields);
  for (const Field& field : fields) append_field(text, field);
  text.append("\nprint fmt: \"");
  for (const Field& field : fields) {
    if (&field != &fields.front()) text.append(", ");
    text.append(field.name).append("=").append(print_format(field));
  }
  text.append("\"");
  for (const Field& field : fields) append_argument(text, field);
  return text.append("\n");
}

}  // namespace tallyfs
