// The directory metrics/ (docs/metrics.md).
#include <array>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "core/branch/statistics/statistics_branch.h"
#include "core/exposition/metrics.h"
#include "core/tree/file.h"

namespace tallyfs {
namespace {

// True for a count above all before.
bool is_news(std::atomic<std::uint64_t>& told, std::uint64_t count) {
  std::uint64_t before = told.load();
  while (count > before) {
    if (told.compare_exchange_weak(before, count)) return true;
  }
  return false;
}

}  // namespace

// Called from several threads. One interface is locked at a time, and only while it is copied.
// There is no version: the text says how long it took.
class StatisticsBranch::MetricsFile final : public File {
 public:
  // What the error log was told, by all files together. Any thread.
  struct Told {
    std::atomic<std::uint64_t> duplicate{0};
    std::atomic<std::uint64_t> limit{0};
  };

  MetricsFile(StatisticsBranch& statistics, MetricsFormat format, MetricsOptions options,
              std::shared_ptr<Told> told)
      : statistics_(statistics),
        format_(format),
        options_(std::move(options)),
        told_(std::move(told)) {}

  Result<std::string> render(const CallContext& call, std::size_t bytes_max) const override {
    const Error too_long{ErrorCode::kNoSpace, "the text would be too long"};
    const auto begin = SystemClock::monotonic();
    Metrics metrics(format_, options_, call.now);
    std::vector<StatisticCopy> copies;
    CellBudget budget(CellBudget::Of::kAll);
    for (const Listed& each : statistics_.list()) {
      each.interface->copy(copies, call.now, budget);
      metrics.add(each.name, copies);
      if (metrics.bytes() > bytes_max) return too_long;
    }
    std::string text = metrics.finish(SystemClock::monotonic() - begin);
    if (text.size() > bytes_max) return too_long;
    tell(metrics.omitted(), call.now);
    return text;
  }
  Moment last_change(Moment now) const override { return now; }

 private:
  // Each once, and again when there are more.
  void tell(const MetricsOmitted& omitted, Moment now) const {
    if (!statistics_.errors_) return;
    const auto report = [&](std::string_view what, std::string reason) {
      statistics_.errors_->report(ErrorLog::Source::kMount, "metrics", what,
                                  {ErrorCode::kInvalid, std::move(reason)}, now);
    };
    if (is_news(told_->duplicate, omitted.duplicate)) {
      report(omitted.first_duplicate,
             "left out: another statistic has this name and these labels, "
             "or this name and another kind");
    }
    if (is_news(told_->limit, omitted.limit)) {
      report(omitted.first_beyond,
             "left out, with all behind it: --metrics-series-max, or the "
             "length that a text may have, is reached");
    }
  }

  StatisticsBranch& statistics_;
  const MetricsFormat format_;
  const MetricsOptions options_;
  const std::shared_ptr<Told> told_;  // shared with the other files
};

void StatisticsBranch::enter_metrics(const MetricsSettings& settings, Moment now) {
  const auto told = std::make_shared<MetricsFile::Told>();
  metrics_directory_ =
      tree_.add_directory(Tree::kRoot, "metrics", std::make_shared<Directory>(), now);
  MetricsOptions options = settings.options;
  const auto enter = [&](std::string_view name, MetricsFormat format) {
    tree_.add_file(metrics_directory_, name, settings.permissions,
                   std::make_shared<MetricsFile>(*this, format, options, told), now);
  };
  enter("tallyfs.prom", MetricsFormat::kProm);
  enter("tallyfs.om", MetricsFormat::kOpenMetrics);
  enter("tallyfs.pb", MetricsFormat::kProtobuf);
  // For `tally-web --utf8-names`; a collector of *.prom must not find them.
  options.characters = NameCharacters::kUtf8;
  enter("tallyfs.prom.utf8", MetricsFormat::kProm);
  enter("tallyfs.om.utf8", MetricsFormat::kOpenMetrics);
}

}  // namespace tallyfs
