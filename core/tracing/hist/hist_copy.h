// The histograms of one event at one moment. They are copied under the EventSet's lock and rendered
// outside of it, since it takes a while to sort and print 131,072 entries. The copy shares the
// entries with the histograms until these change, see HistMap::View. A value; rendering is const,
// so any thread may render.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/model/symbols.h"
#include "core/tracing/command/trigger_line.h"
#include "core/tracing/hist/hist_plan.h"

namespace tallyfs::tracing {

class HistCopy {
 public:
  // line: the trigger's line, with which the text begins.
  void add(TriggerLine line, std::shared_ptr<const HistPlan> plan, HistTable& table);

  // The memory that the copy keeps if all of its entries change meanwhile.
  std::size_t kept_bytes() const;
  // A lower bound of the length of its texts.
  std::size_t text_bytes_min() const;

  // events/SYS/EVENT/hist; empty without a histogram. Rendering ends soon after bytes_max bytes,
  // since no caller uses a longer text.
  std::string render(const Symbols& symbols, std::size_t bytes_max = SIZE_MAX) const;
  // events/SYS/EVENT/hist.json: an array of histograms, entries in the same order, numbers as
  // numbers; described in TRIGGERS.md.
  struct Shown {
    Timestamp now;             // when it is rendered
    std::uint64_t serial = 0;  // grows with every change
  };
  std::string render_json(const Symbols& symbols, const Shown& shown,
                          std::size_t bytes_max = SIZE_MAX) const;

 private:
  friend class HistText;
  friend class HistJson;
  struct Table {
    TriggerLine line;
    std::shared_ptr<const HistPlan> plan;
    HistMap::View view;
    std::size_t view_bytes = 0;
    std::uint32_t entries = 0;
    std::uint64_t hits = 0, dropped = 0, expired = 0, unmatched = 0;
    std::vector<HistTable::Snapshot> snapshots;

    const std::uint64_t* key(std::uint32_t entry) const { return view.entry(entry); }
    const std::uint64_t* values(std::uint32_t entry) const;
    // The number by which the entry is sorted, and which is printed.
    std::uint64_t value(std::uint32_t entry, std::uint32_t index) const;
    // Entries in the order of `sort`, no more than `limit`.
    std::vector<std::uint32_t> sorted() const;
    std::size_t shown_entries() const;
    int compare(const SortKey& by, std::uint32_t a, std::uint32_t b) const;
    int compare_keys(const KeyPart& part, std::uint32_t a, std::uint32_t b) const;
  };

  std::vector<Table> tables_;
};

// The text of a key or of a saved field, up to its first NUL.
std::string_view stored_text(const std::uint64_t* words, std::uint32_t count);

}  // namespace tallyfs::tracing
