// The directory metrics/ (docs/metrics.md).
#include <array>
#include <optional>
#include <utility>

#include "core/statistics/branch/command_text.h"
#include "core/statistics/branch/root_files.h"
#include "core/statistics/exposition/metrics.h"

namespace tallyfs::statistics {
namespace {

// True for a count above all before.
bool is_news(std::atomic<std::uint64_t>& told, std::uint64_t count) {
  std::uint64_t before = told.load();
  while (count > before) {
    if (told.compare_exchange_weak(before, count)) return true;
  }
  return false;
}

// A collector that reads the files of several interfaces refuses two texts for one family. What all
// of them say, the file of one does not know.
void forget_helps(std::vector<StatisticCopy>& copies) {
  for (StatisticCopy& copy : copies) copy.help.clear();
}

// The metrics of all interfaces, or of one. Called from several threads. One interface is locked at
// a time, and only while it is copied. There is no version: the text says how long it took.
class MetricsFile final : public File {
 public:
  // The counts that the error log has, by all files together. Any thread.
  struct Told {
    std::atomic<std::uint64_t> duplicate{0};
    std::atomic<std::uint64_t> limit{0};
  };

  // The parts that files of a format share.
  struct Kind {
    MetricsFormat format;
    MetricsOptions options;
    std::shared_ptr<Told> told;  // shared by all files
  };
  using SharedKind = std::shared_ptr<const Kind>;  // shared by the files of a format

  MetricsFile(const MetricsSources& sources, SharedKind kind)
      : sources_(sources), kind_(std::move(kind)) {}
  MetricsFile(const MetricsSources& sources, SharedKind kind, Listed of, Subject subject)
      : sources_(sources), kind_(std::move(kind)), of_(std::move(of)), subject_(subject) {}

  Subject subject() const override { return subject_; }
  Result<std::string> render(const CallContext& call, std::size_t bytes_max) const override {
    const Error too_long{ErrorCode::kNoSpace, "the text would be too long"};
    const auto begin = SystemClock::monotonic();
    Metrics metrics(kind_->format, kind_->options, call.now);
    std::vector<StatisticCopy> copies;
    CellRounds rounds = sources_.interfaces.begin_cell_open();
    CellBudget budget(of_ ? CellBudget::Of::kOneInterface : CellBudget::Of::kAll);
    if (!of_) budget.go_by(rounds);
    const List all = of_ ? nullptr : sources_.interfaces.all();
    for (const Listed& each : all ? std::span(*all) : std::span(&*of_, 1)) {
      if (metrics.is_full()) {
        metrics.leave_out(each.interface->size());
        continue;
      }
      each.interface->copy(copies, call.now, budget);
      if (of_) forget_helps(copies);
      metrics.add(each.name, copies);
      if (metrics.bytes() > bytes_max) return too_long;
    }
    if (!of_) sources_.interfaces.end_cell_open(rounds);
    std::string text = metrics.finish(SystemClock::monotonic() - begin);
    if (text.size() > bytes_max) return too_long;
    tell(metrics.omitted(), call.now);
    last_length_ = text.size();
    return text;
  }
  std::optional<std::size_t> last_length() const override { return last_length_; }
  Timestamp last_change(Timestamp now) const override { return now; }

 private:
  // Each once, and again when there are more.
  void tell(const MetricsOmitted& omitted, Timestamp now) const {
    if (!sources_.errors) return;
    const auto report = [&](std::string_view what, std::string reason) {
      // Users cause it by the names that they choose.
      sources_.errors->report({ErrorLog::Source::kSocket, sources_.interfaces.uid_of(what)},
                              "metrics", what, {ErrorCode::kInvalid, std::move(reason)}, now);
    };
    if (is_news(kind_->told->duplicate, omitted.duplicate)) {
      const std::string by = omitted.taken_by.empty() ? "tallyfs itself" : omitted.taken_by;
      report(omitted.first_duplicate,
             "left out: " + by + " has this name there, with these labels or of another kind");
    }
    if (is_news(kind_->told->limit, omitted.limit)) {
      report(omitted.first_beyond,
             "left out, with all behind it: --metrics-series-max, or the "
             "length that a text may have, is reached");
    }
  }

  const MetricsSources sources_;
  const SharedKind kind_;
  const std::optional<Listed> of_;
  const Subject subject_ = nullptr;
  mutable std::atomic<std::size_t> last_length_{0};
};

// metrics/FORMAT: a file for each interface, so that the limits of a text are those of one. They
// are entered when a person or program looks into it first, and from then on with their interfaces:
// most daemons need none of them.
class MetricsDirectory final : public Directory, public InterfaceFiles {
 public:
  // place: of the format among all.
  MetricsDirectory(Tree& tree, const MetricsSources& sources, MetricsFile::SharedKind kind,
                   std::size_t place, Audience audience)
      : tree_(tree),
        sources_(sources),
        kind_(std::move(kind)),
        place_(place),
        audience_(audience) {}

  // Called once, before there are readers.
  void is_at(NodeId node) { node_ = node; }

  void entered(Timestamp now) override {
    const MutexLock lock(sources_.mutex);
    sources_.registry.add_files(*this, now);
  }

  void enter(InterfaceEntry& entry, Timestamp now) override {
    if (entry.metrics.size() <= place_) entry.metrics.resize(place_ + 1);
    const Subject subject = entry.name == kOwnInterface ? nullptr : entry.interface.get();
    Listed of{entry.node, entry.name, entry.interface};
    entry.metrics[place_] =
        tree_.add_file(node_, entry.name, audience_,
                       std::make_shared<MetricsFile>(sources_, kind_, std::move(of), subject), now);
  }

 private:
  Tree& tree_;
  const MetricsSources sources_;
  const MetricsFile::SharedKind kind_;
  const std::size_t place_;
  const Audience audience_;
  NodeId node_ = 0;
};

}  // namespace

NodeId enter_metrics(Tree& tree, const MetricsSources& sources, const MetricsSettings& settings,
                     Timestamp now) {
  const auto told = std::make_shared<MetricsFile::Told>();
  const bool all_read = (settings.audience.permissions & 0004) != 0;
  const NodeId all = tree.add_directory(Tree::kRoot, "metrics", std::make_shared<Directory>(), now,
                                        {.permissions = 0755, .readers = !all_read});
  MetricsOptions options = settings.options;
  std::size_t place = 0;
  const auto enter = [&](const std::string& name, MetricsFormat format) {
    const auto kind =
        std::make_shared<const MetricsFile::Kind>(MetricsFile::Kind{format, options, told});
    tree.add_file(all, "tallyfs." + name, settings.audience,
                  std::make_shared<MetricsFile>(sources, kind), now);
    const auto directory =
        std::make_shared<MetricsDirectory>(tree, sources, kind, place++, settings.audience);
    directory->is_at(tree.add_directory(all, name, directory, now));
  };
  enter("prom", MetricsFormat::kProm);
  enter("om", MetricsFormat::kOpenMetrics);
  enter("pb", MetricsFormat::kProtobuf);
  // For `tally-web --utf8-names`; a collector of *.prom must not find them.
  options.characters = NameCharacters::kUtf8;
  enter("prom.utf8", MetricsFormat::kProm);
  enter("om.utf8", MetricsFormat::kOpenMetrics);
  return all;
}

}  // namespace tallyfs::statistics
