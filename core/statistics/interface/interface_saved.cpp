// An interface as an object of a state file.
#include <string>
#include <utility>

#include "core/base/steps.h"
#include "core/statistics/interface/input_runs.h"
#include "core/statistics/interface/interface.h"
#include "core/sums/saved.h"

namespace tallyfs::statistics {
namespace {

// Version 1 knew no views, version 2 did not count samples. Version 4 has which uids may feed it;
// it is written where these are not all.
constexpr std::uint8_t kInterfaceVersion = 4;
constexpr std::uint8_t kVersionFedByAll = 3;

Error no_interface() { return {ErrorCode::kInvalid, "not the saved state of an interface"}; }

// A view.
bool may_have_another(const Statistic& source) {
  return !source.source() && source.views().size() < Interface::kViewsBound;
}

}  // namespace

// In steps: a feeder of many statistics, and all that wait behind it, would wait for the whole.
// Begin() is called with the lock at each beginning, and each(statistic, input) for each of them.
// Cells are read before, while input goes on: their sums are saved beside what is of the input.
template <typename Begin, typename Each>
void Interface::save_in_steps(ByteWriter& out, CellBudget& budget, const AtInput& at_input,
                              Begin begin, Each each) const {
  std::uint32_t count = 0;
  std::uint64_t samples = 0;
  std::string head;
  LineProgress progress;
  {
    const MutexLock lock(mutex_);
    read_cells(budget);
  }
  const auto save_at = [&](const IsLate& is_late, const InputPosition& input) {
    const MutexLock lock(mutex_);
    if (!progress.has_begun) {
      samples = samples_;
      for (const Statistic& statistic : statistics_) samples += statistic.untold_in_cells();
    }
    if (!progress.has_begun || progress.closings != statistics_.closings()) {
      begin();
      count = 0;
    }
    StatisticRow::Left left(statistics_, {progress, is_late}, kLineAtOnce);
    for (; const Statistic* const next = left.next(); ++count) each(*next, input);
    if (left.is_cut()) return Step::kMore;
    ByteWriter to(head);
    save_head(to, samples, count);
    return Step::kLast;
  };
  const auto save_some = [&](const IsLate& is_late) -> Result<Step> {
    auto step = Step::kMore;
    at_input([&](const InputPosition& input) { step = save_at(is_late, input); });
    return step;
  };
  (void)work_in_steps(save_some);
  out.put_bytes(head);
}

void Interface::save(ByteWriter& out, CellBudget& budget) const {
  std::string bytes;
  ByteWriter statistics(bytes);
  const auto save_one = [&](const Statistic& each, const InputPosition&) {
    save_statistic(statistics, each, Statistic::Cells::kIncluded);
  };
  save_in_steps(
      out, budget, at_no_input, [&] { bytes.clear(); }, save_one);
  out.put_bytes(bytes);
}

// A statistic's own data, the contents of its cells, and the list of cells that were taken out are
// of one moment.
void Interface::save_for_successor(ByteWriter& out, CellBudget& budget,
                                   const AtInput& at_input) const {
  std::string bytes, marks;
  ByteWriter statistics(bytes), behind(marks);
  InputRuns inputs;
  const auto begin = [&]() REQUIRES(mutex_) {
    bytes.clear();
    marks.clear();
    inputs = {};
    behind.put(version_);
  };
  save_in_steps(out, budget, at_input, begin, [&](const Statistic& each, const InputPosition& at) {
    save_statistic(statistics, each, Statistic::Cells::kApart);
    each.save_marks(behind);
    inputs.add(at);
  });
  out.put_bytes(bytes);
  out.put_bytes(marks);
  inputs.save(out);
}

void Interface::save_head(ByteWriter& out, std::uint64_t samples, std::uint32_t count) const {
  const bool is_fed_by_all = feed() == Feed::kAny;
  out.put(is_fed_by_all ? kVersionFedByAll : kInterfaceVersion);
  out.put(std::uint32_t{uid_});
  if (!is_fed_by_all) out.put_text(spelled(feed()));
  save_time(out, last_change_.monotonic);
  save_time(out, last_change_.realtime);
  out.put(samples);
  out.put(count);
}

void Interface::save_statistic(ByteWriter& out, const Statistic& statistic,
                               Statistic::Cells cells) {
  out.put_text(statistic.source() ? statistic.source()->name() : std::string_view());
  statistic.save(out, cells);
}

Result<std::unique_ptr<Interface>> Interface::load(ByteReader& in, Ledger& ledger) {
  const auto version = in.get<std::uint8_t>();
  if (version < 1 || version > kInterfaceVersion) in.fail();
  const auto uid = in.get<std::uint32_t>();
  const auto feed = version < 4 ? Feed::kAny : parse_feed(in.get_text());
  if (!feed) in.fail();
  Timestamp last_change{.monotonic = load_time(in)};
  last_change.realtime = std::chrono::nanoseconds(in.get<std::int64_t>());
  const auto samples = version < 3 ? std::uint64_t{0} : in.get<std::uint64_t>();
  const auto size = in.get<std::uint32_t>();
  if (!in.ok()) return no_interface();
  auto created = create(ledger, uid, last_change);
  if (!created) return created.error();
  Interface& interface = *created.value();
  const MutexLock lock(interface.mutex_);
  interface.samples_ = samples;
  interface.feed_.store(*feed, std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < size; ++i) {
    const std::string_view of = version == 1 ? std::string_view() : in.get_text();
    auto statistic = Statistic::load(in);
    if (!statistic) return statistic.error();
    if (interface.find_locked(statistic.value().name())) return no_interface();
    Statistic* const source = of.empty() ? nullptr : interface.find_locked(of);
    if (!of.empty() && (!source || !may_have_another(*source))) return no_interface();
    auto grown = interface.reservation_.grow(holdings_of(statistic.value()));
    if (!grown) return grown.error();
    Statistic* const loaded =
        interface.append(std::make_unique<Statistic>(std::move(statistic.value())));
    if (source) source->attach_view(*loaded);
  }
  return created;
}

}  // namespace tallyfs::statistics
