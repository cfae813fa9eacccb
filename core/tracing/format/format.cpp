#include "core/tracing/format/format.h"

#include <algorithm>
#include <cstring>

#include "core/base/text.h"

namespace tallyfs::tracing {
namespace {

constexpr std::uint64_t kRecordBytesMax = 64 * 1024;

// Cuts text off at its first `mark` and returns the part before the mark.
std::string_view cut(std::string_view& text, char mark) {
  const std::size_t at = text.find(mark);
  const std::string_view before = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return before;
}

// `unsigned char rwbs[10]` declares rwbs as `unsigned char[10]`, `__data_loc char[] cmd` declares
// cmd as `__data_loc char[]`.
struct Declared {
  std::string_view name;
  std::string type;
};
Declared declared(std::string_view declaration) {
  const std::size_t blank = declaration.find_last_of(" \t*");
  if (blank == std::string_view::npos) return {};
  const std::string_view name = declaration.substr(blank + 1);
  const std::size_t bracket = std::min(name.find('['), name.size());
  std::string type(trimmed(declaration.substr(0, blank + 1)));
  return {name.substr(0, bracket), type.append(name.substr(bracket))};
}

std::optional<std::uint64_t> number_of(std::string_view line, std::string_view key) {
  while (!line.empty()) {
    std::string_view value = cut(line, ';');
    if (trimmed(cut(value, ':')) == key) return parse_unsigned(trimmed(value));
  }
  return std::nullopt;
}

// line: `field:TYPE NAME; offset:N; size:N; signed:N;`
Result<TraceField> parse_field(std::string_view line) {
  std::string_view rest = line.substr(std::strlen("field:"));
  Declared what = declared(trimmed(cut(rest, ';')));
  const auto offset = number_of(rest, "offset");
  const auto size = number_of(rest, "size");
  if (!is_name(what.name) || !offset || !size || *offset > kRecordBytesMax ||
      *size > kRecordBytesMax - *offset) {
    return invalid("not a field: '" + std::string(line.substr(0, 80)) + "'");
  }
  return TraceField{std::string(what.name), static_cast<std::uint32_t>(*offset),
                    static_cast<std::uint32_t>(*size), number_of(rest, "signed") == 1,
                    std::move(what.type)};
}

// The part of a line that follows `key`, where `key` starts the line.
std::string_view line_after(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = cut(text, '\n');
    if (line.starts_with(key)) return trimmed(line.substr(key.size()));
  }
  return {};
}

Result<TraceField> find_field(const std::vector<TraceField>& fields, std::string_view name) {
  for (const TraceField& field : fields) {
    if (field.name == name) return field;
  }
  return Error{ErrorCode::kNotFound, "there is no field '" + std::string(name) + "'"};
}

bool is_number_size(std::uint32_t size) { return size == 1 || size == 2 || size == 4 || size == 8; }

// The size of a type named like `u64`, `__le32`, `uint8_t`, by the number in its name. 0: there is
// no number.
std::uint32_t named_bytes(std::string_view word) {
  if (word.ends_with("_t")) word.remove_suffix(2);
  const auto bits = parse_unsigned(word.substr(word.find_last_not_of("0123456789") + 1));
  if (!bits || *bits > 64 || *bits % 8 != 0) return 0;
  const auto bytes = static_cast<std::uint32_t>(*bits / 8);
  return is_number_size(bytes) ? bytes : 0;
}

// The size in bytes of a number of that type; 1 if the words of the type do not say.
std::uint32_t number_bytes(std::string_view type) {
  struct Known {
    std::string_view word;
    std::uint32_t bytes;
  };
  // The first entry that is among the words of the type counts: `unsigned short int` has 2 bytes.
  constexpr Known kKnown[] = {
      {"struct", 1}, {"union", 1},   {"char", 1},   {"bool", 1},     {"short", 2},    {"long", 8},
      {"size_t", 8}, {"ssize_t", 8}, {"loff_t", 8}, {"sector_t", 8}, {"enum", 4},     {"pid_t", 4},
      {"uid_t", 4},  {"gid_t", 4},   {"dev_t", 4},  {"int", 4},      {"unsigned", 4}, {"signed", 4},
  };
  std::vector<std::string_view> words;
  Tokens tokens(type);
  while (const auto token = tokens.next()) words.push_back(token->text);
  for (const std::string_view word : words) {
    if (const std::uint32_t bytes = named_bytes(word); bytes != 0) return bytes;
  }
  for (const Known& known : kKnown) {
    if (std::ranges::find(words, known.word) != words.end()) return known.bytes;
  }
  return 1;
}

template <typename Unsigned, typename Signed>
std::uint64_t read_as(const char* at, bool is_signed) {
  Unsigned value = 0;
  std::memcpy(&value, at, sizeof value);
  return is_signed ? static_cast<std::uint64_t>(std::int64_t{static_cast<Signed>(value)}) : value;
}

}  // namespace

