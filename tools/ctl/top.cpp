// tallyctl top shows everything that moves, full screen. One thread reads (top_reader.h); this one
// takes keys and draws.
#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "tools/ctl/commands.h"
#include "tools/ctl/curses_screen.h"
#include "tools/ctl/facts.h"
#include "tools/ctl/line_editor.h"
#include "tools/ctl/session.h"
#include "tools/ctl/top_draw.h"
#include "tools/ctl/top_model.h"
#include "tools/ctl/top_past.h"
#include "tools/ctl/top_reader.h"
#include "tools/ctl/top_time.h"
#include "tools/display/distribution.h"
#include "tools/display/summary.h"
#include "tools/tree/definition_file.h"

namespace tallyfs {
namespace {

constexpr CommandText kTopText = {
    "top", "Shows everything that moves, full screen; ? in it has the keys.",
    "  tallyctl top                        each second\n"
    "  tallyctl top --at 03:00             a store, from then on; t and T seek\n"
    "  tallyctl top --vs 12:00..13:00      beside the rates of a span of a store"};
constexpr std::array kPeriods = {"1s", "2s", "5s", "10s", "250ms"};

class Top {
 public:
  Top(Session& session, TopTime time, std::unique_ptr<CursesScreen> terminal)
      : look_(session.look),
        mount_(session.source->mount()),
        map_store_(mount_.empty() ? "" : store_of_mount(mount_)),
        recorded_period_(session.source->period()),
        past_(time.store, time.extent, !mount_.empty(), recorded_period_),
        notes_{.versus = std::move(time.note)},
        terminal_(std::move(terminal)),
        reader_({std::move(session.source), std::move(time.damaged)}, session.options.period(),
                past_.opener(), map_store_) {
    if (time.others) model_.compare_with(*std::move(time.others));
    screen_.where = !time.store.empty() ? time.store
                    : mount_.empty()    ? session.options.from
                                        : mount_;
    screen_.every = session.options.every.empty() ? "1s" : session.options.every;
    look_.cut = true;
    if (!mount_.empty() && map_store_.empty() && notes_.versus.empty()) {
      notes_.fault = no_store_text(map_store_);
    }
  }

  // Returns the signal that ended it, or 0.
  int run() {
    while (!ends_ && terminal_->stopped_by() == 0) {
      draw();
      std::array<pollfd, 3> polled = {
          pollfd{.fd = 0, .events = POLLIN, .revents = 0},
          pollfd{.fd = reader_.wake_fd(), .events = POLLIN, .revents = 0},
          pollfd{.fd = terminal_->stop_fd(), .events = POLLIN, .revents = 0}};
      // The terminal reports a signal, such as that of a new size, as a key.
      if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) break;
      if (polled[0].revents & (POLLHUP | POLLERR)) break;  // the terminal is gone
      while (const auto input = terminal_->read()) take(*input);
      take_timestamp();
    }
    return terminal_->stopped_by();
  }

 private:
  void draw() {
    look_.width = terminal_->width();
    screen_.height = terminal_->height();
    model_.keep_selected_within(list_rows_of(screen_.height));
    order_selected();
    screen_.position =
        past_.position(model_.tree().realtime_us, parse_period(screen_.every), notes_, look_);
    view::Grid grid(look_.width, look_.charset);
    // Until the first data have come, a fault is all that can be shown.
    if (model_.tree().time_us != 0 || !screen_.fault.empty()) {
      draw_top(grid, model_, screen_, terminal_->colours(), look_);
    }
    terminal_->show(grid);
  }

  void take_timestamp() {
    auto moment = reader_.take();
    if (!moment) return;
    if (!past_.is_here(*moment)) return;
    screen_.fault = moment->fault;
    const bool is_sought = past_.has_arrived();
    if ((!screen_.is_paused || is_sought) && moment->tree) take_counts(*moment);
    // The reader reads each past once, so a paused screen takes it, too.
    if (auto past = reader_.take_map_past()) take(*std::move(past));
    order_selected();
    order_map_past();
  }
  void take_counts(TopMoment& moment) {
    screen_.dropped = moment.dropped;
    if (!moment.damaged.empty()) notes_.fault = fact_text(moment.damaged.back(), look_);
    model_.take(*std::move(moment.tree));
    if (moment.interface) model_.take(*moment.interface, period_us());
  }
  // A recording's moments are as far apart as they were recorded, however fast it is played.
  std::uint64_t period_us() const {
    const auto period = mount_.empty() ? recorded_period_ : parse_period(screen_.every);
    return static_cast<std::uint64_t>(period.count()) * static_cast<std::uint64_t>(past_.speed());
  }

  void take(MapPast past) {
    notes_.fault = past.fault;
    model_.take_past(std::move(past), parse_period(screen_.every));
  }

