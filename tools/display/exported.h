// A table for other programs: CSV, TSV, or objects of JSON. Values and pure functions.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"

namespace tallyfs::view {

struct Exported {
  enum class Cells : std::uint8_t { kNumbers, kTexts };
  struct Column {
    std::string name;
    Cells cells = Cells::kNumbers;
  };
  std::vector<Column> columns;
  // A cell for each column; a number as JSON has it. An empty number is not known.
  std::vector<std::vector<std::string>> rows{};
};

// A line for each row. A text that a spreadsheet would take for a formula has an apostrophe before
// it, and what a terminal would obey is shown as \xNN.
// With commas as RFC 4180 has it, else with tabs; the first line names the columns if there is a
// header.
enum class Separator : char { kComma = ',', kTab = '\t' };
std::string rows_text(const Exported& table, Separator separator, bool header);
// The same cells as an array of objects; what is not known is null.
void write_rows(JsonWriter& writer, const Exported& table);

// A cell with 15 significant digits.
std::string number_cell(double number);

}  // namespace tallyfs::view
