#include "tools/ctl/terminal.h"

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "core/base/text.h"
#include "tools/display/terminal_text.h"

namespace tallyfs {
namespace {

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

bool wants_colours(const Options& options, bool is_terminal) {
  if (options.color != "auto") return options.color == "always";
  if (!environment("NO_COLOR").empty()) return false;
  const std::string_view force = environment("CLICOLOR_FORCE");
  if (!force.empty() && force != "0") return true;
  return environment("CLICOLOR") != "0" && is_terminal && environment("TERM") != "dumb";
}

view::Colours most_colours() {
  const std::string_view given = environment("COLORTERM");
  if (given == "truecolor" || given == "24bit") return view::Colours::kTrue;
  const std::string_view term = environment("TERM");
  const bool has_256 = term.find("256color") != std::string_view::npos;
  return has_256 ? view::Colours::k256 : view::Colours::k16;
}

int find_width(bool is_terminal) {
  constexpr int kOfPipes = 100;
  constexpr int kLeast = 40;
  winsize size{};
  if (is_terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return std::max<int>(kLeast, size.ws_col);
  }
  const auto columns = parse_unsigned(environment("COLUMNS"));
  return columns && *columns <= 10'000 ? std::max(kLeast, static_cast<int>(*columns)) : kOfPipes;
}

std::string time_text(std::time_t seconds, bool utc, const char* format) {
  std::tm parts{};
  if (utc) {
    ::gmtime_r(&seconds, &parts);
  } else {
    ::localtime_r(&seconds, &parts);
  }
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), format, &parts);
  return text.data();
}
std::string clock_text(std::uint64_t realtime_us, bool utc) {
  return time_text(static_cast<std::time_t>(realtime_us / 1'000'000), utc, "%H:%M:%S");
}
std::string date_text(std::uint64_t realtime_us, bool utc) {
  constexpr const char* kDate = "%Y-%m-%d";
  std::string date = time_text(static_cast<std::time_t>(realtime_us / 1'000'000), utc, kDate);
  return date == time_text(std::time(nullptr), utc, kDate) ? std::string() : date;
}

}  // namespace

std::string dated(std::uint64_t realtime_us, bool utc) {
  return time_text(static_cast<std::time_t>(realtime_us / 1'000'000), utc, "%Y-%m-%d %H:%M:%S");
}

Terminal find_terminal(const Options& options) {
  Terminal made;
  made.is_terminal = ::isatty(STDOUT_FILENO) == 1;
  made.is_dumb = made.is_terminal && environment("TERM") == "dumb";
  made.width = find_width(made.is_terminal);
  const bool is_utf8 = std::string_view(::nl_langinfo(CODESET)) == "UTF-8";
  made.charset = is_utf8 && !options.ascii ? view::Charset::kUtf8 : view::Charset::kAscii;
  if (wants_colours(options, made.is_terminal)) made.colours = most_colours();
  made.theme = options.theme == "light" ? view::Theme::kLight : view::Theme::kDark;
  return made;
}

view::Look look_of(const Options& options, const Terminal& terminal) {
  const bool utc = options.utc;
  return {.width = terminal.width,
          .charset = terminal.charset,
          .cut = terminal.is_terminal,
          .header = !options.no_header,
          .exact = options.exact,
          .all = options.all,
          .clock = [utc](std::uint64_t realtime_us) { return clock_text(realtime_us, utc); },
          .date = [utc](std::uint64_t realtime_us) { return date_text(realtime_us, utc); }};
}

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void print(const view::Grid& grid, const Terminal& terminal) {
  print(view::terminal_text(grid, terminal.colours, terminal.theme));
}

}  // namespace tallyfs