  // Orders the past of each map once for a period, and again when the store has what was counted
  // before the map was begun, since the recorder writes each ten seconds.
  void order_map_past() {
    constexpr std::uint64_t kStoredUs = 15'000'000;
    const view::Statistic* const statistic = model_.statistic();
    if (map_store_.empty() || !statistic) return;
    if (!view::distribution_of(*statistic, view::Detail::kOctaves)) return;
    const std::uint64_t now_us = model_.tree().realtime_us;
    const auto period = parse_period(screen_.every);
    const bool is_new = map_interface_ != model_.selected() ||
                        map_order_.statistic != statistic->name || map_order_.period != period;
    if (!is_new && (map_again_us_ == 0 || now_us < map_again_us_)) return;
    map_interface_ = model_.selected();
    map_again_us_ = is_new ? now_us + kStoredUs : 0;
    map_order_ = {map_order_.number + 1, statistic->name, period};
    order();
  }

  void take(const Input& input) {
    if (editor_) return edit(input);
    if (question_) return answer(input);
    screen_.message.clear();
    take_key(input);
    order_selected();
  }

  void order() {
    ordered_ = model_.selected();
    reader_.order({.interface = ordered_,
                   .period = parse_period(screen_.every),
                   .speed = past_.speed(),
                   .place = past_.place(),
                   .map = map_order_});
  }
  void order_selected() {
    if (model_.selected() != ordered_) order();
  }

  void take_key(const Input& input) {
    const int page = std::max(1, screen_.height - 5);
    constexpr int kAll = 1'000'000;
    switch (input.key) {
      case Input::Key::kUp:
      case Input::Key::kWheelUp:
        return model_.move(-1);
      case Input::Key::kDown:
      case Input::Key::kWheelDown:
        return model_.move(1);
      case Input::Key::kPageUp:
        return model_.move(-page);
      case Input::Key::kPageDown:
        return model_.move(page);
      case Input::Key::kHome:
        return model_.move(-kAll);
      case Input::Key::kEnd:
        return model_.move(kAll);
      case Input::Key::kLeft:
        return model_.move_statistic(-1);
      case Input::Key::kRight:
      case Input::Key::kTab:
        return model_.move_statistic(1);
      case Input::Key::kEnter:
        screen_.page = TopScreen::Page::kZoom;
        return;
      case Input::Key::kEscape:
        return go_back();
      case Input::Key::kClick:
        return click(input);
      case Input::Key::kLetter:
        return take_letter(input.letter);
      case Input::Key::kBackspace:
      case Input::Key::kResize:
      case Input::Key::kOther:
        return;
    }
  }

  void go_back() {
    if (screen_.page == TopScreen::Page::kList) model_.set_filter("");
    screen_.page = TopScreen::Page::kList;
  }

  void click(const Input& input) {
    if (screen_.page != TopScreen::Page::kList) return;
    constexpr int kChangeColumn = 8;
    constexpr int kNameColumn = 14;
    if (input.row == 1) {
      const bool is_change = model_.is_compared() && input.column >= kChangeColumn;
      const TopOrder number = is_change ? TopOrder::kChange : TopOrder::kRate;
      model_.set_order(input.column < kNameColumn ? number : TopOrder::kName);
    } else if (input.row >= kTopListRow) {
      model_.select_row(screen_.first_row + static_cast<std::size_t>(input.row - kTopListRow));
    }
  }

  void take_letter(char32_t letter) {
    switch (letter) {
      case 'q':
        ends_ = true;
        return;
      case 'j':
        return model_.move(1);
      case 'k':
        return model_.move(-1);
      case 'h':
        screen_.picture = TopScreen::Picture::kHeat;
        return;
      case 'b':
        screen_.picture = TopScreen::Picture::kBars;
        return;
      case '?':
        screen_.page = TopScreen::Page::kHelp;
        return;
      case 's':
        return model_.set_next_order();
      case ' ':
        screen_.is_paused = !screen_.is_paused;
        return;
      case '/':
        return begin_edit(Edited::kFilter, "filter: ", model_.filter());
      case 'd':
        return edit_definition();
      case 'o':
        return switch_interface();
      case 'r':
        return ask_to_reset();
      case 'e':
        return change_period();
      default:
        return;
      case 't':
      case 'T':
      case '<':
      case '>':
        return take_letter_of_past(letter);
    }
  }

  void take_letter_of_past(char32_t letter) {
    screen_.message = past_.take(letter, model_.tree().realtime_us, parse_period(screen_.every));
    if (past_.is_seeking()) model_.begin_again();
    order();
  }

  // ---- what changes the tree

  void write(const std::string& line) {
    const auto done = write_definition(mount_, model_.selected(), line);
    screen_.message = done ? done.value() : done.error().reason;
    order();
  }

  bool is_changeable() {
    if (!mount_.empty() && model_.statistic()) return true;
    screen_.message = mount_.empty() ? "a recording does not change" : "nothing is selected";
    return false;
  }

