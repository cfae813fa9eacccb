// Options that the commands share. Each command declares which groups it has; -h -V --mount --json
// --ascii --color mean the same everywhere. Values of one run.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "program/command_line.h"

namespace tallyfs {

struct Options {
  std::string mount;
  std::string from;
  bool json = false;
  bool ascii = false;
  std::string color = "auto";
  std::string theme = "dark";
  bool utc = false;
  bool no_header = false;
  bool exact = false;
  bool all = false;
  bool total = false;
  std::string sort;
  bool nonzero = false;
  std::uint64_t top = 0;
  bool csv = false;
  bool tsv = false;
  std::string every;
  std::uint64_t count = 0;
  std::vector<std::string> words;  // arguments that are no options

  // every, or 1 s.
  std::chrono::microseconds period() const;
  bool sorts_rows() const { return !sort.empty() || nonzero || top != 0; }
  // True if rows are printed for programs: CSV, TSV, or JSON that is sorted.
  bool exports_rows() const { return csv || tsv || (json && sorts_rows()); }
  // True if one of the options of add_rows() was given.
  bool chooses_rows() const { return sorts_rows() || exports_rows(); }
};

struct CommandText {
  const char* name;
  const char* purpose;
  const char* examples;  // three lines
};

// With --mount, --json, --ascii, --color, --theme.
CommandLine command_line(const CommandText& text, Options& options);
void add_from(CommandLine& line, Options& options);
void add_every(CommandLine& line, Options& options);
// --sort, --nonzero, --top, --csv, --tsv: of tables with a row for each statistic.
void add_rows(CommandLine& line, Options& options);
// --top, --csv, --tsv: of what has no numbers to sort by. rows_of_top: which rows --top prints.
void add_export(CommandLine& line, Options& options, const std::string& rows_of_top);
// The fault in --sort where rows are of one span; empty: none.
std::string fault_of_sorting(const Options& options);
// --utc, --no-header, --exact, --all
void add_table_options(CommandLine& line, Options& options);

// Whether the word is an option whose value is the next word.
bool takes_value(std::string_view word);
int print_version();
// On stderr, with the program's name; returns the status. What a terminal would obey becomes \xNN,
// but for newlines.
int complain(int status, const std::string& text);
// "1s", "250ms", "2h", or a number of seconds: 100 ms to a day. Zero if it is no such time.
std::chrono::microseconds parse_period(std::string_view text);
// The fault in an option that parse_period() parses; empty: none.
std::string fault_of_period(const std::string& text);

}  // namespace tallyfs
