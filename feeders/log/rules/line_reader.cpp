#include "feeders/log/rules/line_reader.h"

#include <utility>

#include "core/base/encoded_name.h"

namespace tallyfs::logs {
namespace {

template <typename Visit>
void each_part(const NameTemplate& name, Visit visit) {
  for (const Template* const parts : {&name.interface, &name.base, &name.labels}) {
    for (const TemplatePart& part : *parts) visit(part);
  }
}

}  // namespace

LineReader::LineReader(Rules rules, SeriesBook& book, Outlet& outlet, LineCounts& counts,
                       OnRefusal on_refusal)
    : rules_(std::move(rules)),
      book_(book),
      outlet_(outlet),
      counts_(counts),
      on_refusal_(std::move(on_refusal)),
      set_(rules_.rules),
      times_(rules_.time_format) {
  for (const Rule& rule : rules_.rules) memories_.push_back(memories_of(rule));
  if (rules_.otherwise) otherwise_ = memories_of(*rules_.otherwise);
}

void LineReader::set_now(const Timestamp& now) {
  now_ = now;
  now_s_ = static_cast<std::uint32_t>(now.monotonic / std::chrono::seconds(1));
  // There may be room by now for a name that went to NAME{*}.
  constexpr std::uint32_t kOverflowKnownMax = 60;
  if (overflow_known_s_ && now_s_ - *overflow_known_s_ >= kOverflowKnownMax) forget_known();
}

std::vector<LineReader::Memory> LineReader::memories_of(const Rule& rule) {
  std::vector<Memory> memories(rule.actions.size());
  for (std::size_t i = 0; i < rule.actions.size(); ++i) {
    const auto* const sample = std::get_if<SampleAction>(&rule.actions[i]);
    if (!sample) continue;
    each_part(sample->name, [&](const TemplatePart& part) {
      if (part.piece) memories[i].pieces.push_back(&*part.piece);
    });
  }
  return memories;
}

bool LineReader::take(std::string_view line, std::span<const Field> fields) {
  counts_.lines += 1;
  bool is_matched = false;
  bool is_undated = false;
  set_.each_match(line, [&](const Rule& rule, const re2::StringPiece* groups) {
    is_matched = true;
    Line each{line, fields, groups, std::chrono::nanoseconds(0)};
    if (rule.time_group || rules_.time_field) {
      const auto time = time_of(rule, each);
      is_undated = is_undated || !time;
      each.time = time.value_or(std::chrono::nanoseconds(0));
    }
    act(rule, memories_[static_cast<std::size_t>(&rule - rules_.rules.data())], each);
  });
  counts_.matched += is_matched ? 1 : 0;
  counts_.unmatched += is_matched ? 0 : 1;
  counts_.undated += is_undated ? 1 : 0;
  if (!is_matched && rules_.otherwise) {
    act(*rules_.otherwise, otherwise_, {line, fields, nullptr, std::chrono::nanoseconds(0)});
  }
  return is_matched;
}

void LineReader::refuse_form(std::string_view line) {
  counts_.lines += 1;
  counts_.unmatched += 1;
  const Line whole{line, {}, nullptr, std::chrono::nanoseconds(0)};
  refuse(whole, {Reason::kFormat, rules_.form == LineForm::kJson ? "this is no object of JSON"
                                                                 : "this is not logfmt"});
  if (rules_.otherwise) act(*rules_.otherwise, otherwise_, whole);
}

void LineReader::act(const Rule& rule, std::vector<Memory>& memories, const Line& line) {
  outlet_.begin(rule);
  for (std::size_t i = 0; i < rule.actions.size(); ++i) {
    if (const auto* const action = std::get_if<SampleAction>(&rule.actions[i])) {
      sample(*action, memories[i], line);
    } else {
      event(std::get<EventAction>(rule.actions[i]), line);
    }
  }
}

Field LineReader::text_of(const Piece& piece, const Line& line) {
  if (piece.source == Piece::Source::kField) {
    return piece.index < line.fields.size() ? line.fields[piece.index] : std::nullopt;
  }
  const re2::StringPiece& group = line.groups[piece.index + 1];
  if (!group.data()) return std::nullopt;
  return std::string_view(group.data(), group.size());
}

// ---- numbers

// True for the 1 that `count` adds: the line has no number to be read.
bool LineReader::is_one(const SampleAction& action) {
  const Number& factor = action.x.factor;
  return !action.x.piece && factor.digits == 1 && factor.exponent == 0 && !factor.is_negative &&
         action.number_scale == 0;
}

void LineReader::sample(const SampleAction& action, Memory& memory, const Line& line) {
  std::int64_t x = 1;
  if (!is_one(action)) {
    const auto read = number(action.x, action.number_scale, line);
    if (!read) return;
    x = *read;
  }
  Series* const series = find(action, memory, line);
  if (!series) return;
  series->used_s = now_s_;
  counts_.samples += 1;
  counts_.overflowed += series->is_overflow ? 1 : 0;
  outlet_.add(series->id, x, line.time);
}

std::optional<std::int64_t> LineReader::number(const NumberExpression& expression, unsigned scale,
                                               const Line& line) {
  if (!expression.piece) return integer(expression.factor, scale, line, "");
  const Field text = text_of(*expression.piece, line);
  if (!text) {
    counts_.absent += 1;
    return std::nullopt;
  }
  const auto read = this->read(expression, *text);
  if (read) return integer(*read, scale, line, *text);
  refuse(line, {Reason::kValue, "this is no decimal number", *text});
  return std::nullopt;
}

std::optional<std::int64_t> LineReader::integer(const Number& number, unsigned scale,
                                                const Line& line, std::string_view text) {
  const auto x = to_integer(number, scale);
  if (!x) {
    refuse(line, {Reason::kRange, "the number does not fit into 64 bits", text});
    return std::nullopt;
  }
  counts_.rounded += x->is_rounded ? 1 : 0;
  return x->value;
}

std::optional<Number> LineReader::read(const NumberExpression& expression, std::string_view text) {
  const Piece& piece = *expression.piece;
  const std::string_view last = filtered(piece, text, room_);
  const bool has_unit = !piece.filters.empty() && piece.filters.back().is_numeric();
  if (has_unit) return filtered_number(piece.filters.back(), last, expression.factor);
  return expression.has_factor ? multiplied(last, expression.factor) : parse_number(last);
}

// The text after all filters, except one that makes a number. If there are filters, the text is in
// `room`.
std::string_view LineReader::filtered(const Piece& piece, std::string_view text,
                                      std::string& room) {
  std::string_view made = text;
  for (const Filter filter : piece.filters) {
    if (filter.is_numeric()) break;
    other_room_.clear();
    append_filtered(other_room_, filter, made);
    room.swap(other_room_);
    made = room;
  }
  return made;
}

// ---- names

Series* LineReader::find(const SampleAction& action, Memory& memory, const Line& line) {
  if (memory.pieces.empty()) {
    if (!memory.only) memory.only = make(action, line);
    return memory.only;
  }
  if (!make_key(memory, line)) {
    counts_.absent += 1;
    return nullptr;
  }
  const auto known = memory.known.find(std::string_view(key_));
  if (known != memory.known.end()) return known->second;
  Series* const made = make(action, line);
  if (!made || key_.size() > kKnownBytesMax) return made;
  if (known_ == kKnownMax) forget_known();
  known_ += 1;
  if (made->is_overflow && !overflow_known_s_) overflow_known_s_ = now_s_;
  memory.known.emplace(key_, made);
  return made;
}

// Forgets all memories: texts that lines repeat are soon remembered again.
void LineReader::forget_known() {
  const auto forget = [](std::vector<Memory>& memories) {
    for (Memory& each : memories) {
      each.known.clear();
      each.only = nullptr;
    }
  };
  for (auto& memories : memories_) forget(memories);
  forget(otherwise_);
  known_ = 0;
  overflow_known_s_.reset();
}

bool LineReader::make_key(const Memory& memory, const Line& line) {
  key_.clear();
  for (const Piece* const piece : memory.pieces) {
    const Field text = text_of(*piece, line);
    if (!text) return false;
    const auto bytes = static_cast<std::uint32_t>(text->size());
    key_.append(reinterpret_cast<const char*>(&bytes), sizeof bytes).append(*text);
  }
  return true;
}

Series* LineReader::make(const SampleAction& action, const Line& line) {
  fill(name_.interface, action.name.interface, line);
  fill(name_.base, action.name.base, line);
  fill(name_.labels, action.name.labels, line);
  const auto resolved = book_.resolve(name_, action, now_s_);
  // Pointers to what was given up are forgotten.
  const std::uint64_t given_up = book_.bounds().given_up();
  if (std::exchange(given_up_, given_up) != given_up) forget_known();
  counts_.names_given_up = given_up_;
  if (!resolved.series) refuse(line, {Reason::kName, resolved.refusal});
  return resolved.series;
}

void LineReader::fill(std::string& out, const Template& parts, const Line& line) {
  out.clear();
  for (const TemplatePart& part : parts) {
    if (!part.piece) {
      out.append(part.literal);
    } else if (const Field text = text_of(*part.piece, line)) {
      append_encoded(out, filtered(*part.piece, *text, room_));
    }
  }
}

// ---- events

void LineReader::event(const EventAction& action, const Line& line) {
  const EventDefinition& definition = rules_.events[action.event];
  if (!outlet_.wants(definition)) return;
  values_.assign(action.values.size(), {});
  for (std::size_t i = 0; i < action.values.size(); ++i) {
    const NumberExpression& value = action.values[i];
    const bool is_there = definition.fields[i].is_number ? set_number(i, value, line)
                                                         : set_text(i, *value.piece, line);
    if (!is_there) return;
  }
  counts_.events += 1;
  outlet_.write(definition, values_);
}

bool LineReader::set_number(std::size_t field, const NumberExpression& value, const Line& line) {
  const auto read = number(value, 0, line);
  if (read) values_[field].number = *read;
  return read.has_value();
}

bool LineReader::set_text(std::size_t field, const Piece& piece, const Line& line) {
  const Field text = text_of(piece, line);
  if (!text) {
    counts_.absent += 1;
    return false;
  }
  texts_[field].assign(filtered(piece, *text, room_));
  values_[field].text = texts_[field];
  return true;
}

// ---- time, and what is wrong

std::optional<std::chrono::nanoseconds> LineReader::time_of(const Rule& rule, const Line& line) {
  constexpr std::chrono::nanoseconds kNow{0};
  const Piece piece = rule.time_group ? Piece{Piece::Source::kGroup, *rule.time_group}
                                      : Piece{Piece::Source::kField, rules_.time_field.value_or(0)};
  const Field text = text_of(piece, line);
  const auto at = text ? times_.read(*text) : std::nullopt;
  const auto ago = at ? now_.realtime - *at : std::chrono::nanoseconds::max();
  if (ago <= kNow && ago >= -kFutureMax) return kNow;
  if (ago > kNow && ago < kAgeMax && ago < now_.monotonic) return now_.monotonic - ago;
  return std::nullopt;
}

void LineReader::refuse(const Line& line, const Refusal& refusal) {
  counts_.refused[static_cast<std::size_t>(refusal.reason)] += 1;
  on_refusal_(line.text, refusal);
}

}  // namespace tallyfs::logs
