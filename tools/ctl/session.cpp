#include "tools/ctl/session.h"

#include <algorithm>
#include <utility>

#include "core/base/json.h"
#include "tools/ctl/commands.h"
#include "tools/ctl/recording.h"
#include "tools/ctl/what.h"
#include "tools/past/moment_source.h"
#include "tools/past/span_source.h"
#include "tools/tree/mount_table.h"

namespace tallyfs {
namespace {

// The only interface that the words are of; empty: there may be several.
std::string interface_of(const std::vector<std::string>& words) {
  const std::string interface = words.size() == 1 ? words[0].substr(0, words[0].find('/')) : "";
  return interface.find_first_of("*?[{") == interface.npos ? interface : "";
}

}  // namespace

std::optional<int> Session::open() {
  terminal = find_terminal(options);
  look = look_of(options, terminal);
  if (!options.from.empty()) {
    auto opened = open_recording_named(options.from);
    if (!opened) return tallyfs::complain(kRefused, opened.error().reason);
    source = std::move(opened).value();
    return std::nullopt;
  }
  auto found = find_mount(options.mount);
  if (!found) return tallyfs::complain(kNoAnswer, found.error().reason);
  std::string path = std::move(found).value();
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  source = open_mount(std::move(path));
  return std::nullopt;
}

std::optional<int> Session::open(const PastOptions& past, PastForm form,
                                 const std::vector<std::string>& words) {
  if (!past.store.empty() && !past.is_wanted()) {
    return tallyfs::complain(kWrongUsage,
                             "--store needs the time that is meant: --last 10m, or --at 12:03");
  }
  if (!past.is_wanted()) return open();
  std::optional<PastSpan> opened;
  if (const auto status = open_store(past, opened, words)) return status;
  wanted = opened->wanted().value();
  if (const auto done = add_facts(opened->store(), wanted); !done) {
    return tallyfs::complain(kRefused, done.error().reason);
  }
  // A source before it, of another form, may have found other blocks damaged.
  add_damaged();
  if (const auto done = open_span(std::move(opened->store()), form, words); !done) {
    return tallyfs::complain(kRefused, done.error().reason);
  }
  return std::nullopt;
}

Result<void> Session::open_span(past::StoreReader store, PastForm form,
                                const std::vector<std::string>& words) {
  const auto take = [this](auto opened) -> Result<void> {
    if (!opened) return opened.error();
    damaged_ = [&read = *opened.value()]() -> const auto& { return read.damaged(); };
    source = std::move(opened).value();
    return {};
  };
  if (form == PastForm::kSum) return take(past::SpanSource::open(std::move(store), wanted, words));
  return take(
      past::MomentSource::open(std::move(store), wanted, {.interface = interface_of(words)}));
}

void Session::add_damaged() {
  if (damaged_) add_facts(damaged_());
}

Result<void> Session::add_facts(past::StoreReader& store, const past::Span& span) {
  const auto found = store.facts(span);
  if (!found) return found.error();
  add_facts(found.value());
  return {};
}

void Session::add_facts(const std::vector<past::Fact>& more) {
  for (const past::Fact& each : more) {
    if (std::ranges::count(facts, each) == 0) facts.push_back(each);
  }
}

std::optional<int> Session::open_store(const PastOptions& past, std::optional<PastSpan>& opened,
                                       const std::vector<std::string>& words) {
  terminal = find_terminal(options);
  look = look_of(options, terminal);
  if (!options.from.empty()) {
    return tallyfs::complain(kWrongUsage, "--at and --last are of a store, --from of a recording");
  }
  if (const std::string fault = fault_of(past, options.utc); !fault.empty()) {
    return tallyfs::complain(kWrongUsage, fault);
  }
  auto found = PastSpan::open(past, options.utc);
  if (!found) return tallyfs::complain(kRefused, found.error().reason);
  opened.emplace(std::move(found).value());
  const auto& span = opened->wanted();
  if (!span) return tallyfs::complain(kWrongUsage, span.error().reason);
  if (past.is_since_reset()) {
    if (const auto status = begin_with_reset(*opened, words)) return status;
  }
  return std::nullopt;
}

std::optional<int> Session::begin_with_reset(PastSpan& span,
                                             const std::vector<std::string>& words) const {
  auto store = past::StoreReader::open(span.directory());
  auto names = store ? past::SpanSource::names(std::move(store).value())
                     : Result<std::unique_ptr<past::SpanSource>>(store.error());
  if (!names) return tallyfs::complain(kRefused, names.error().reason);
  const auto found = select(*names.value(), words);
  if (!found) return tallyfs::complain(found.error());
  const auto done = span.begin_with_reset([&](const past::Fact& fact) {
    return std::ranges::any_of(found.value(), [&](const Selection& each) {
      return each.has(fact.interface, fact.statistic);
    });
  });
  return done ? std::nullopt : std::optional(tallyfs::complain(kRefused, done.error().reason));
}

std::optional<int> Session::refuse_dumb(const std::string& instead) const {
  if (!terminal.is_dumb) return std::nullopt;
  return tallyfs::complain(kWrongUsage, "this terminal shows no pictures (TERM=dumb); " + instead);
}

Result<Source::Next> Session::next() const {
  const bool is_each = options.every.empty() && source->mount().empty();
  return source->next(is_each ? std::chrono::microseconds(0) : options.period());
}

std::chrono::microseconds Session::period() const {
  const auto recorded = source->period();
  if (recorded.count() == 0) return options.period();
  return options.every.empty() ? recorded : std::max(recorded, options.period());
}

std::optional<int> Session::go_to_end() {
  while (source->mount().empty()) {
    const auto next = source->next(std::chrono::microseconds(0));
    if (!next) return tallyfs::complain(next.error());
    if (next.value() == Source::Next::kEnd) break;
  }
  return std::nullopt;
}

int draw_spans(Session& session, PastOptions& past, const std::function<int(Session&)>& draw) {
  if (!past.is_wanted()) return draw(session);
  std::optional<PastSpan> opened;
  if (const auto status = session.open_store(past, opened, session.options.words)) {
    return *status;
  }
  const past::Span first = opened->wanted().value();
  past.found = first;
  if (past.versus.empty()) return draw(session);
  const auto other = opened->other(first);
  if (!other) return complain(kWrongUsage, other.error().reason);
  for (const bool is_other : {false, true}) {
    const past::Span& span = is_other ? other.value() : first;
    past.found = span;
    Session each;
    each.options = session.options;
    view::Grid heading = session.grid();
    if (is_other) heading.put_line("");
    heading.put_line(
        (is_other ? other_span(first, span).prefix : "") + span_text(span, session.options.utc),
        {view::Tone::kDim});
    if (!session.options.json) print(heading, session.terminal);
    if (const int status = draw(each); status != kDone) return status;
  }
  return kDone;
}

int status_of(const Error& error) {
  return error.code == ErrorCode::kInvalid ? kRefused : kNoAnswer;
}

int complain(const Error& error) { return complain(status_of(error), error.reason); }

void Session::put_rows(view::Grid& grid, std::vector<view::StatisticRow> rows) {
  choose_rows(rows);
  if (options.exports_rows()) return print_rows(view::exported(rows));
  if (!rows.empty()) view::draw_rows(grid, rows, look);
}

void Session::print_rows(const view::Exported& rows) {
  if (options.json) {
    std::string text;
    JsonWriter writer(text);
    view::write_rows(writer.begin_object().key("rows"), rows);
    writer.end_object();
    return print(text.append("\n"));
  }
  const bool has_header = look.header && !std::exchange(has_printed_rows_, true);
  const auto separator = options.csv ? view::Separator::kComma : view::Separator::kTab;
  print(view::rows_text(rows, separator, has_header));
}

void Session::put_note(view::Grid& grid, const std::string& text, view::Style style) const {
  if (options.exports_rows())
    tallyfs::complain(kDone, text);
  else
    grid.put_line(text, style);
}

}  // namespace tallyfs
