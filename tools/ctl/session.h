// One run of a command: its options, its terminal, and where its snapshots come from.
#pragma once

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
#include "tools/display/show.h"
#include "tools/tree/source.h"

namespace tallyfs {

struct Session {
  Options options;
  Terminal terminal;
  view::Look look;
  std::unique_ptr<Source> source;
  std::vector<past::Fact> facts;  // of the span of the store, if that is meant

  // Of the mount or the recording that the options name. Prints what is wrong.
  // Nothing if it may go on, else the status to exit with.
  std::optional<int> open();
  // The same, but of a span of the store if that is meant: what was counted in it, or its moments.
  // words: what is looked at; none: all.
  enum class PastForm { kSum, kMoments };
  std::optional<int> open(const PastOptions& past, PastForm form,
                          const std::vector<std::string>& words = {});
  // Reads the facts of a span. Returns a fault of the store.
  Result<void> read_facts(past::StoreReader& store, const past::Span& span);
  // The store that is meant, whose span is right. As open(), without a source.
  std::optional<int> open_store(const PastOptions& past, std::optional<PastSpan>& opened);
  // Of a command that draws pictures: complains on a terminal that has neither a cursor to move
  // nor colours (TERM=dumb), and says what serves there. As open().
  std::optional<int> refuse_dumb(const std::string& instead) const;
  // Goes on by --every; without it, by a second of a mount, by a moment of a recording.
  Result<Source::Next> next() const;
  // How far moments are apart that next() gives.
  std::chrono::microseconds period() const;
  // Of a recording goes to its last moment.
  std::optional<int> go_to_end();
  // Rows of statistics as the options choose them: into the grid, or, as CSV or TSV, printed.
  void put_rows(view::Grid& grid, std::vector<view::StatisticRow> rows);
  view::Grid grid() const {
    return view::Grid(terminal.is_terminal ? terminal.width : kPipeColumns, terminal.charset);
  }

 private:
  // Of lines in pipes, which are not cut.
  static constexpr int kPipeColumns = 1 << 16;

  bool has_printed_rows_ = false;
};

// The exit status of a failed read: 3 if the mount does not answer, or is not there; else 1.
int status_of(const Error& error);
int complain(const Error& error);

}  // namespace tallyfs
