// One run of a command: its options, its terminal, and where its snapshots come from.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "tools/ctl/options.h"
#include "tools/ctl/past_span.h"
#include "tools/ctl/terminal.h"
#include "tools/display/grid.h"
#include "tools/display/look.h"
#include "tools/display/rows.h"
#include "tools/display/show.h"
#include "tools/tree/source.h"

namespace tallyfs {

struct Session {
  Options options;
  Terminal terminal;
  view::Look look;
  std::unique_ptr<Source> source;
  std::vector<past::Fact> facts;  // of the span of the store, if that is meant
  past::Span wanted;              // of the store

  // Opens the mount or the recording that the options name, and prints a failure. Returns nullopt
  // if the command can continue, else the exit status.
  std::optional<int> open();
  // Opens a span of the store if the options name one, for the counts of the whole span (kSum) or
  // for each of its points (kMoments). words: what is selected; none: all.
  enum class PastForm { kSum, kMoments };
  std::optional<int> open(const PastOptions& past, PastForm form,
                          const std::vector<std::string>& words = {});
  // Adds the facts of a span. Returns a fault of the store.
  Result<void> add_facts(past::StoreReader& store, const past::Span& span);
  // Each once.
  void add_facts(const std::vector<past::Fact>& more);
  // Adds to the facts what was damaged of what is read by now.
  void add_damaged();
  // The store that is meant, whose span is right: since the newest reset of `words`, where a reset
  // begins it. As open(), without a source.
  std::optional<int> open_store(const PastOptions& past, std::optional<PastSpan>& opened,
                                const std::vector<std::string>& words);
  // For a command that draws pictures: refuses a terminal that has neither a movable cursor nor
  // colours (TERM=dumb), and prints what to use instead. Returns what open() does.
  std::optional<int> refuse_dumb(const std::string& instead) const;
  // Advances by --every; without it, by a second of a mount, or by a snapshot of a recording.
  Result<Source::Next> next() const;
  // The time between two steps of next().
  std::chrono::microseconds period() const;
  // Goes to the last snapshot of a recording.
  std::optional<int> go_to_end();
  // Rows of statistics as the options choose them: into the grid, or, for programs, printed.
  void put_rows(view::Grid& grid, std::vector<view::StatisticRow> rows);
  // rows: of a kind that view::choose() knows.
  template <typename Row>
  void choose_rows(std::vector<Row>& rows) const {
    view::choose(rows, {.sort = view::sort_key_of(options.sort),
                        .nonzero = options.nonzero,
                        .top = static_cast<std::size_t>(options.top)});
  }
  // Prints rows as CSV or TSV, the first time with a header, or as an object of JSON in a line.
  void print_rows(const view::Exported& rows);
  // A line beside rows: into the grid, or, where rows are for programs, on stderr.
  void put_note(view::Grid& grid, const std::string& text, view::Style style) const;
  view::Grid grid() const {
    return view::Grid(terminal.is_terminal ? terminal.width : kPipeColumns, terminal.charset);
  }

 private:
  // The width of lines in pipes, which are not cut.
  static constexpr int kPipeColumns = 1 << 16;

  Result<void> open_span(past::StoreReader store, PastForm form,
                         const std::vector<std::string>& words);

  // Returns what open() does.
  std::optional<int> begin_with_reset(PastSpan& span, const std::vector<std::string>& words) const;

  std::function<const std::vector<past::Fact>&()> damaged_;  // of the source, if it is a store
  bool has_printed_rows_ = false;
};

// Pictures of the span, and with --vs of the other one after them, each below its times. draw()
// opens its session by `past`, and returns an exit status. Both spans are found once, so that they
// and their times are those of one moment.
int draw_spans(Session& session, PastOptions& past, const std::function<int(Session&)>& draw);

// The exit status of a failed read: 3 if the mount does not answer, or is not there; else 1.
int status_of(const Error& error);
int complain(const Error& error);

}  // namespace tallyfs
