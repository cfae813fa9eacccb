#include "core/tracing/probe/named_lines.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/tracing/probe/letters.h"

namespace tallyfs::tracing {
namespace {

constexpr std::string_view kArgument = "$arg";
constexpr std::uint64_t kNumberMax = 128;
constexpr std::array<std::string_view, 6> kOfC = {"di", "si", "dx", "cx", "r8", "r9"};
constexpr std::array<std::string_view, 9> kOfGo = {"ax", "bx", "cx",  "di", "si",
                                                   "r8", "r9", "r10", "r11"};
constexpr std::uint64_t kOfAarch64 = 8;

// `$argN` in a word.
struct Written {
  std::size_t at = 0, bytes = 0;
  std::uint64_t number = 0;
};

std::optional<Written> find_argument(std::string_view word, std::size_t from) {
  for (std::size_t at = word.find(kArgument, from); at != word.npos;
       at = word.find(kArgument, at + 1)) {
    std::size_t end = at + kArgument.size();
    while (end < word.size() && is_digit(word[end])) ++end;
    const bool is_one =
        end != at + kArgument.size() && (end == word.size() || !is_of_name(word[end]));
    if (!is_one) continue;
    const auto number =
        parse_unsigned(word.substr(at + kArgument.size(), end - at - kArgument.size()));
    return Written{at, end - at, number.value_or(kNumberMax + 1)};
  }
  return std::nullopt;
}

// Where the compiler's rules for calls have the argument when the function begins. Empty: nowhere.
std::string function_argument(const FoundPlaces& found, std::uint64_t number) {
  const bool is_arm = found.machine == ElfMachine::kAarch64;
  if (is_arm && !found.is_go && number <= kOfAarch64) return "%x" + std::to_string(number - 1);
  if (is_arm && !found.is_go) return "+" + std::to_string(8 * (number - 9)) + "(%sp)";
  if (found.machine != ElfMachine::kX86_64) return {};
  if (found.is_go) {
    return number <= kOfGo.size() ? "%" + std::string(kOfGo[number - 1]) : std::string();
  }
  if (number <= kOfC.size()) return "%" + std::string(kOfC[number - 1]);
  return "+" + std::to_string(8 * (number - kOfC.size())) + "(%sp)";
}

// The argument has the same type at all places, and can be fetched there.
bool is_everywhere(const FoundPlaces& found, std::size_t at) {
  return std::ranges::all_of(found.places, [&](const FoundPlace& each) {
    return at < each.arguments.size() && !each.arguments[at].text.empty() &&
           each.arguments[at].type == found.places.front().arguments[at].type;
  });
}

// One place's text while it is written.
class Writing {
 public:
  Writing(const PlaceName& name, const FoundPlaces& found, const FoundPlace& place)
      : name_(name), found_(found), place_(place) {}

  // Adds the word, with registers in the place of `$argN`.
  Result<void> add_word(const Token& word);
  void add_place(const Token& word);
  void add_blank(std::size_t at) { add(" ", at); }
  void add_all_arguments(std::size_t at);
  PlaceText finish(std::size_t end);

 private:
  // All bytes come from the same one.
  void add(std::string_view text, std::size_t from) {
    made_.text.append(text);
    made_.from.resize(made_.text.size(), from);
  }
  // Byte by byte.
  void add_same(std::string_view text, std::size_t from) {
    made_.text.append(text);
    for (std::size_t i = 0; i < text.size(); ++i) made_.from.push_back(from + i);
  }
  Result<Fetch> fetch(const Written& argument, bool has_type, std::size_t at) const;