  void switch_interface() {
    if (!is_changeable()) return;
    const auto& all = model_.interface()->statistics;
    const bool is_on = std::ranges::any_of(all, &view::Statistic::on);
    write(is_on ? "on=0" : "on=1");
  }

  void ask_to_reset() {
    if (!is_changeable()) return;
    const view::Statistic& statistic = *model_.statistic();
    question_ = "name=" + statistic.name + " data=reset";
    const std::string name = view::shown_name(model_.selected(), statistic.name);
    screen_.message = "discard the data of " + name + "? y/n";
  }

  // Writes the line of the question if the answer is `y`.
  void answer(const Input& input) {
    const std::string line = *std::exchange(question_, std::nullopt);
    screen_.message.clear();
    if (input.key == Input::Key::kLetter && input.letter == 'y') write(line);
  }

  void edit_definition() {
    if (!is_changeable()) return;
    std::string line;
    for (const view::Key& key : model_.statistic()->definition) {
      line.append(line.empty() ? "" : " ").append(key.name).append("=").append(key.value);
    }
    samples_ = model_.statistic()->samples;
    begin_edit(Edited::kDefinition, "", line);
  }

  // ---- the last line

  enum class Edited { kFilter, kDefinition };

  void begin_edit(Edited what, std::string prompt, const std::string& text) {
    edited_ = what;
    unedited_ = text;
    editor_.emplace(std::move(prompt), text, look_.charset);
    show_editor();
  }
  void show_editor() {
    screen_.message = editor_->shown(terminal_->width() - 2);
    if (edited_ == Edited::kFilter) model_.set_filter(editor_->text());
  }

  void edit(const Input& input) {
    if (input.key == Input::Key::kEscape) {
      if (edited_ == Edited::kFilter) model_.set_filter("");
      editor_.reset();
      screen_.message.clear();
    } else if (input.key == Input::Key::kEnter) {
      end_edit();
    } else {
      editor_->take(input);
      show_editor();
    }
  }

  void end_edit() {
    const std::string line = editor_->text();
    editor_.reset();
    screen_.message.clear();
    if (edited_ == Edited::kFilter) return;
    if (samples_ == 0) return write(line);
    question_ = line;
    screen_.message = line + caret_below_change(unedited_, line, look_.charset) +
                      "\nwrite it? If the type changes, the data is discarded. y/n";
  }

  void change_period() {
    const auto found = std::ranges::find(kPeriods, screen_.every);
    const std::size_t at =
        found == kPeriods.end() ? 0 : 1 + static_cast<std::size_t>(found - kPeriods.begin());
    screen_.every = kPeriods[at % kPeriods.size()];
    order();
  }

  view::Look look_;
  const std::string mount_;
  const std::string map_store_;  // empty: the map has no past but what `top` has read itself
  const std::chrono::microseconds recorded_period_;
  TopPast past_;
  TopPast::Notes notes_;  // below the list
  TopModel model_;
  TopScreen screen_;
  std::unique_ptr<CursesScreen> terminal_;
  TopReader reader_;
  std::string ordered_;  // the interface that is read
  std::string map_interface_;       // that of map_order_
  std::uint64_t map_again_us_ = 0;  // when its past is ordered once more; 0: never
  TopMapOrder map_order_;           // the newest one
  Edited edited_ = Edited::kFilter;
  std::optional<LineEditor> editor_;
  std::string unedited_;
  std::optional<std::string> question_;  // the line that `y` writes
  std::uint64_t samples_ = 0;            // of the statistic whose definition is edited
  bool ends_ = false;
};

// The terminal is restored before the reader is waited for.
int run_on_terminal(Session& session, TopTime time, bool has_mouse) {
  auto opened = CursesScreen::open(has_mouse, session.terminal.colours, session.terminal.theme);
  if (!opened) return complain(kWrongUsage, opened.error().reason);
  int signal = 0;
  {
    Top top(session, std::move(time), std::move(opened).value());
    signal = top.run();
  }
  // The shell expects that a program which a signal ended dies by that signal.
  if (signal != 0) ::raise(signal);
  return kDone;
}

}  // namespace

int run_top(int argc, char** argv) {
  Session session;
  bool has_no_mouse = false;
  CommandLine line = command_line(kTopText, session.options);
  add_from(line, session.options);
  add_every(line, session.options);
  PastOptions past;
  add_past(line, past);
  add_versus(line, past);
  line.add_flag("--utc", session.options.utc, "times of day in UTC");
  line.add_flag("--no-mouse", has_no_mouse, "leave the mouse to the terminal");
  if (const auto status = line.parse(argc, argv)) return *status;
  TopTime time;
  if (const auto status = open_time(session, past, time)) return *status;
  if (const auto status = session.refuse_dumb("show --every 1s needs none")) return *status;
  // stderr reports a mount that does not answer, as long as the terminal is not a screen.
  if (const auto tree = read_tree(*session.source); !tree) return complain(tree.error());
  return run_on_terminal(session, std::move(time), !has_no_mouse);
}

}  // namespace tallyfs
