#include "tools/display/exported.h"

#include <array>
#include <cstdio>
#include <string_view>

#include "core/base/shown_text.h"

namespace tallyfs::view {
namespace {

// Spreadsheets carry out a cell that begins so; behind an apostrophe they show it.
std::string text_cell(const std::string& text) {
  const bool is_formula = !text.empty() && std::string_view("=+-@").find(text[0]) != text.npos;
  std::string made = is_formula ? "'" : "";
  append_shown(made, text, text.size(), 0);
  return made;
}

void put_cell(std::string& text, const std::string& cell, Separator separator) {
  const bool is_quoted = separator == Separator::kComma && cell.find_first_of(",\"") != cell.npos;
  if (!is_quoted) {
    text.append(cell);
    return;
  }
  text.push_back('"');
  for (const char c : cell) text.append(c == '"' ? 2 : 1, c);
  text.push_back('"');
}

template <typename CellOf>
void put_line(std::string& text, std::size_t cells, Separator separator, const CellOf& cell_of) {
  for (std::size_t i = 0; i < cells; ++i) {
    if (i > 0) text.push_back(static_cast<char>(separator));
    put_cell(text, cell_of(i), separator);
  }
  text.append(separator == Separator::kComma ? "\r\n" : "\n");
}

}  // namespace

std::string rows_text(const Exported& table, Separator separator, bool header) {
  const auto& columns = table.columns;
  std::string text;
  if (header) {
    put_line(text, columns.size(), separator,
             [&](std::size_t i) -> const std::string& { return columns[i].name; });
  }
  for (const auto& row : table.rows) {
    put_line(text, columns.size(), separator, [&](std::size_t i) {
      return columns[i].cells == Exported::Cells::kTexts ? text_cell(row[i]) : row[i];
    });
  }
  return text;
}

void write_rows(JsonWriter& writer, const Exported& table) {
  writer.begin_array();
  for (const auto& row : table.rows) {
    writer.begin_object();
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      writer.key(table.columns[i].name);
      if (table.columns[i].cells == Exported::Cells::kTexts)
        writer.string(row[i]);
      else if (row[i].empty())
        writer.null();
      else
        writer.number_text(row[i]);
    }
    writer.end_object();
  }
  writer.end_array();
}

std::string number_cell(double number) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.15g", number);
  return text.data();
}

}  // namespace tallyfs::view
