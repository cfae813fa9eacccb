// tallyctl errors prints the newest refused lines and warnings of all doors, with the wall clock.
#include <algorithm>
#include <span>
#include <vector>

#include "core/base/text.h"
#include "tools/ctl/commands.h"
#include "tools/ctl/session.h"
#include "tools/tree/timed_file.h"

namespace tallyfs {
namespace {

constexpr CommandText kErrorsText = {
    "errors", "Shows the newest refused lines and warnings, each with its reason.",
    "  tallyctl errors              those that are kept, 256 at most\n"
    "  tallyctl errors -f           and those that follow, until Ctrl-C\n"
    "  tallyctl errors --json       errors.json as it is"};

// Columns: a terminal wraps what is longer than its lines.
constexpr int kUncut = 1 << 13;

// Columns before the caret on the screen, where a character may be two columns wide, or be shown as
// \xNN. `column` counts characters, and is behind the text where something is missing there.
int caret_at(std::string_view text, std::uint64_t column, view::Charset charset) {
  constexpr std::uint64_t kBehindMax = 2;
  std::size_t bytes = 0;
  for (; column > 0 && bytes < text.size(); --column) {
    char32_t point = 0;
    bytes += std::max<std::size_t>(utf8_length(text.substr(bytes), point), 1);
  }
  const auto behind = static_cast<int>(std::min(column, kBehindMax));
  return view::width_of(text.substr(0, bytes), charset) + behind;
}

class Errors {
 public:
  Errors(Session& session, bool follows) : session_(session), follows_(follows) {}

  int run() {
    for (std::uint64_t n = 1;; ++n) {
      const auto read = read_in_time(session_.source->mount() + "/errors.json");
      if (!read) return complain(read.error());
      const auto json = parse_json(read.value());
      if (!json) return complain(json.error());
      if (session_.options.json && !session_.options.exports_rows())
        print(read.value());
      else
        show(json.value());
      if (!follows_ || n == session_.options.count) return kDone;
      const auto next = session_.source->next(session_.options.period());
      if (!next) return complain(next.error());
    }
  }

 private:
  void show(const Json& json) {
    view::Grid grid(kUncut, session_.terminal.charset);
    static const Json kNone;
    const Json* const found = json.find("errors");
    const Json* const errors = found ? found : &kNone;
    const std::uint64_t kept = errors->items.size();
    const std::uint64_t reported = json.number_of("reported");
    const bool is_first = epoch_.empty();
    if (const auto epoch = json.text_of("epoch"); epoch != epoch_ || reported < seen_) {
      if (!is_first) {
        session_.put_note(grid, "the daemon has started again", {view::Tone::kWarning});
      }
      epoch_ = epoch;
      seen_ = 0;
    }
    const std::uint64_t shown = std::min(kept, reported - seen_);
    if (const std::uint64_t missed = reported - seen_ - shown; missed != 0) {
      session_.put_note(grid, std::to_string(missed) + " are not kept", {view::Tone::kWarning});
    }
    if (is_first && shown == 0) {
      session_.put_note(grid, "nothing was refused since " + begin_of(json), {});
    }
    seen_ = reported;
    auto rows = chosen(std::span(errors->items).last(shown));
    if (session_.options.exports_rows()) return session_.print_rows(exported(rows));
    for (const Json* each : rows) draw(grid, *each);
    print(grid, session_.terminal);
  }

  // Returns the newest of `errors`, whose order is that of time. --sort orders these by where a
  // line was refused, and keeps the order of time within one place.
  std::vector<const Json*> chosen(std::span<const Json> errors) const {
    const std::uint64_t top = session_.options.top;
    if (top != 0 && errors.size() > top) errors = errors.last(top);
    std::vector<const Json*> rows;
    for (const Json& each : errors) rows.push_back(&each);
    if (!session_.options.sort.empty()) {
      std::ranges::stable_sort(rows, {}, [](const Json* each) { return each->text_of("where"); });
    }
    return rows;
  }

  static view::Exported exported(const std::vector<const Json*>& errors) {
    constexpr auto kTexts = view::Exported::Cells::kTexts;
    view::Exported made{{{"time"},
                         {"kind", kTexts},
                         {"door", kTexts},
                         {"uid"},
                         {"where", kTexts},
                         {"reason", kTexts},
                         {"text", kTexts},
                         {"column"}}};
    for (const Json* each : errors) {
      const auto text = [each](const char* key) { return std::string(each->text_of(key)); };
      const double seconds = static_cast<double>(each->number_of("realtime_us")) / 1e6;
      made.rows.push_back({view::number_cell(seconds), text("kind"), text("door"), text("uid"),
                           text("where"), text("reason"), text("text"), text("column")});
    }
    return made;
  }

  std::string begin_of(const Json& json) const {
    const std::uint64_t age = json.number_of("time_us") - json.number_of("begun_us");
    return dated(json.number_of("realtime_us") - age, session_.options.utc);
  }

  void draw(view::Grid& grid, const Json& each) const {
    const bool is_warning = each.text_of("kind") == "warning";
    std::string line = dated(each.number_of("realtime_us"), session_.options.utc);
    line.append("  ").append(each.text_of("where")).append(": ").append(each.text_of("kind"));
    line.append(": ").append(each.text_of("reason"));
    grid.put_line(line, {is_warning ? view::Tone::kWarning : view::Tone::kBad});
    const std::string_view text = each.text_of("text");
    if (text.empty()) return;
    grid.put_line("  " + std::string(text));
    const int caret = caret_at(text, each.number_of("column"), session_.terminal.charset);
    grid.put_line("  " + std::string(static_cast<std::size_t>(caret), ' ') + "^");
  }

  Session& session_;
  const bool follows_;
  std::string epoch_;
  std::uint64_t seen_ = 0;  // of all that were reported
};

}  // namespace

int run_errors(int argc, char** argv) {
  Session session;
  bool follows = false;
  CommandLine line = command_line(kErrorsText, session.options);
  line.add_flag("-f,--follow", follows, "go on with those that follow");
  add_every(line, session.options);
  line.add({.names = "--sort",
            .variable = &session.options.sort,
            .value = "KEY",
            .text = "by name: of where a line was refused",
            .check = OneOf{{"name"}},
            .shown = Option::Default::kHidden});
  add_export(line, session.options, "the newest N");
  line.add_flag("--utc", session.options.utc, "times in UTC");
  line.add_flag("--no-header", session.options.no_header, "without headings");
  if (const auto status = line.parse(argc, argv)) return *status;
  follows |= !session.options.every.empty();
  if (follows && session.options.sorts_rows()) {
    return complain(kWrongUsage, "--sort and --top are of what was refused by now, not of -f");
  }
  if (const auto status = session.open()) return *status;
  return Errors(session, follows).run();
}

}  // namespace tallyfs
