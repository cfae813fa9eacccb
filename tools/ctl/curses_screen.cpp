#include "tools/ctl/curses_screen.h"

#define NCURSES_NOMACROS 1
#include <ncursesw/curses.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

namespace tallyfs {
namespace {

constexpr short kFirstHeatPair = 16;
constexpr std::array kStopping = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr std::array kCrashing = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE};
// No mouse, the cursor, the plain style, the other screen.
constexpr char kLeave[] = "\x1b[?1006l\x1b[?1002l\x1b[?1000l\x1b[?25h\x1b[0m\x1b[?1049l\r\n";

// State of the only screen, since signal handlers can use only globals.
volatile sig_atomic_t stop_signal = 0;
int stop_event = -1;
termios saved_terminal{};

void note_stop(int signal) {
  stop_signal = signal;
  constexpr std::uint64_t kOne = 1;
  [[maybe_unused]] const ssize_t size = ::write(stop_event, &kOne, sizeof kOne);
}

void restore_and_crash(int signal) {
  [[maybe_unused]] const ssize_t size = ::write(STDOUT_FILENO, kLeave, sizeof kLeave - 1);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &saved_terminal);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

void set_handlers(void (*stop)(int), void (*crash)(int)) {
  struct sigaction action {};
  action.sa_handler = stop;
  for (const int signal : kStopping) ::sigaction(signal, &action, nullptr);
  action.sa_handler = crash;
  for (const int signal : kCrashing) ::sigaction(signal, &action, nullptr);
}

// The pair of a tone; 0 is the terminal's own colours.
short pair_of(view::Tone tone) {
  switch (tone) {
    case view::Tone::kBar:
      return COLOR_CYAN;
    case view::Tone::kGood:
      return COLOR_GREEN;
    case view::Tone::kWarning:
      return COLOR_YELLOW;
    case view::Tone::kBad:
      return COLOR_RED;
    case view::Tone::kPlain:
    case view::Tone::kBold:
    case view::Tone::kDim:
    case view::Tone::kHeat:
    case view::Tone::kSelected:
      break;
  }
  return 0;
}

attr_t attributes_of(view::Tone tone) {
  switch (tone) {
    case view::Tone::kBold:
    case view::Tone::kBad:
      return A_BOLD;
    case view::Tone::kDim:
      return A_DIM;
    case view::Tone::kSelected:
      return A_REVERSE;
    case view::Tone::kPlain:
    case view::Tone::kBar:
    case view::Tone::kGood:
    case view::Tone::kWarning:
    case view::Tone::kHeat:
      break;
  }
  return A_NORMAL;
}

Input to_click() {
  MEVENT event;
  if (::getmouse(&event) != OK) return {};
  Input made{.key = Input::Key::kOther, .row = event.y, .column = event.x};
  if (event.bstate & BUTTON4_PRESSED) made.key = Input::Key::kWheelUp;
  if (event.bstate & BUTTON5_PRESSED) made.key = Input::Key::kWheelDown;
  if (event.bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED)) made.key = Input::Key::kClick;
  return made;
}

Input to_input(wint_t code) {
  switch (code) {
    case KEY_UP:
      return {Input::Key::kUp};
    case KEY_DOWN:
      return {Input::Key::kDown};
    case KEY_LEFT:
      return {Input::Key::kLeft};
    case KEY_RIGHT:
      return {Input::Key::kRight};
    case KEY_PPAGE:
      return {Input::Key::kPageUp};
    case KEY_NPAGE:
      return {Input::Key::kPageDown};
    case KEY_HOME:
      return {Input::Key::kHome};
    case KEY_END:
      return {Input::Key::kEnd};
    case KEY_ENTER:
      return {Input::Key::kEnter};
    case KEY_BACKSPACE:
      return {Input::Key::kBackspace};
    case KEY_RESIZE:
      return {Input::Key::kResize};
    case KEY_MOUSE:
      return to_click();
    default:
      return {};
  }
}

