// A span of the store as a source of one moment: what each statistic counted in the span, as
// data.json has it. `data_us` and `time_us` are as far apart as the statistic was observed in it,
// so that rates are of that time; time_us is the wall clock of the span's end. A statistic that was
// not observed is not there. Confined to one thread.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tools/past/store_reader.h"
#include "tools/tree/source.h"

namespace tallyfs::past {

class SpanSource : public Source {
 public:
  // Ends of the span that the store has not so finely are moved. words: what is looked at; where
  // each is the stored name of a statistic, no other one is there. Errors of the store.
  static Result<std::unique_ptr<SpanSource>> open(StoreReader store, const Span& span,
                                                  const std::vector<std::string>& words = {});

  // A source with the names of all statistics that the store has now, without counts.
  static Result<std::unique_ptr<SpanSource>> names(StoreReader store);

  const Span& span() const { return span_; }
  // Gaps, resets and restarts in the span, and what was found damaged in it so far.
  Result<std::vector<Fact>> facts();
  // StoreReader::damaged() for the blocks that were read so far.
  const std::vector<Fact>& damaged() const { return store_.damaged(); }

  Result<Json> tree() override;
  Result<Json> interface(const std::string& name) override;
  Result<Next> next(std::chrono::microseconds) override { return Next::kEnd; }
  std::chrono::microseconds period() const override { return std::chrono::microseconds(0); }
  const std::string& mount() const override { return no_mount_; }

 private:
  SpanSource(StoreReader store, const Span& span)
      : store_(std::move(store)), wanted_(span), span_(span) {}
  Result<void> read_series();
  Result<void> load(const std::string& interface);
  const Point* counted(const StoredSeries& series) const;
  Result<Json> statistic(const StoredSeries& series, const Point& point) const;

  StoreReader store_;
  const Span wanted_;
  Span span_;  // as the store has it
  bool has_names_alone_ = false;
  std::vector<StoredSeries> series_;
  std::set<std::string> loaded_;                  // interfaces
  std::map<std::uint64_t, unsigned> precisions_;  // of statistics that are loaded
  Sums sums_;
  const std::string no_mount_;
};

}  // namespace tallyfs::past
