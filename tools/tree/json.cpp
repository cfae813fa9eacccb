#include "tools/tree/json.h"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/src.hpp>
#include <cstddef>
#include <iterator>
#include <utility>

#include "core/base/text.h"

namespace tallyfs {
namespace {

using Failed = boost::json::error_code;
using Text = boost::json::string_view;

// The callbacks of the parser. Values are on a stack until the array or object around them is
// closed, which then gets room for exactly that many.
class Builder {
 public:
  static constexpr std::size_t max_object_size = std::size_t{1} << 24;
  static constexpr std::size_t max_array_size = std::size_t{1} << 24;
  static constexpr std::size_t max_key_size = 1 << 16;
  static constexpr std::size_t max_string_size = 1 << 24;

  bool on_document_begin(Failed&) { return true; }
  bool on_document_end(Failed&) { return true; }
  bool on_object_begin(Failed&) { return true; }
  bool on_object_end(std::size_t size, Failed&) { return close(Json::Kind::kObject, size); }
  bool on_array_begin(Failed&) { return true; }
  bool on_array_end(std::size_t size, Failed&) { return close(Json::Kind::kArray, size); }
  bool on_key_part(Text part, std::size_t, Failed&) { return gather(part); }
  bool on_key(Text part, std::size_t, Failed&) {
    keys_.push_back(text(part));
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

  Json take() { return std::move(values_.front()); }

 private:
  bool close(Json::Kind kind, std::size_t size) {
    Json made{.kind = kind, .items = popped(values_, size)};
    if (kind == Json::Kind::kObject) made.keys = popped_keys(size);
    values_.push_back(std::move(made));
    return true;
  }
  template <typename T>
  static std::vector<T> popped(std::vector<T>& stack, std::size_t size) {
    const auto begin = stack.end() - static_cast<std::ptrdiff_t>(size);
    std::vector<T> made(std::make_move_iterator(begin), std::make_move_iterator(stack.end()));
    stack.erase(begin, stack.end());
    return made;
  }
  // Those of an object before it, if they are the same.
  JsonKeys popped_keys(std::size_t size) {
    const auto begin = keys_.end() - static_cast<std::ptrdiff_t>(size);
    for (const JsonKeys& each : shapes_) {
      if (each.size() != size || !std::equal(each.begin(), each.end(), begin)) continue;
      keys_.erase(begin, keys_.end());
      return each;
    }
    if (shapes_.size() == kShapesMax) shapes_.erase(shapes_.begin());
    shapes_.emplace_back(popped(keys_, size));
    return shapes_.back();
  }
  bool gather(Text part) {
    text_.append(part.data(), part.size());
    return true;
  }
  // With the parts that came before.
  std::string text(Text part) {
    if (text_.empty()) return std::string(part);
    gather(part);
    return std::exchange(text_, {});
  }
  bool end(Text part, Json::Kind kind) {
    values_.push_back({.kind = kind, .text = text(part)});
    return true;
  }

  std::vector<Json> values_;
  std::vector<std::string> keys_;
  static constexpr std::size_t kShapesMax = 8;
  std::vector<JsonKeys> shapes_;  // of the objects closed last
  std::string text_;
};

}  // namespace

void JsonKeys::emplace_back(std::string_view key) {
  if (keys_.use_count() != 1) *this = JsonKeys(std::vector<std::string>(begin(), end()));
  keys_->emplace_back(key);
}

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
