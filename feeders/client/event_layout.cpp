#include "feeders/client/event_layout.h"

#include <algorithm>
#include <cstring>

#include "core/base/text.h"

namespace tallyfs {
namespace {

constexpr std::uint32_t up_to(std::uint32_t value, std::uint32_t step) {
  return (value + step - 1) / step * step;
}

Error invalid(std::string_view what, std::string_view token) {
  return {ErrorCode::kInvalid, std::string(what) + " '" + std::string(token) + "'"};
}

// Words, and semicolons as words of their own.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of("; \t\n", at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

}  // namespace

struct EventLayout::Type {
  std::string_view name;
  std::uint32_t bytes;
};

const EventLayout::Type* EventLayout::find_type(std::string_view name) {
  static constexpr Type kTypes[] = {
      {"s64", 8},
      {"u64", 8},
      {"s32", 4},
      {"u32", 4},
      {"s16", 2},
      {"u16", 2},
      {"s8", 1},
      {"u8", 1},
      {"char", 1},
      {"int", 4},
      {"long", 8},
      {"bool", 1},
      {"pid_t", 4},
      {"gfp_t", 4},
      {"unsigned char", 1},
      {"unsigned int", 4},
      {"unsigned long", 8},
  };
  const auto* const at = std::ranges::find(kTypes, name, &Type::name);
  return at == std::end(kTypes) ? nullptr : at;
}

Result<EventLayout> EventLayout::parse(std::string_view fields) {
  auto layout = parse_words(words_of(fields));
  if (layout && layout.value().fields_.empty()) return invalid("no fields in", fields);
  return layout;
}

Result<EventLayout> EventLayout::parse_words(const std::vector<std::string_view>& words) {
  EventLayout layout;
  for (std::size_t at = 0; at < words.size();) {
    const bool is_unsigned = words[at] == "unsigned";
    const std::size_t needed = is_unsigned ? 3 : 2;
    if (words.size() - at < needed) return invalid("no whole field", words[at]);
    const std::string_view type_word = words[at + needed - 2];
    const std::string_view name_word = words[at + needed - 1];
    const std::string_view type = type_word.substr(0, type_word.find('['));
    const std::string_view name = name_word.substr(0, name_word.find('['));
    const std::string_view of_type = type_word.substr(type.size());
    const std::string_view of_name = name_word.substr(name.size());
    if (name.empty() || (!of_type.empty() && !of_name.empty())) {
      return invalid("not the name of a field", name_word);
    }
    if (layout.fields_.size() == kFieldsMax) return invalid("too many fields", name_word);
    const auto added = layout.add((is_unsigned ? "unsigned " : "") + std::string(type),
                                  of_type.empty() ? of_name : of_type);
    if (!added) return added.error();
    at += needed;
  }
  layout.struct_bytes_ = up_to(layout.struct_bytes_, layout.struct_alignment_);
  return layout;
}

Result<void> EventLayout::add(std::string_view type_name, std::string_view brackets) {
  const Type* const type = find_type(type_name);
  if (!type) return invalid("not a type", type_name);
  if (brackets.empty()) {
    place(Kind::kBytes, type->bytes, type->bytes, type->bytes);
    return {};
  }
  if (type_name != "char" || !brackets.ends_with(']')) return invalid("not an array", brackets);
  if (brackets == "[]") {
    place(Kind::kText, sizeof(const char*), alignof(const char*), 8);
    return {};
  }
  const auto bytes = parse_unsigned(brackets.substr(1, brackets.size() - 2));
  if (!bytes || *bytes == 0 || *bytes > kArrayMax) return invalid("not an array", brackets);
  const auto size = static_cast<std::uint32_t>(*bytes);
  place(Kind::kBytes, size, 1, size);
  return {};
}

void EventLayout::place(Kind kind, std::uint32_t bytes, std::uint32_t alignment,
                        std::uint32_t record_bytes) {
  const std::uint32_t at = up_to(struct_bytes_, alignment);
  fields_.push_back({kind, bytes, at, record_bytes_});
  struct_bytes_ = at + bytes;
  struct_alignment_ = std::max(struct_alignment_, alignment);
  record_bytes_ += up_to(record_bytes, 8);
}

void EventLayout::append(std::string& record, const void* structure) const {
  const std::size_t start = record.size();
  record.resize(start + record_bytes_);
  for (const Field& field : fields_) {
    const char* const from = static_cast<const char*>(structure) + field.struct_at;
    char* const to = record.data() + start + field.record_at;
    if (field.kind == Kind::kBytes) {
      std::memcpy(to, from, field.bytes);
      continue;
    }
    const char* text = nullptr;
    std::memcpy(&text, from, sizeof text);
    const std::size_t bytes = text ? ::strnlen(text, kTextMax) : 0;
    const auto place = static_cast<std::uint32_t>(record.size() - start + kCommonBytes);
    const auto located = place | static_cast<std::uint32_t>(bytes + 1) << 16;
    std::memcpy(to, &located, sizeof located);
    record.append(text ? text : "", bytes);
    record.resize(start + up_to(static_cast<std::uint32_t>(record.size() - start + 1), 8));
  }
}

}  // namespace tallyfs
