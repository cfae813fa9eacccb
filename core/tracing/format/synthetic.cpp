#include "core/tracing/format/synthetic.h"

#include <utility>

#include "core/base/text.h"
#include "core/tracing/format/program.h"

namespace tallyfs::tracing {
namespace {

static_assert(kFieldTextBytesMax == kTextBytesMax);

constexpr char kCommonFields[] =
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

using Field = FieldsDefinition::Field;

Fault fault_of(const FieldRefusal& refusal) {
  using Cause = FieldRefusal::Cause;
  switch (refusal.cause) {
    case Cause::kIncompleteType:
      return wrong(fault::kIncompleteType, refusal.word);
    case Cause::kIncomplete:
      return wrong(fault::kInvalidField, refusal.word);
    case Cause::kBadName:
      return wrong(fault::kBadName, refusal.word);
    case Cause::kUnknownType:
      return wrong(fault::kInvalidType, refusal.word);
    case Cause::kUnclosedArray:
    case Cause::kTwoArrays:
    case Cause::kBadArray:
      return wrong(fault::kInvalidArray, refusal.word);
    case Cause::kTooManyFields:
      return wrong(fault::kTooManyFields, refusal.word);
  }
  return wrong(fault::kInvalidField, refusal.word);
}

FieldKind kind_of(ParsedField::Shape shape) {
  switch (shape) {
    case ParsedField::Shape::kNumber:
      return FieldKind::kNumber;
    case ParsedField::Shape::kText:
      return FieldKind::kText;
    case ParsedField::Shape::kLocated:
      return FieldKind::kLocated;
    case ParsedField::Shape::kStack:
      return FieldKind::kStack;
  }
  return FieldKind::kNumber;
}

Field field_of(const ParsedField& parsed) {
  constexpr std::uint32_t kLocationBytes = 8;
  return {.name = std::string(parsed.name),
          .type = std::string(parsed.type->name) + std::string(parsed.brackets),
          .size = parsed.bytes != 0 ? parsed.bytes : kLocationBytes,
          .is_signed = parsed.type->is_signed,
          .kind = kind_of(parsed.shape)};
}

bool has_field(const FieldsDefinition& definition, std::string_view name) {
  return std::ranges::find(definition.fields, name, &Field::name) != definition.fields.end();
}

void add(FieldsDefinition& definition, Field field) {
  field.offset = definition.fixed_bytes;
  definition.fixed_bytes += (field.size + 7) / 8 * 8;
  definition.fields.push_back(std::move(field));
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
  if (field.kind != FieldKind::kNumber) return "%s";
  if (field.type == "gfp_t") return "%x";
  if (field.size < 8) return field.is_signed ? "%d" : "%u";
  if (field.type.ends_with("long")) return field.is_signed ? "%ld" : "%lu";
  return field.is_signed ? "%lld" : "%llu";
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

Checked<FieldsDefinition> FieldsDefinition::parse(std::string_view text) {
  Tokens tokens(text);
  const auto name = tokens.next();
  const std::string_view rest = tokens.rest().text;
  const std::size_t start = rest.find_first_not_of(" \t\n\v\f\r");
  if (!name || name->text.find(';') != text.npos || start == rest.npos || rest[start] == ';') {
    return wrong(fault::kInvalidCommand);
  }
  if (!is_identifier(name->text)) return wrong(fault::kBadName, name->text);
  FieldsDefinition definition;
  definition.name = name->text;
  const auto fields = tallyfs::parse_fields(rest, kFieldsMax);
  if (!fields) return fault_of(fields.error());
  for (const ParsedField& each : fields.value()) {
    if (has_field(definition, each.name)) return wrong(fault::kDuplicateField, each.name);
    add(definition, field_of(each));
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

}  // namespace tallyfs::tracing
