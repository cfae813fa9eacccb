// The terminal in the hands of ncurses, the last step of `top`: shows a grid, and reads keys.
//
// The terminal comes back as it was (screen, cursor, mouse, echo) from the destructor, on SIGTSTP,
// and on SIGSEGV and SIGABRT by prepared bytes. SIGINT, SIGTERM, SIGHUP and SIGQUIT make stop_fd()
// readable; stopped_by() is the signal. One exists at a time, confined to one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "tools/display/grid.h"
#include "tools/display/heat_colour.h"

namespace tallyfs {

struct Input {
  enum class Key {
    kLetter,  // `letter`, also of a control character
    kUp,
    kDown,
    kLeft,
    kRight,
    kPageUp,
    kPageDown,
    kHome,
    kEnd,
    kEnter,
    kEscape,
    kBackspace,
    kTab,
    kResize,
    kClick,
    kWheelUp,
    kWheelDown,
    kOther,
  };
  Key key = Key::kOther;
  char32_t letter = 0;
  int row = 0;  // of a click
  int column = 0;
};

class CursesScreen {
 public:
  // kNotFound: stdin or stdout is no terminal, or it is of an unknown kind.
  static Result<std::unique_ptr<CursesScreen>> open(bool has_mouse, view::Colours colours,
                                                    view::Theme theme);
  ~CursesScreen();
  CursesScreen(const CursesScreen&) = delete;
  CursesScreen& operator=(const CursesScreen&) = delete;

  int width() const;
  int height() const;
  // The wanted colours, as far as the terminal has them.
  view::Colours colours() const { return colours_; }
  void show(const view::Grid& grid);
  // The next key that was pressed; nullopt if there is none.
  std::optional<Input> read();

  int stop_fd() const;
  int stopped_by() const;

 private:
  CursesScreen(bool has_mouse, view::Colours colours, view::Theme theme);

  view::Colours colours_;
  const view::Theme theme_;
};

}  // namespace tallyfs
