#include "core/wire/line.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "core/base/decimal.h"
#include "core/base/labels.h"
#include "core/wire/digits.h"
#include "core/wire/latency_line.h"

namespace tallyfs::wire {
namespace {

// A second name would look as if the line were for it, too.
Parsed<void> check_nothing_follows(Tokens& tokens) {
  if (const auto more = tokens.next()) {
    return Fault{"nothing follows the name: a line is for one", more->at};
  }
  return {};
}

// ---- what follows the first word of a line

template <Verb kVerb>
Parsed<Line> parse_statistics(Tokens& tokens, std::size_t line_end) {
  const auto target = tokens.next_path();
  if (!target) return Fault{"the command needs an INTERFACE or INTERFACE/STATISTIC", line_end};
  if constexpr (kVerb == Verb::kRemove || kVerb == Verb::kAttach) {
    if (auto alone = check_nothing_follows(tokens); !alone) return alone.error();
  }
  return Line(CommandLine{kVerb, *target, tokens.rest()});
}

template <StatsVerb kVerb>
Parsed<Line> parse_stats(Tokens& tokens, std::size_t line_end) {
  const auto target = tokens.next();
  if (!target) return Fault{"the command needs a SUBSYSTEM or SUBSYSTEM/OBJECT", line_end};
  if constexpr (kVerb == StatsVerb::kWithdraw) {
    if (auto alone = check_nothing_follows(tokens); !alone) return alone.error();
  }
  return Line(StatsLine{kVerb, *target, tokens.rest()});
}

Parsed<Line> parse_event(Tokens& tokens, std::size_t line_end) {
  auto target = tokens.next();
  EventVerb verb = EventVerb::kWrite;
  if (target && (target->text == "define" || target->text == "remove")) {
    verb = target->text == "define" ? EventVerb::kDefine : EventVerb::kRemove;
    target = tokens.next();
  }
  if (!target) return Fault{"the command needs a SYSTEM/EVENT", line_end};
  if (target->text.find('/') == std::string_view::npos) {
    return Fault{"neither SYSTEM/EVENT nor define or remove", target->at};
  }
  if (verb == EventVerb::kRemove) {
    if (auto alone = check_nothing_follows(tokens); !alone) return alone.error();
  }
  return Line(EventLine{verb, *target, tokens.rest()});
}

// The number that a command has, and nothing else.
Parsed<std::uint64_t> parse_number(Tokens& tokens, std::size_t line_end, std::string_view needed) {
  const auto word = tokens.next();
  if (!word) return Fault{needed, line_end};
  const auto number = parse_unsigned(word->text);
  if (!number) return Fault{needed, word->at};
  if (const auto more = tokens.next()) return Fault{"nothing follows the number", more->at};
  return *number;
}

Parsed<Line> parse_latency_line(Tokens& tokens, std::size_t line_end) {
  const auto latency = parse_latency(tokens, line_end);
  return latency ? Parsed<Line>(Line(latency.value())) : latency.error();
}

// ---- all requests: a row for each

struct CommandWord {
  enum class Suggested { kYes, kNo };

  std::string_view word;
  Parsed<Line> (*parse)(Tokens& tokens, std::size_t line_end);
  Suggested suggested = Suggested::kYes;  // to people, where a word is none of these
};
constexpr CommandWord kCommandWords[] = {
    {"create", parse_statistics<Verb::kCreate>},
    {"define", parse_statistics<Verb::kDefine>},
    {"remove", parse_statistics<Verb::kRemove>},
    {"attach", parse_statistics<Verb::kAttach>},
    {"subsystem", parse_stats<StatsVerb::kSubsystem>},
    {"object", parse_stats<StatsVerb::kObject>},
    {"rates", parse_stats<StatsVerb::kRates>},
    {"refused", parse_stats<StatsVerb::kRefused>, CommandWord::Suggested::kNo},
    {"withdraw", parse_stats<StatsVerb::kWithdraw>},
    {"event", parse_event},
    {"latency", parse_latency_line},
};

struct DescriptorWord {
  std::string_view word;
  Descriptor of;
  std::string_view subject;   // of a refusal
  std::string_view number{};  // what the refusal of a wrong number says; empty: it has none
};
constexpr DescriptorWord kDescriptorWords[] = {
    {"switches", Descriptor::kSwitches, "switches are"},
    {"shapes", Descriptor::kShapes, "shapes are"},
    {"lane", Descriptor::kLane, "a lane is", "the command needs a number of bytes"},
    {"tails", Descriptor::kTails, "tails are", "the command needs the number of a lane"},
};

Parsed<Line> parse_descriptor(const DescriptorWord& row, Tokens& tokens, std::size_t line_end) {
  DescriptorLine line{.of = row.of, .subject = row.subject};
  if (!row.number.empty()) {
    const auto number = parse_number(tokens, line_end, row.number);
    if (!number) return number.error();
    line.number = number.value();
  } else if (const auto more = tokens.next()) {
    return Fault{"nothing follows this command", more->at};
  }
  return Line(line);
}

// Made by the compiler: programs with libtally link this, whose statics wait for no lock.
class NoCommand {
 public:
  constexpr NoCommand() {
    add("neither INTERFACE/STATISTIC nor a command (");
    const std::size_t begin = size_;
    for (const CommandWord& row : kCommandWords) {
      if (row.suggested != CommandWord::Suggested::kYes) continue;
      if (size_ != begin) add(", ");
      add(row.word);
    }
    add(")");
  }
  constexpr std::string_view text() const { return {text_.data(), size_}; }

