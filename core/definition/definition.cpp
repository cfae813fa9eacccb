#include "core/definition/definition.h"

#include "core/base/text.h"

namespace tallyfs {
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

void append(std::string& out, std::string_view key, std::string_view word) {
  out.append(key).append(word);
}

void append(std::string& out, std::string_view key, std::uint64_t number) {
  append_number(out.append(key), number);
}

void append(std::string& out, std::string_view key, std::int64_t number) {
  append_number(out.append(key), number);
}

void append(std::string& out, std::string_view key, std::chrono::nanoseconds time) {
  append_timestamp(out.append(key), time);
}

void append(std::string& out, std::string_view key, std::uint32_t number) {
  append(out, key, std::uint64_t{number});
}

void append(std::string& out, std::string_view key, std::uint8_t number) {
  append(out, key, std::uint64_t{number});
}

void append(std::string& out, std::string_view key, std::chrono::microseconds period) {
  append(out, key, std::int64_t{period.count()});
}

void append(std::string& out, std::string_view key, Mode mode) { append(out, key, spelled(mode)); }

void append(std::string& out, std::string_view key, Scale scale) {
  append(out, key, spelled(scale));
}

void append(std::string& out, std::string_view key, const QuantileList& quantiles) {
  append(out, key, quantiles.text());
}

void append_type(std::string& out, const Definition& definition) {
  std::visit(
      [&](const auto& settings) {
        append(out, "type=", settings.kType);
        append(out, " range_min=", definition.range_min);
        append(out, " range_max=", definition.range_max);
        settings.each_attribute(settings, [&](auto attribute, const auto& field) {
          append(out.append(" ").append(attribute.kKey), "=", field);
        });
      },
      definition.settings);
}

}  // namespace

bool discards_data(const Definition& before, const Definition& after) {
  const auto* const was = std::get_if<QuantilesSettings>(&before.settings);
  const auto* const is = std::get_if<QuantilesSettings>(&after.settings);
  if (was && is) return was->precision != is->precision;
  if (before.settings != after.settings) return true;
  const bool same_range =
      before.range_min == after.range_min && before.range_max == after.range_max;
  return std::holds_alternative<ArraySettings>(after.settings) && !same_range;
}

void append_line(std::string& out, std::string_view name, const Definition& definition,
                 const LineState& state) {
  append(out, "name=", name);
  if (!state.of.empty()) append(out, " of=", state.of);
  append(out, " on=", std::uint64_t{state.on});
  append_type(out.append(" "), definition);
  if (state.hits_missed) append(out, " hits_missed=", *state.hits_missed);
  append(out, " hits_out_of_range=", state.hits_out_of_range);
  append(out, " data=", state.data);
  append(out, " started=", state.started);
  append(out, " stopped=", state.stopped);
  append(out, " units=", std::string_view(definition.units));
  out.push_back('\n');
}

void append_definition(std::string& out, const Definition& definition) {
  append_type(out, definition);
  append(out, " units=", std::string_view(definition.units));
}

}  // namespace tallyfs
