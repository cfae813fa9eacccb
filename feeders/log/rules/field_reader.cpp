#include "feeders/log/rules/field_reader.h"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/src.hpp>
#include <utility>

#include "core/base/text.h"

namespace tallyfs::logs {
namespace {

using Failed = boost::json::error_code;
using Text = boost::json::string_view;

// The callbacks of the parser. path_ is the path to the value that is being parsed.
class Handler {
 public:
  static constexpr std::size_t max_object_size = std::size_t{1} << 16;
  static constexpr std::size_t max_array_size = std::size_t{1} << 16;
  static constexpr std::size_t max_key_size = 1 << 10;
  static constexpr std::size_t max_string_size = 1 << 17;

  Handler(const std::vector<std::string>& fields, std::vector<std::string>& texts,
          std::vector<std::optional<std::string_view>>& values)
      : fields_(fields), texts_(texts), values_(values) {}

  void begin() {
    path_.clear();
    ends_.clear();
    text_.clear();
    arrays_ = 0;
    is_object_ = false;
  }
  bool is_object() const { return is_object_; }

  bool on_document_begin(Failed&) { return true; }
  bool on_document_end(Failed&) { return true; }
  bool on_object_begin(Failed&) {
    is_object_ = is_object_ || (ends_.empty() && arrays_ == 0);
    ends_.push_back(path_.size());
    return true;
  }
  bool on_object_end(std::size_t, Failed&) {
    path_.resize(ends_.back());
    ends_.pop_back();
    return true;
  }
  bool on_array_begin(Failed&) { return ++arrays_, true; }
  bool on_array_end(std::size_t, Failed&) { return --arrays_, true; }
  bool on_key_part(Text part, std::size_t, Failed&) { return gather(part); }
  bool on_key(Text part, std::size_t, Failed&) {
    gather(part);
    path_.resize(ends_.back());
    if (!path_.empty()) path_.push_back('.');
    path_.append(std::exchange(text_, {}));
    return true;
  }
  bool on_string_part(Text part, std::size_t, Failed&) { return gather(part); }
  bool on_string(Text part, std::size_t, Failed&) { return end(part); }
  bool on_number_part(Text part, Failed&) { return gather(part); }
  bool on_int64(std::int64_t, Text part, Failed&) { return end(part); }
  bool on_uint64(std::uint64_t, Text part, Failed&) { return end(part); }
  bool on_double(double, Text part, Failed&) { return end(part); }
  bool on_bool(bool value, Failed&) { return end(value ? "true" : "false"); }
  bool on_null(Failed&) { return true; }
  bool on_comment_part(Text, Failed&) { return true; }
  bool on_comment(Text, Failed&) { return true; }

 private:
  bool gather(Text part) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool end(Text part) {
    gather(part);
    std::string text = std::exchange(text_, {});
    if (arrays_ != 0) return true;
    const auto field = std::ranges::find(fields_, path_);
    if (field == fields_.end()) return true;
    const auto at = static_cast<std::size_t>(field - fields_.begin());
    texts_[at] = std::move(text);
    values_[at] = texts_[at];
    return true;
  }

  const std::vector<std::string>& fields_;
  std::vector<std::string>& texts_;
  std::vector<std::optional<std::string_view>>& values_;
  std::string path_;
  std::vector<std::size_t> ends_;  // of the path, by the objects that are open
  std::string text_;
  std::size_t arrays_ = 0;  // that are open
  bool is_object_ = false;
};

struct LogfmtValue {
  std::string_view text;
  std::size_t end;  // the place after it in the line
};

std::size_t key_end(std::string_view line, std::size_t at) {
  while (at < line.size() && !is_blank(line[at]) && line[at] != '=') ++at;
  return at;
}

// nullopt: a quotation mark has no end.
std::optional<LogfmtValue> logfmt_value(std::string_view line, std::size_t at) {
  std::size_t end = at;
  if (at == line.size() || line[at] != '"') {
    while (end < line.size() && !is_blank(line[end])) ++end;
    return LogfmtValue{line.substr(at, end - at), end};
  }
  for (end = at + 1; end < line.size() && line[end] != '"'; ++end) {
    if (line[end] == '\\') ++end;
  }
  if (end >= line.size()) return std::nullopt;
  return LogfmtValue{line.substr(at + 1, end - at - 1), end + 1};
}

}  // namespace

class FieldReader::Json {
 public:
  explicit Json(FieldReader& reader)
      : parser_(options(), reader.fields_, reader.texts_, reader.values_) {}
  // Bytes that are not UTF-8 are %XX in names, as those of other lines.
  static boost::json::parse_options options() {
    boost::json::parse_options options;
    options.allow_invalid_utf8 = true;
    return options;
  }
  bool read(std::string_view line) {
    Failed failed;
    parser_.reset();
    parser_.handler().begin();
    const std::size_t read = parser_.write_some(false, line.data(), line.size(), failed);
    return !failed && read == line.size() && parser_.handler().is_object();
  }

 private:
  boost::json::basic_parser<Handler> parser_;
};

FieldReader::FieldReader(LineForm form, const std::vector<std::string>& fields)
    : form_(form), fields_(fields), values_(fields.size()), texts_(fields.size()) {}

FieldReader::~FieldReader() = default;
FieldReader::FieldReader(FieldReader&& other) noexcept
    : form_(other.form_),
      fields_(std::move(other.fields_)),
      values_(std::move(other.values_)),
      texts_(std::move(other.texts_)) {}
FieldReader& FieldReader::operator=(FieldReader&& other) noexcept {
  form_ = other.form_;
  fields_ = std::move(other.fields_);
  values_ = std::move(other.values_);
  texts_ = std::move(other.texts_);
  json_.reset();
  return *this;
}

std::optional<std::span<const std::optional<std::string_view>>> FieldReader::read(
    std::string_view line) {
  std::ranges::fill(values_, std::nullopt);
  bool is_read = false;
  if (form_ == LineForm::kJson) {
    if (!json_) json_ = std::make_unique<Json>(*this);
    is_read = json_->read(line);
  } else {
    is_read = read_logfmt(line);
  }
  if (!is_read) return std::nullopt;
  return std::span<const std::optional<std::string_view>>(values_);
}

void FieldReader::set(std::string_view key, std::string_view value) {
  const auto field = std::ranges::find(fields_, key);
  if (field == fields_.end()) return;
  const auto at = static_cast<std::size_t>(field - fields_.begin());
  if (value.find('\\') == value.npos) {
    values_[at] = value;
    return;
  }
  texts_[at].clear();
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '\\' && i + 1 < value.size()) ++i;
    texts_[at].push_back(value[i]);
  }
  values_[at] = texts_[at];
}

// key, key=value or key="a \"text\""; it needs one with = at least.
bool FieldReader::read_logfmt(std::string_view line) {
  bool has_value = false;
  for (std::size_t at = 0; at < line.size();) {
    if (is_blank(line[at])) {
      ++at;
      continue;
    }
    const std::size_t end = key_end(line, at);
    if (end == line.size() || line[end] != '=') {
      at = end;
      continue;
    }
    const std::string_view key = line.substr(at, end - at);
    const auto value = key.empty() ? std::nullopt : logfmt_value(line, end + 1);
    if (!value) return false;
    set(key, value->text);
    has_value = true;
    at = value->end;
  }
  return has_value;
}

}  // namespace tallyfs::logs