 private:
  constexpr void add(std::string_view part) {
    for (const char c : part) text_.at(size_++) = c;
  }

  std::array<char, 256> text_{};
  std::size_t size_ = 0;
};
constexpr NoCommand kNoCommand;

// Neither is empty.
bool is_word(std::string_view word, std::string_view text) {
  return word.front() == text.front() && is_same(word, text);
}

Parsed<Line> parse_command(const Token& word, Tokens& tokens, std::size_t line_end) {
  for (const CommandWord& row : kCommandWords) {
    if (is_word(row.word, word.text)) return row.parse(tokens, line_end);
  }
  for (const DescriptorWord& row : kDescriptorWords) {
    if (is_word(row.word, word.text)) return parse_descriptor(row, tokens, line_end);
  }
  return Fault{kNoCommand.text(), word.at};
}

// Digits and what else a number may have.
bool is_of_number(char c) { return (c >= '0' && c <= '9') || c == '.' || c == '+' || c == '-'; }

bool is_with_exponent(std::string_view text) {
  const auto is_mark = [](char c) { return c == 'e' || c == 'E'; };
  const auto is_any = [&](char c) { return is_of_number(c) || is_mark(c); };
  return !is_mark(text.front()) && std::ranges::any_of(text, is_mark) &&
         std::ranges::all_of(text, is_any);
}

bool is_with_comma(std::string_view text) {
  return text.find(',') != std::string_view::npos &&
         std::ranges::all_of(text, [](char c) { return c == ',' || is_of_number(c); });
}

// Digits, then letters: 12ms, 50%. 0xg is a wrong hexadecimal number.
bool is_with_unit(std::string_view text) {
  const auto unit = std::ranges::find_if_not(text, is_of_number);
  return unit != text.end() && unit != text.begin() && *unit != 'x' &&
         std::none_of(unit, text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view fault_of_x(std::string_view text) {
  if (is_with_exponent(text)) return "X has no exponent: 0.00001 instead of 1e-05";
  if (is_with_comma(text)) return "X has no comma: a decimal is 1.5, a thousand is 1000";
  if (is_with_unit(text)) return "X has no unit: 12 instead of 12ms; units= names it";
  return "X is not a signed 64-bit number";
}

enum class NumberForm { kNone, kWhole, kDecimal, kOther };

// digits: where they are in the line.
NumberForm form_of(const Token& x, std::uint64_t digits) {
  const std::size_t size = x.text.size();
  const auto end_from = [&](std::size_t at) {
    return at + static_cast<std::size_t>(std::countr_one(digits >> x.at >> at));
  };
  const std::size_t sign = x.text.front() == '-' ? 1 : 0;
  const std::size_t end = end_from(sign);
  if (end >= size) return end == sign ? NumberForm::kNone : NumberForm::kWhole;
  const char other = x.text[end];
  if (other == 'x' || other == 'X') return NumberForm::kOther;
  const bool is_decimal = other == '.' && end_from(end + 1) >= size && size > sign + 1;
  return is_decimal ? NumberForm::kDecimal : NumberForm::kNone;
}

NumberForm form_of(std::string_view text) {
  return is_decimal(text) ? NumberForm::kDecimal : NumberForm::kOther;
}

// Takes a number of X into the sample.
Parsed<void> take_x(const Token& x, NumberForm form, SampleLine& sample) {
  if (form == NumberForm::kNone) return Fault::of_x(x);
  if (form == NumberForm::kDecimal) {
    sample.decimal = x.text;
    return {};
  }
  const auto whole = parse_signed(x.text);
  if (!whole) return Fault::of_x(x);
  sample.x = *whole;
  return {};
}

// digits: where they are in the first bytes of the line; nullptr: not known.
Parsed<Line> parse_sample(const Token& path, Tokens& tokens, std::size_t line_end,
                          const std::uint64_t* digits) {
  const auto x = tokens.next();
  if (!x) return Fault{"the number is missing: a sample is 'web/us 12'", line_end};
  SampleLine sample{.path = path.text};
  const NumberForm form = digits ? form_of(*x, *digits) : form_of(x->text);
  if (auto taken = take_x(*x, form, sample); !taken) return taken.error();
  if (const auto y = tokens.next()) {
    const auto y_value = parse_unsigned(y->text);
    if (!y_value) return Fault{"Y is not an unsigned 64-bit number", y->at};
    sample.y = *y_value;
  }
  if (const auto more = tokens.next()) return Fault{"a sample has only X and Y", more->at};
  return Line(sample);
}

// ---- many bytes at a time, the first of them the lowest of a word

static_assert(std::endian::native == std::endian::little);

// Bytes beyond the end read as 0.
template <typename Word>
Word load(const char* at, const char* end) {
  Word word{};
  if (end - at >= static_cast<std::ptrdiff_t>(sizeof word)) [[likely]] {
    std::memcpy(&word, at, sizeof word);
  } else {
    std::memcpy(&word, at, static_cast<std::size_t>(end - at));
  }
  return word;
}

// The classes of 16 bytes: a bit for each byte.
struct Marks {
  std::uint32_t blanks;  // and whatever else is not above a blank
  std::uint32_t slashes;
  std::uint32_t bars;
};

#ifdef __SSE2__
using Block = __m128i;
std::uint32_t marks_of(Block equal) { return static_cast<std::uint32_t>(_mm_movemask_epi8(equal)); }
std::uint32_t mark_equal(Block bytes, char byte) {
  return marks_of(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte)));
}
// As bytes with all bits set, or none.
Block are_between(Block bytes, char first, char last) {
  const Block from_first = _mm_sub_epi8(bytes, _mm_set1_epi8(first));
  const Block range = _mm_set1_epi8(static_cast<char>(last - first));
  return _mm_cmpeq_epi8(_mm_min_epu8(from_first, range), from_first);
}
std::uint32_t mark_white(Block bytes) {
  const Block are_blank = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(' '));
  return marks_of(_mm_or_si128(are_between(bytes, '\t', '\r'), are_blank));
}
std::uint32_t mark_digits(Block bytes) { return marks_of(are_between(bytes, '0', '9')); }
Marks mark(Block bytes) {
  return {.blanks = marks_of(_mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(' ')), bytes)),
          .slashes = mark_equal(bytes, '/'),
          .bars = mark_equal(bytes, '|')};
}
#else
using Block = std::array<unsigned char, 16>;
std::uint32_t marks_of(const Block& bytes, auto is_marked) {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bits |= std::uint32_t{is_marked(static_cast<char>(bytes[i]))} << i;
  }
  return bits;
}
std::uint32_t mark_equal(const Block& bytes, char byte) {
  return marks_of(bytes, [byte](char each) { return each == byte; });
}
std::uint32_t mark_white(const Block& bytes) { return marks_of(bytes, is_blank); }
std::uint32_t mark_digits(const Block& bytes) {
  return marks_of(bytes, [](char c) { return c >= '0' && c <= '9'; });
}
Marks mark(const Block& bytes) {
  return {.blanks = marks_of(bytes, [](char c) { return static_cast<unsigned char>(c) <= ' '; }),
          .slashes = mark_equal(bytes, '/'),
          .bars = mark_equal(bytes, '|')};
}
#endif

