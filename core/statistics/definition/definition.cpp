#include "core/statistics/definition/definition.h"

#include <concepts>
#include <type_traits>

#include "core/base/json.h"
#include "core/base/text.h"

namespace tallyfs::statistics {
namespace {

std::string_view spelled(Mode mode) {
  switch (mode) {
    case Mode::kIncrements:
      return "increments";
    case Mode::kProducts:
      return "products";
    case Mode::kRange:
      return "range";
    case Mode::kQuantiles:
      return "quantiles";
  }
  return {};
}

std::string_view spelled(Scale scale) {
  switch (scale) {
    case Scale::kLin:
      return "lin";
    case Scale::kLog2:
      return "log2";
  }
  return {};
}

// A number of the definition that is a decimal where X is.
struct Number {
  std::string text;
};

// A value of a line, as it stands in the file.
class LineWriter {
 public:
  explicit LineWriter(std::string& out) : out_(out) {}

  template <typename Value>
  void operator()(std::string_view key, const Value& value) {
    if (!is_first_) out_.push_back(' ');
    is_first_ = false;
    out_.append(key).push_back('=');
    append(value);
  }

 private:
  void append(std::string_view word) { out_.append(word); }
  template <std::unsigned_integral Number>
  void append(Number number) {
    append_number(out_, std::uint64_t{number});
  }
  void append(std::int64_t number) { append_number(out_, number); }
  void append(std::chrono::nanoseconds time) { append_timestamp(out_, time); }
  void append(std::chrono::microseconds period) { append(std::int64_t{period.count()}); }
  void append(Mode mode) { append(spelled(mode)); }
  void append(Scale scale) { append(spelled(scale)); }
  void append(Base base) { append(static_cast<std::uint64_t>(base)); }
  void append(const Number& number) { append(std::string_view(number.text)); }
  void append(const QuantileList& quantiles) { append(quantiles.text()); }

  std::string& out_;
  bool is_first_ = true;
};

// Writes an attribute as a member of a JSON object.
class MemberWriter {
 public:
  explicit MemberWriter(JsonWriter& json) : json_(json) {}

  template <typename Value>
  void operator()(std::string_view key, const Value& value) {
    json_.key(key);
    append(value);
  }
  void operator()(std::string_view key, std::chrono::nanoseconds time) {
    json_.key(std::string(key).append("_us")).microseconds(time);
  }

 private:
  void append(std::string_view word) { json_.string(word); }
  template <std::integral Number>
  void append(Number number) {
    json_.number(number);
  }
  void append(std::chrono::microseconds period) { json_.number(std::int64_t{period.count()}); }
  void append(Mode mode) { append(spelled(mode)); }
  void append(Scale scale) { append(spelled(scale)); }
  void append(Base base) { append(static_cast<std::uint64_t>(base)); }
  void append(const Number& number) { json_.number_text(number.text); }
  void append(const QuantileList& quantiles) { append(quantiles.text()); }

  JsonWriter& json_;
};

Number fixed(Int128 value, unsigned decimals) {
  Number number;
  append_fixed(number.text, value, decimals);
  return number;
}

template <typename Write>
void write_range(Write& write, const Definition& definition) {
  if (definition.decimals == 0) {
    write("range_min", definition.range_min);
    write("range_max", definition.range_max);
  } else {
    write("range_min", Number{bound_text(definition.range_min, definition.decimals)});
    write("range_max", Number{bound_text(definition.range_max, definition.decimals)});
  }
}

template <typename Write>
void write_type(Write& write, const Definition& definition) {
  std::visit(
      [&](const auto& settings) {
        write("type", settings.kType);
        write_range(write, definition);
        settings.each_attribute(settings, [&](auto attribute, const auto& field) {
          if constexpr (std::is_same_v<decltype(attribute), attribute::BaseInterval>) {
            write(attribute.kKey, fixed(Int128{field}, definition.decimals));
          } else if constexpr (!requires { attribute.kDefault; }) {
            write(attribute.kKey, field);
          }
        });
      },
      definition.settings);
}

template <typename Write>
void write_decimals(Write& write, const Definition& definition) {
  if (definition.decimals != 0) write("decimals", definition.decimals);
}

// The attributes that lines of old do not have.
template <typename Write>
void write_other_than_default(Write& write, const Definition& definition) {
  std::visit(
      [&](const auto& settings) {
        settings.each_attribute(settings, [&](auto attribute, const auto& field) {
          if constexpr (requires { attribute.kDefault; }) {
            if (field != attribute.kDefault) write(attribute.kKey, field);
          }
        });
      },
      definition.settings);
}

// The keys of a line in their order.
template <typename Write>
void write_line(Write write, std::string_view name, const Definition& definition,
                const LineState& state) {
  write("name", name);
  if (!state.of.empty()) write("of", state.of);
  write("on", std::uint64_t{state.on});
  write_type(write, definition);
  if (state.hits_missed) write("hits_missed", *state.hits_missed);
  write_other_than_default(write, definition);
  write("hits_out_of_range", state.hits_out_of_range);
  write("data", state.data);
  write("started", state.started);
  write("stopped", state.stopped);
  write_decimals(write, definition);
  write("units", std::string_view(definition.units));
  if (!state.help.empty()) write("help", state.help);
}

}  // namespace

std::string bound_text(std::int64_t bound, unsigned decimals) {
  using Limits = std::numeric_limits<std::int64_t>;
  const bool is_none = bound == Limits::min() || bound == Limits::max();
  return fixed(bound, is_none ? 0 : decimals).text;
}

bool discards_data(const Definition& before, const Definition& after) {
  if (before.decimals != after.decimals) return true;
  const bool same_factor = factor_of_x(before) == factor_of_x(after);
  const auto* const was = std::get_if<QuantilesSettings>(&before.settings);
  const auto* const is = std::get_if<QuantilesSettings>(&after.settings);
  if (was && is) return was->precision != is->precision || !same_factor;
  const auto* const had = std::get_if<ListSettings>(&before.settings);
  const auto* const has = std::get_if<ListSettings>(&after.settings);
  if (had && has) return had->entries_max != has->entries_max;
  if (before.settings != after.settings) return true;
  const auto* const history = std::get_if<HistorySettings>(&after.settings);
  if (history && history->mode == Mode::kQuantiles) return !same_factor;
  const bool same_range =
      before.range_min == after.range_min && before.range_max == after.range_max;
  return std::holds_alternative<ArraySettings>(after.settings) && !same_range;
}

void append_line(std::string& out, std::string_view name, const Definition& definition,
                 const LineState& state) {
  write_line(LineWriter(out), name, definition, state);
  out.push_back('\n');
}

void write_members(JsonWriter& json, std::string_view name, const Definition& definition,
                   const LineState& state) {
  write_line(MemberWriter(json), name, definition, state);
}

void append_definition(std::string& out, const Definition& definition) {
  LineWriter write(out);
  write_type(write, definition);
  write_other_than_default(write, definition);
  write_decimals(write, definition);
  write("units", std::string_view(definition.units));
}

}  // namespace tallyfs::statistics