Input to_letter(wint_t code) {
  if (code == '\n' || code == '\r') return {Input::Key::kEnter};
  if (code == '\t') return {Input::Key::kTab};
  if (code == 0x1b) return {Input::Key::kEscape};
  if (code == 0x7f || code == 0x08) return {Input::Key::kBackspace};
  return {Input::Key::kLetter, static_cast<char32_t>(code)};
}

}  // namespace

Result<std::unique_ptr<CursesScreen>> CursesScreen::open(bool has_mouse, view::Colours colours,
                                                         view::Theme theme) {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) {
    return Error{ErrorCode::kNotFound, "top needs a terminal; show --every 1s needs none"};
  }
  ::tcgetattr(STDIN_FILENO, &saved_terminal);
  stop_event = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  stop_signal = 0;
  if (::newterm(nullptr, stdout, stdin) == nullptr) {
    const char* const term = std::getenv("TERM");
    return Error{ErrorCode::kNotFound,
                 std::string("this terminal is not known: TERM=") + (term ? term : "")};
  }
  return std::unique_ptr<CursesScreen>(new CursesScreen(has_mouse, colours, theme));
}

CursesScreen::CursesScreen(bool has_mouse, view::Colours colours, view::Theme theme)
    : colours_(colours), theme_(theme) {
  set_handlers(note_stop, restore_and_crash);
  ::cbreak();
  ::noecho();
  ::nodelay(stdscr, TRUE);
  ::keypad(stdscr, TRUE);
  ::set_escdelay(25);
  ::curs_set(0);
  if (has_mouse) {
    ::mousemask(BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON4_PRESSED | BUTTON5_PRESSED, nullptr);
    ::mouseinterval(0);
  }
  if (colours_ == view::Colours::kNone || !::has_colors()) {
    colours_ = view::Colours::kNone;
    return;
  }
  ::start_color();
  ::use_default_colors();
  for (const int each : {COLOR_CYAN, COLOR_GREEN, COLOR_YELLOW, COLOR_RED}) {
    const auto colour = static_cast<short>(each);
    ::init_pair(colour, colour, -1);
  }
  const bool has_256 = COLORS >= 256 && colours_ != view::Colours::k16;
  colours_ = has_256 ? view::Colours::k256 : view::Colours::k16;
  for (short level = 1; has_256 && level <= 10; ++level) {
    ::init_pair(static_cast<short>(kFirstHeatPair + level),
                static_cast<short>(view::number_of_256(level, theme_)), -1);
  }
}

CursesScreen::~CursesScreen() {
  ::endwin();
  set_handlers(SIG_DFL, SIG_DFL);
  ::close(stop_event);
}

int CursesScreen::width() const { return COLS; }
int CursesScreen::height() const { return LINES; }
int CursesScreen::stop_fd() const { return stop_event; }
int CursesScreen::stopped_by() const { return stop_signal; }

void CursesScreen::show(const view::Grid& grid) {
  ::werase(stdscr);
  for (int row = 0; row < std::min(grid.height(), LINES); ++row) {
    ::wmove(stdscr, row, 0);
    for (const view::Cell& cell : grid.row(row)) {
      short pair = colours_ == view::Colours::kNone ? short{0} : pair_of(cell.style.tone);
      // Level 0 has counted nothing: the terminal's background.
      const bool is_heat = cell.style.tone == view::Tone::kHeat && cell.style.level > 0;
      if (is_heat && colours_ == view::Colours::k256) {
        pair = static_cast<short>(kFirstHeatPair + cell.style.level);
      }
      ::wattr_set(stdscr, attributes_of(cell.style.tone), pair, nullptr);
      ::waddstr(stdscr, cell.text.c_str());
    }
  }
  ::wattr_set(stdscr, A_NORMAL, 0, nullptr);
  ::wrefresh(stdscr);
}

std::optional<Input> CursesScreen::read() {
  wint_t code = 0;
  const int kind = ::wget_wch(stdscr, &code);
  if (kind == ERR) return std::nullopt;
  return kind == KEY_CODE_YES ? to_input(code) : to_letter(code);
}

}  // namespace tallyfs