// The end of a token that contains a '/' and is followed by a blank; nullptr if there is no such
// token, or a '|' before its end: then the whole line is of another language.
[[gnu::always_inline]] inline const char* end_of_path(const char* at, const char* end) {
  std::uint32_t slashes = 0;
  for (; at < end; at += 16) {
    const Marks marks = mark(load<Block>(at, end));
    const std::uint32_t before = (marks.blanks & -marks.blanks) - 1;  // all, if there are none
    if ((marks.bars & before) != 0) return nullptr;
    slashes |= marks.slashes & before;
    if (marks.blanks == 0) continue;
    at += std::countr_zero(marks.blanks);
    return slashes != 0 && at < end && *at == ' ' ? at : nullptr;
  }
  return nullptr;
}

// The classes of the first bytes of a line, a bit for each. Those after its end mean nothing.
struct LineMarks {
  static constexpr std::size_t kBytes = Tokens::kMarked;

  std::uint64_t white = 0;  // as is_blank() has it
  std::uint64_t slashes = 0;
  std::uint64_t bars = 0;
  std::uint64_t braces = 0;  // {
  std::uint64_t digits = 0;
};

LineMarks mark_line(std::string_view line, const char* readable) {
  LineMarks marks;
  const std::size_t size = std::min(line.size(), LineMarks::kBytes);
  for (std::size_t at = 0; at < size; at += 16) {
    const Block bytes = load<Block>(line.data() + at, readable);
    const Marks its = mark(bytes);
    marks.white |= std::uint64_t{mark_white(bytes)} << at;
    marks.slashes |= std::uint64_t{its.slashes} << at;
    marks.bars |= std::uint64_t{its.bars} << at;
    marks.digits |= std::uint64_t{mark_digits(bytes)} << at;
    marks.braces |= std::uint64_t{mark_equal(bytes, '{')} << at;
  }
  return marks;
}

