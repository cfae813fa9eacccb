#include "feeders/client/event_layout.h"

#include <algorithm>
#include <cstring>

namespace tallyfs {
namespace {

constexpr std::uint32_t up_to(std::uint32_t value, std::uint32_t step) {
  return (value + step - 1) / step * step;
}

Error refusal(std::string_view what, std::string_view part) {
  return {ErrorCode::kInvalid, std::string(what) + " '" + std::string(part) + "'"};
}

Error error_of(const FieldRefusal& refused) {
  using Cause = FieldRefusal::Cause;
  switch (refused.cause) {
    case Cause::kIncompleteType:
    case Cause::kIncomplete:
      return refusal("no whole field", refused.part);
    case Cause::kBadName:
    case Cause::kTwoArrays:
      return refusal("not the name of a field", refused.part);
    case Cause::kUnknownType:
      return refusal("not a type", refused.part);
    case Cause::kUnclosedArray:
    case Cause::kBadArray:
      return refusal("not an array", refused.part);
    case Cause::kTooManyFields:
      return refusal("too many fields", refused.part);
  }
  return refusal("not a field", refused.part);
}

}  // namespace

Result<EventLayout> EventLayout::parse(std::string_view fields) {
  const auto parsed = parse_fields(fields, kFieldsMax);
  if (!parsed) return error_of(parsed.error());
  if (parsed.value().empty()) return refusal("no fields in", fields);
  EventLayout layout;
  for (const ParsedField& each : parsed.value()) {
    if (const auto added = layout.add(each); !added) return added.error();
  }
  layout.struct_bytes_ = up_to(layout.struct_bytes_, layout.struct_alignment_);
  return layout;
}

Result<void> EventLayout::add(const ParsedField& field) {
  switch (field.shape) {
    case ParsedField::Shape::kNumber:
      place(Kind::kBytes, field.bytes, field.bytes, field.bytes);
      return {};
    case ParsedField::Shape::kText:
      place(Kind::kBytes, field.bytes, 1, field.bytes);
      return {};
    case ParsedField::Shape::kLocated:
      place(Kind::kText, sizeof(const char*), alignof(const char*), 8);
      return {};
    case ParsedField::Shape::kStack:
      break;  // a program's structure has no stack
  }
  return refusal("not an array", field.brackets);
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
