#include "core/tracing/branch/record_text.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include "core/base/text.h"

namespace tallyfs::tracing {
namespace {

// The bytes of the common fields of a record, which are not the user's.
constexpr std::size_t kCommonBytes = 8;
constexpr std::size_t kTextMax = 1024;
constexpr std::size_t kFramesMax = 31;

using Field = FieldsDefinition::Field;

// NAME=VALUE; a value in quotes may contain blanks, and \" and \\.
struct Assignment {
  std::string_view name;
  std::string value;
  std::size_t at = 0;        // of the name
  std::size_t value_at = 0;  // of the value
};

class Assignments {
 public:
  explicit Assignments(std::string_view text) : text_(text) {}

  // Returns no assignment at the end of the text.
  Result<std::optional<Assignment>> next() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    if (at_ == text_.size()) return std::optional<Assignment>();
    Assignment made{.at = at_};
    const std::size_t equals = text_.find('=', at_);
    if (equals == text_.npos) return Error{ErrorCode::kInvalid, "FIELD=VALUE is wanted", at_};
    made.name = text_.substr(at_, equals - at_);
    at_ = made.value_at = equals + 1;
    if (auto taken = take_value(made.value); !taken) return taken.error();
    return std::optional(std::move(made));
  }

 private:
  Result<void> take_value(std::string& value) {
    if (at_ == text_.size() || text_[at_] != '"') {
      for (; at_ < text_.size() && !is_blank(text_[at_]); ++at_) value.push_back(text_[at_]);
      return {};
    }
    const std::size_t quote = at_;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      value.push_back(text_[at_]);
    }
    if (at_ == text_.size()) return Error{ErrorCode::kInvalid, "a quote that does not end", quote};
    ++at_;
    return {};
  }

  const std::string_view text_;
  std::size_t at_ = 0;
};

void put(std::string& bytes, std::uint32_t offset, std::uint64_t value, std::uint32_t size) {
  std::memcpy(bytes.data() + offset - kCommonBytes, &value, std::min<std::uint32_t>(size, 8));
}

// The number as the field stores it: signed fields from their smallest value on, others up to their
// largest.
std::optional<std::uint64_t> number_for(const Field& field, std::string_view text) {
  const unsigned bits = 8 * std::min<std::uint32_t>(field.size, 8);
  if (text.starts_with('-')) {
    const auto value = parse_signed(text);
    const auto least = bits == 64 ? INT64_MIN : -(std::int64_t{1} << (bits - 1));
    if (!value || !field.is_signed || *value < least) return std::nullopt;
    return static_cast<std::uint64_t>(*value);
  }
  const auto value = parse_unsigned(text);
  const unsigned room = field.is_signed ? bits - 1 : bits;
  if (!value || (room < 64 && *value >> room != 0)) return std::nullopt;
  return value;
}

// Appends the content behind the fixed fields; its field gets its place and its length.
void put_located(std::string& bytes, const Field& field, std::string_view content) {
  const std::size_t at = bytes.size() + kCommonBytes;
  bytes.append(content);
  bytes.resize((bytes.size() + 7) / 8 * 8);
  put(bytes, field.offset, at | content.size() << 16, 4);
}

std::optional<std::string> frames_of(std::string_view text) {
  std::string frames;
  while (!text.empty()) {
    const std::string_view frame = text.substr(0, text.find(','));
    text.remove_prefix(std::min(frame.size() + 1, text.size()));
    const auto address = parse_unsigned(frame);
    if (!address || frames.size() == 8 * kFramesMax) return std::nullopt;
    frames.append(reinterpret_cast<const char*>(&*address), 8);
  }
  return frames;
}

// Returns the fault, or nullptr.
const char* put_value(std::string& bytes, const Field& field, std::string value) {
  switch (field.kind) {
    case FieldKind::kNumber: {
      const auto number = number_for(field, value);
      if (!number) return "not a number that the field holds";
      put(bytes, field.offset, *number, field.size);
      return nullptr;
    }
    case FieldKind::kText:
      if (value.size() > field.size) return "longer than the field";
      value.copy(bytes.data() + field.offset - kCommonBytes, value.size());
      return nullptr;
    case FieldKind::kLocated:
    case FieldKind::kRelative:
    case FieldKind::kTail:
      if (value.size() > kTextMax) return "longer than 1,024 bytes";
      value.push_back('\0');
      put_located(bytes, field, value);
      return nullptr;
    case FieldKind::kStack: {
      const auto frames = frames_of(value);
      if (!frames) return "not addresses with commas between them, at most 31";
      put_located(bytes, field, *frames);
      return nullptr;
    }
    case FieldKind::kOther:
      break;
  }
  return "a field that cannot be written";
}

}  // namespace

Result<std::string> record_from_text(const FieldsDefinition& fields, std::string_view text) {
  std::string bytes(fields.fixed_bytes - kCommonBytes, '\0');
  std::set<std::string_view> named;
  Assignments assignments(text);
  for (;;) {
    auto next = assignments.next();
    if (!next) return next.error();
    if (!next.value()) return bytes;
    Assignment& each = *next.value();
    const auto field = std::ranges::find(fields.fields, each.name, &Field::name);
    if (field == fields.fields.end()) {
      return Error{ErrorCode::kInvalid, "the event has no such field", each.at};
    }
    if (!named.insert(each.name).second) {
      return Error{ErrorCode::kInvalid, "a field that was named already", each.at};
    }
    if (const char* const wrong = put_value(bytes, *field, std::move(each.value))) {
      return Error{ErrorCode::kInvalid, wrong, each.value_at};
    }
  }
}

}  // namespace tallyfs::tracing