  const PlaceName& name_;
  const FoundPlaces& found_;
  const FoundPlace& place_;
  PlaceText made_;
};

void Writing::add_place(const Token& word) {
  const std::size_t name_at = word.at + name_.name_at;
  add_same(name_.path, word.at);
  std::string offset = ":";
  append_hex(offset, place_.offset);
  if (place_.reference != 0) append_hex(offset += "(", place_.reference);
  if (place_.reference != 0) offset += ")";
  add(offset, name_at);
}

Result<Fetch> Writing::fetch(const Written& argument, bool has_type, std::size_t at) const {
  const std::string number = std::to_string(argument.number);
  if (argument.number == 0 || argument.number > kNumberMax) {
    return invalid("arguments are counted from 1 to 128", at);
  }
  if (!name_.is_marker()) {
    const std::string text = function_argument(found_, argument.number);
    if (text.empty()) return invalid("$arg" + number + " is not known in this program", at);
    return Fetch{text, "u64"};
  }
  const std::size_t index = argument.number - 1;
  if (index >= place_.arguments.size()) {
    return invalid("the marker has " + std::to_string(place_.arguments.size()) + " arguments", at);
  }
  if (place_.arguments[index].text.empty()) {
    return invalid("argument " + number + " of the marker cannot be fetched", at);
  }
  if (has_type || is_everywhere(found_, index)) return place_.arguments[index];
  return invalid("argument " + number + " has another type at another place: give one", at);
}

Result<void> Writing::add_word(const Token& word) {
  std::size_t done = 0;
  while (const auto argument = find_argument(word.text, done)) {
    const std::size_t at = word.at + argument->at;
    if (name_.kind == ProbeKind::kReturn)
      return invalid("a return has no arguments: $retval is there", at);
    if (name_.offset.value_or(0) != 0) {
      return invalid("arguments are known where the function begins", at);
    }
    // Inside of others it has no type of its own.
    const std::size_t end = argument->at + argument->bytes;
    const char before = argument->at == 0 ? '=' : word.text[argument->at - 1];
    const bool is_whole = before == '=' && end == word.text.size();
    const auto found = fetch(*argument, !is_whole, at);
    if (!found) return found.error();
    add_same(word.text.substr(done, argument->at - done), word.at + done);
    add(found.value().text, at);
    if (is_whole) add(":" + found.value().type, at);
    done = end;
  }
  add_same(word.text.substr(done), word.at + done);
  return {};
}

void Writing::add_all_arguments(std::size_t at) {
  for (std::size_t i = 0; i < place_.arguments.size(); ++i) {
    if (!is_everywhere(found_, i)) continue;
    const Fetch& each = place_.arguments[i];
    add(" arg" + std::to_string(i + 1) + "=" + each.text + ":" + each.type, at);
  }
}

PlaceText Writing::finish(std::size_t end) {
  made_.from.push_back(end);
  made_.is_after_endbr64 = place_.is_after_endbr64;
  return std::move(made_);
}

}  // namespace

std::size_t PlaceText::byte_of(std::size_t byte_of_text) const {
  return from[std::min(byte_of_text, from.size() - 1)];
}

PlaceText text_of(const ProbeLine& line) {
  PlaceText made{.text = line.text(), .from = {}};
  for (std::size_t i = 0; i <= made.text.size(); ++i) made.from.push_back(line.byte_of(i));
  return made;
}

Result<std::vector<PlaceText>> texts_of(const ProbeLine& line, const PlaceName& place,
                                        const FoundPlaces& found) {
  const Token& first = line.words.front();
  const std::size_t end = line.words.back().at + line.words.back().text.size();
  std::vector<PlaceText> texts;
  for (const FoundPlace& each : found.places) {
    Writing writing(place, found, each);
    writing.add_place(first);
    for (std::size_t i = 1; i < line.words.size(); ++i) {
      writing.add_blank(line.words[i].at);
      if (auto done = writing.add_word(line.words[i]); !done) return done.error();
    }
    if (place.is_marker() && line.words.size() == 1) writing.add_all_arguments(end);
    texts.push_back(writing.finish(end));
    if (texts.back().text.size() > kProbeLineBytesMax) {
      return Error{ErrorCode::kTooBig, "a line has at most 4095 bytes, with its names in numbers"};
    }
  }
  return texts;
}

}  // namespace tallyfs::tracing
