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

// One for each type: its attributes, in the order of the file.
void append_attributes(std::string& out, const ValueSettings& settings) {
  append(out, " mode=", spelled(settings.mode));
}

void append_attributes(std::string&, const RangeSettings&) {}

void append_attributes(std::string& out, const ListSettings& settings) {
  append(out, " entries_max=", std::uint64_t{settings.entries_max});
}

void append_attributes(std::string& out, const ArraySettings& settings) {
  append(out, " base_interval=", settings.base_interval);
  append(out, " scale=", spelled(settings.scale));
}

void append_attributes(std::string& out, const HistorySettings& settings) {
  append(out, " entries_max=", std::uint64_t{settings.entries_max});
  append(out, " mode=", spelled(settings.mode));
  append(out, " period=", std::int64_t{settings.period.count()});
}

void append_attributes(std::string& out, const RawSettings& settings) {
  append(out, " entries_max=", std::uint64_t{settings.entries_max});
}

void append_type(std::string& out, const Definition& definition) {
  std::visit(
      [&](const auto& settings) {
        append(out, "type=", settings.kType);
        append(out, " range_min=", definition.range_min);
        append(out, " range_max=", definition.range_max);
        append_attributes(out, settings);
      },
      definition.settings);
}

}  // namespace

bool discards_data(const Definition& before, const Definition& after) {
  if (before.settings != after.settings) return true;
  const bool same_range =
      before.range_min == after.range_min && before.range_max == after.range_max;
  return std::holds_alternative<ArraySettings>(after.settings) && !same_range;
}

void append_line(std::string& out, std::string_view name, const Definition& definition,
                 const LineState& state) {
  append(out, "name=", name);
  append(out, " on=", std::uint64_t{state.on});
  append_type(out.append(" "), definition);
  if (std::holds_alternative<ListSettings>(definition.settings)) {
    append(out, " hits_missed=", state.hits_missed);
  }
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