// The digits at `at`, 1 to 18 of them.
[[gnu::always_inline]] inline bool take_digits(const char*& at, const char* end,
                                               std::uint64_t& value) {
  constexpr std::ptrdiff_t kDigitsMax = 18;
  const char* const begin = at;
  const std::uint64_t word = load<std::uint64_t>(at, end) ^ ('0' * kEachByte);
  const int digits = std::countr_zero(mark_others(word)) / 8;
  if (digits == 0) return false;
  // To the upper end, behind leading zeros.
  value = number_of(word << (64 - 8 * digits));
  at += digits;
  if (digits < 8) return true;
  for (; at != end && *at >= '0' && *at <= '9'; ++at) {
    value = value * 10 + static_cast<std::uint64_t>(*at - '0');
    if (at - begin == kDigitsMax) return false;
  }
  return true;
}

// The first `|` that is in no label: those of StatsD follow a value, and it has no braces.
std::size_t find_bar(std::string_view line) {
  std::size_t bar = line.find('|');
  for (std::size_t at = 0; bar != line.npos;) {
    const std::size_t open = line.substr(0, bar).find('{', at);
    if (open == line.npos) return bar;
    at = labels_end(line, open);
    if (at == line.npos) return bar;
    if (at > bar) bar = line.find('|', at);
  }
  return bar;
}

}  // namespace

std::string_view Fault::reason() const { return is_of_x_ ? fault_of_x(text_) : text_; }

Parsed<Line> parse_line(std::string_view line, const char* readable) {
  const std::size_t size = line.size();
  const LineMarks marks = mark_line(line, readable);
  const std::uint64_t behind = size < LineMarks::kBytes ? ~std::uint64_t{0} << size : 0;
  // Labels may have a bar or a blank in them.
  const bool is_plain = size <= LineMarks::kBytes && (marks.braces & ~behind) == 0;
  if (!is_plain || (marks.bars & ~behind) != 0) {
    if (const auto bar = find_bar(line); bar != std::string_view::npos) {
      return Fault{
          "a line with a '|' is one of StatsD, which tally-feed-statsd takes (UDP port 8125)", bar};
    }
  }
  Tokens tokens(line, marks.white | behind);
  const auto first = is_plain ? tokens.next() : tokens.next_path();
  if (!first) return Line(BlankLine{});
  const std::size_t slash =
      is_plain ? static_cast<std::size_t>(std::countr_zero(marks.slashes >> first->at))
               : first->text.find('/');
  return slash >= first->text.size()
             ? parse_command(*first, tokens, size)
             : parse_sample(*first, tokens, size, is_plain ? &marks.digits : nullptr);
}

std::size_t take_plain_sample(std::string_view text, SampleLine& sample) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* at = end_of_path(begin, end);
  if (!at) return 0;
  sample.path = {begin, static_cast<std::size_t>(at - begin)};
  ++at;
  const bool negative = at != end && *at == '-';
  if (negative) ++at;
  std::uint64_t magnitude = 0;
  if (!take_digits(at, end, magnitude)) return 0;
  sample.x = with_sign(magnitude, negative);
  sample.y = 1;
  if (at != end && *at == ' ' && !take_digits(++at, end, sample.y)) return 0;
  if (at != end && *at != '\n') return 0;
  return std::min(static_cast<std::size_t>(at - begin) + 1, text.size());
}

Path split_path(std::string_view path) {
  const auto slash = path.find('/');
  if (slash == std::string_view::npos) return {.interface = path};
  return {path.substr(0, slash), path.substr(slash + 1), true};
}

}  // namespace tallyfs::wire
