#include "core/statistics/definition/own_line.h"

#include <optional>

#include "core/statistics/definition/line_words.h"
#include "core/statistics/definition/strict_words.h"

namespace tallyfs::statistics {
namespace {

// The place of the `/` after the interface, which is not in labels or in a value.
std::size_t find_slash(std::string_view path) {
  const std::size_t at = path.find_first_of("/={");
  return at != path.npos && path[at] == '/' ? at : path.npos;
}

// With the blanks in its labels.
std::optional<Token> first_path(std::string_view line) {
  Tokens tokens(line);
  for (;;) {
    Tokens next = tokens;
    const auto token = next.next();
    if (!token) return std::nullopt;
    if (!is_strict_mark(token->text)) break;
    tokens = next;
  }
  return tokens.next_path();
}

Error of_another(std::string_view interface, std::string_view path, std::size_t at) {
  const std::string other = shown(path.substr(0, find_slash(path)));
  return invalid("this line is for " + shown(interface) + ": write it to statistics/" + other +
                     "/definition, or send: define " + shown(path) + " KEY=VALUE",
                 at);
}

}  // namespace

Result<OwnLine> OwnLine::without_interface(std::string_view line, const Token& word, std::size_t at,
                                           std::string_view key, std::string_view interface) {
  const std::string_view path = word.text.substr(at);
  const std::size_t slash = find_slash(path);
  if (path.substr(0, slash) != interface) return of_another(interface, path, word.at);
  OwnLine own(line);
  own.is_changed_ = true;
  own.at_ = word.at + at;
  own.typed_bytes_ = slash + 1;
  own.bytes_ = key.size();
  own.changed_ = line;
  own.changed_.replace(own.at_, own.typed_bytes_, key);
  return own;
}

Result<OwnLine> OwnLine::in_command(std::string_view words, std::string_view interface) {
  const auto named = find_word(words, kNameKey);
  if (!named || find_slash(named->text.substr(kNameKey.size())) == words.npos) {
    return OwnLine(words);
  }
  return without_interface(words, *named, kNameKey.size(), "", interface);
}

Result<OwnLine> OwnLine::in_file(std::string_view line, std::string_view interface) {
  if (find_word(line, kNameKey)) return in_command(line, interface);
  const auto first = first_path(line);
  if (!first || find_slash(first->text) == line.npos) return OwnLine(line);
  return without_interface(line, *first, 0, kNameKey, interface);
}

Error OwnLine::place(Error error) const {
  if (!is_changed_ || error.token_at == Error::kNoToken || error.token_at <= at_) return error;
  const std::size_t behind = error.token_at - at_;
  error.token_at = behind < bytes_ ? at_ : at_ + behind - bytes_ + typed_bytes_;
  return error;
}

}  // namespace tallyfs::statistics
