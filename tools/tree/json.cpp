#include "tools/tree/json.h"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/src.hpp>
#include <cstddef>
#include <utility>

#include "core/base/text.h"

namespace tallyfs {
namespace {

using Failed = boost::json::error_code;
using Text = boost::json::string_view;

// What the parser calls. Each value goes to the innermost array or object that is open.
class Builder {
 public:
  static constexpr std::size_t max_object_size = std::size_t{1} << 24;
  static constexpr std::size_t max_array_size = std::size_t{1} << 24;
  static constexpr std::size_t max_key_size = 1 << 16;
  static constexpr std::size_t max_string_size = 1 << 24;

  bool on_document_begin(Failed&) { return true; }
  bool on_document_end(Failed&) { return true; }
  bool on_object_begin(Failed&) { return open(Json::Kind::kObject); }
  bool on_object_end(std::size_t, Failed&) { return close(); }
  bool on_array_begin(Failed&) { return open(Json::Kind::kArray); }
  bool on_array_end(std::size_t, Failed&) { return close(); }
  bool on_key_part(Text part, std::size_t, Failed&) { return gather(part); }
  bool on_key(Text part, std::size_t, Failed&) {
    gather(part);
    open_.back().keys.push_back(std::exchange(text_, {}));
    return true;
  }
  bool on_string_part(Text part, std::size_t, Failed&) { return gather(part); }
  bool on_string(Text part, std::size_t, Failed&) { return end(part, Json::Kind::kString); }
  bool on_number_part(Text part, Failed&) { return gather(part); }
  bool on_int64(std::int64_t, Text part, Failed&) { return end(part, Json::Kind::kNumber); }
  bool on_uint64(std::uint64_t, Text part, Failed&) { return end(part, Json::Kind::kNumber); }
  bool on_double(double, Text part, Failed&) { return end(part, Json::Kind::kNumber); }
  bool on_bool(bool value, Failed&) { return end(value ? "true" : "false", Json::Kind::kBool); }
  bool on_null(Failed&) { return end("", Json::Kind::kNull); }
  bool on_comment_part(Text, Failed&) { return true; }
  bool on_comment(Text, Failed&) { return true; }

  Json take() { return std::move(root_); }

 private:
  bool open(Json::Kind kind) {
    open_.push_back({.kind = kind});
    return true;
  }
  bool close() {
    Json closed = std::move(open_.back());
    open_.pop_back();
    return add(std::move(closed));
  }
  bool gather(Text part) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool end(Text part, Json::Kind kind) {
    gather(part);
    return add({.kind = kind, .text = std::exchange(text_, {})});
  }
  bool add(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else {
      open_.back().items.push_back(std::move(value));
    }
    return true;
  }

  std::vector<Json> open_;
  std::string text_;
  Json root_;
};

}  // namespace

const Json* Json::find(std::string_view key) const {
  const auto found = std::ranges::find(keys, key);
  return found == keys.end() ? nullptr : &items[static_cast<std::size_t>(found - keys.begin())];
}

std::string_view Json::text_of(std::string_view key) const {
  const Json* const found = find(key);
  return found ? std::string_view(found->text) : std::string_view();
}

std::uint64_t Json::number_of(std::string_view key) const {
  return parse_unsigned(text_of(key)).value_or(0);
}

Result<Json> parse_json(std::string_view text) {
  boost::json::basic_parser<Builder> parser{boost::json::parse_options{}};
  Failed failed;
  const std::size_t used = parser.write_some(false, text.data(), text.size(), failed);
  if (failed) return invalid("no JSON: " + failed.message(), used);
  const std::string_view rest = text.substr(used);
  if (rest.find_first_not_of(" \t\r\n") != std::string_view::npos) {
    return invalid("no JSON: there is more behind the value", used);
  }
  return parser.handler().take();
}

void write_json(JsonWriter& writer, const Json& json) {
  switch (json.kind) {
    case Json::Kind::kNull:
      writer.null();
      return;
    case Json::Kind::kBool:
    case Json::Kind::kNumber:
      writer.number_text(json.text);
      return;
    case Json::Kind::kString:
      writer.string(json.text);
      return;
    case Json::Kind::kArray:
      writer.begin_array();
      for (const Json& each : json.items) write_json(writer, each);
      writer.end_array();
      return;
    case Json::Kind::kObject:
      writer.begin_object();
      for (std::size_t i = 0; i < json.items.size(); ++i) {
        writer.key(json.keys[i]);
        write_json(writer, json.items[i]);
      }
      writer.end_object();
      return;
  }
}

}  // namespace tallyfs
