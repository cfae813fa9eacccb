#include "tools/ctl/session.h"

#include <algorithm>
#include <utility>

#include "tools/ctl/commands.h"
#include "tools/ctl/recording.h"
#include "tools/display/rows.h"
#include "tools/past/moment_source.h"
#include "tools/past/span_source.h"
#include "tools/tree/mount_table.h"

namespace tallyfs {
namespace {

Result<std::unique_ptr<Source>> open_span(past::StoreReader store, const past::Span& span,
                                          Session::PastForm form,
                                          const std::vector<std::string>& words) {
  const auto as_source = [](auto opened) -> Result<std::unique_ptr<Source>> {
    if (!opened) return opened.error();
    return std::unique_ptr<Source>(std::move(opened).value());
  };
  if (form == Session::PastForm::kSum) {
    return as_source(past::SpanSource::open(std::move(store), span));
  }
  // One interface, if the words are of one.
  std::string interface = words.size() == 1 ? words[0].substr(0, words[0].find('/')) : "";
  if (interface.find_first_of("*?[{") != interface.npos) interface.clear();
  return as_source(
      past::MomentSource::open(std::move(store), span, {.interface = std::move(interface)}));
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
  if (!options.from.empty()) {
    return tallyfs::complain(kWrongUsage, "--at and --last are of a store, --from of a recording");
  }
  std::optional<PastSpan> opened;
  if (const auto status = open_store(past, opened)) return status;
  if (const auto done = read_facts(opened->store(), opened->wanted().value()); !done) {
    return tallyfs::complain(kRefused, done.error().reason);
  }
  auto made = open_span(std::move(opened->store()), opened->wanted().value(), form, words);
  if (!made) return tallyfs::complain(kRefused, made.error().reason);
  source = std::move(made).value();
  return std::nullopt;
}

Result<void> Session::read_facts(past::StoreReader& store, const past::Span& span) {
  auto found = store.facts(span);
  if (!found) return found.error();
  facts = std::move(found).value();
  return {};
}

std::optional<int> Session::open_store(const PastOptions& past, std::optional<PastSpan>& opened) {
  terminal = find_terminal(options);
  look = look_of(options, terminal);
  if (const std::string fault = fault_of(past, options.utc); !fault.empty()) {
    return tallyfs::complain(kWrongUsage, fault);
  }
  auto found = PastSpan::open(past, options.utc);
  if (!found) return tallyfs::complain(kRefused, found.error().reason);
  opened.emplace(std::move(found).value());
  const auto& span = opened->wanted();
  if (!span) return tallyfs::complain(kWrongUsage, span.error().reason);
  return std::nullopt;
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

int status_of(const Error& error) {
  return error.code == ErrorCode::kInvalid ? kRefused : kNoAnswer;
}

int complain(const Error& error) { return complain(status_of(error), error.reason); }

void Session::put_rows(view::Grid& grid, std::vector<view::StatisticRow> rows) {
  view::choose(rows, {.sort = view::sort_key_of(options.sort),
                      .nonzero = options.nonzero,
                      .top = static_cast<std::size_t>(options.top)});
  if (!options.exports_rows()) {
    if (!rows.empty()) view::draw_rows(grid, rows, look);
    return;
  }
  const bool has_header = look.header && !std::exchange(has_printed_rows_, true);
  const auto separator = options.csv ? view::Separator::kComma : view::Separator::kTab;
  print(view::rows_text(rows, separator, has_header));
}

}  // namespace tallyfs