Result<TraceField> EventFormat::field(std::string_view wanted) const {
  auto found = find_field(fields, wanted);
  if (found) return found;
  return Error{ErrorCode::kNotFound, "event " + name + ": " + found.error().reason};
}

FieldKind TraceField::kind() const {
  const std::string_view all = type;
  const bool array = all.ends_with(']');
  const bool of_chars = all.find("char[") != all.npos;
  const bool elsewhere = all.starts_with("__data_loc") || all.starts_with("__rel_loc");
  if (!array) {
    return is_number_size(size) && !elsewhere ? FieldKind::kNumber : FieldKind::kOther;
  }
  if (all.starts_with("__data_loc") && size >= 4) {
    if (of_chars) return FieldKind::kLocated;
    return all.ends_with("long[]") ? FieldKind::kStack : FieldKind::kOther;
  }
  if (all.starts_with("__rel_loc") && size >= 4) {
    return of_chars ? FieldKind::kRelative : FieldKind::kOther;
  }
  if (!of_chars) return FieldKind::kOther;
  return size == 0 ? FieldKind::kTail : FieldKind::kText;
}

bool TraceField::is_text() const {
  const FieldKind what = kind();
  return what == FieldKind::kText || what == FieldKind::kLocated || what == FieldKind::kRelative ||
         what == FieldKind::kTail;
}

std::uint32_t TraceField::elements() const {
  const std::size_t bracket = type.rfind('[');
  if (bracket == type.npos || !type.ends_with(']')) return size;
  const auto count =
      parse_unsigned(std::string_view(type).substr(bracket + 1, type.size() - bracket - 2));
  if (!count || *count == 0) return 0;
  const bool whole =
      size % *count == 0 && is_number_size(static_cast<std::uint32_t>(size / *count));
  return whole ? static_cast<std::uint32_t>(*count) : size;
}

std::uint32_t TraceField::element_bytes() const {
  if (const std::uint32_t count = elements(); count != 0) return size / count;
  const std::string_view all = type;
  return all.find('*') == all.npos ? number_bytes(all.substr(0, all.rfind('['))) : 8;
}

std::uint32_t EventFormat::fixed_bytes() const {
  std::uint32_t bytes = 0;
  for (const TraceField& field : fields) bytes = std::max(bytes, field.end());
  return bytes;
}

Result<std::vector<TraceField>> parse_fields(std::string_view text) {
  std::vector<TraceField> fields;
  while (!text.empty()) {
    const std::string_view line = trimmed(cut(text, '\n'));
    if (line.starts_with("print fmt:")) break;
    if (!line.starts_with("field:")) continue;
    auto field = parse_field(line);
    if (!field) return field.error();
    if (fields.size() == kFormatFieldsMax) return invalid("format with too many fields");
    fields.push_back(std::move(field.value()));
  }
  return fields;
}

Result<EventFormat> parse_event_format(std::string_view text) {
  if (text.size() > kFormatBytesMax) return invalid("format longer than 64 KiB");
  const std::string_view name = line_after(text, "name:");
  const auto id = parse_unsigned(line_after(text, "ID:"));
  if (!is_name(name) || !id || *id > UINT16_MAX) return invalid("format without name or ID");
  auto fields = parse_fields(text);
  if (!fields) return fields.error();
  const auto type = find_field(fields.value(), "common_type");
  if (!type || type.value().offset != 0 || type.value().size != 2) {
    return invalid("format whose records do not start with a common_type of 2 bytes");
  }
  return EventFormat{std::string(name), static_cast<std::uint16_t>(*id), std::move(fields.value())};
}

Result<TraceNumber> TraceNumber::find(const EventFormat& format, std::string_view name) {
  auto field = format.field(name);
  if (!field) return field.error();
  if (!is_number_size(field.value().size)) {
    return invalid("event " + format.name + ": '" + std::string(name) + "' is not a number");
  }
  return TraceNumber(std::move(field.value()));
}

std::uint64_t TraceNumber::read(std::span<const char> payload) const {
  const char* at = payload.data() + field_.offset;
  switch (field_.size) {
    case 1:
      return read_as<std::uint8_t, std::int8_t>(at, field_.is_signed);
    case 2:
      return read_as<std::uint16_t, std::int16_t>(at, field_.is_signed);
    case 4:
      return read_as<std::uint32_t, std::int32_t>(at, field_.is_signed);
    default:
      return read_as<std::uint64_t, std::int64_t>(at, field_.is_signed);
  }
}

}  // namespace tallyfs::tracing
