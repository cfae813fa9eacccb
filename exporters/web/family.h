// Statistics of an interface, added up over all of their labels but one, as `tallyctl show --by`
// has them (tools/display/sum.h): sums in place of statistics, and what they counted when.
// Functions without a state, and the newest families.
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "exporters/web/span.h"
#include "tools/display/statistic.h"
#include "tools/display/sum.h"

namespace tallyfs::web {

struct Family {
  std::string label;
  std::vector<std::string> labels;              // all that there are
  view::Interface interface;                    // its statistics are the sums
  std::vector<std::vector<std::string>> parts;  // the names of which each of them is made
  std::vector<std::uint64_t> oldest_us;         // where the data of its oldest part begin
  std::vector<view::LeftOut> left_out;

  // The place of the sum among the statistics.
  std::optional<std::size_t> find(std::string_view sum) const;
};

// kNotFound: no statistic has the label; the reason names those that there are. `begin`: kOfOldest
// for a span, of which a statistic may have been observed in a part alone.
Result<Family> family_of(const view::Interface& interface, const std::string& label,
                         view::Begin begin = view::Begin::kOfNewest);

// The newest families: a reading of an interface is added up once, however many pages ask for it,
// and though it is the one before the newest then. kMax of them, which have kNamesMax statistics
// together; two are kept however large they are. Confined to its owner.
class KeptFamilies {
 public:
  explicit KeptFamilies(std::size_t names_max = kNamesMax) : names_max_(names_max) {}

  // Like family_of(); good until the next call but one.
  Result<const Family*> find(const view::Interface& interface, const std::string& label);

  // Forgets families of pages that were closed.
  void clear() { families_.clear(); }
  std::size_t size() const { return families_.size(); }

 private:
  static constexpr std::size_t kMax = 8;
  static constexpr std::size_t kNamesMax = 100'000;

  void bound();

  const std::size_t names_max_;
  std::list<Family> families_;  // the one that was asked for last comes first
};

// The past of a sum: the counts of all of its statistics over time, without statistics whose past
// is unknown (PastReading::parts has their number). Without a span it is made from `kept`. In a
// span it is made from `kept` if that reaches back to the begin of the span for all of them, else
// from the store, for at most kSummedMax statistics. Errors are those of pasts_of_store(), if `kept`
// has nothing either.
inline constexpr std::size_t kSummedMax = 64;
Result<PastReading> past_of_sum(const KeptSpan& kept, const Family& family, std::size_t sum);
Result<PastReading> past_of_sum(const KeptSpan& kept, const Family& family, std::size_t sum,
                                const std::string& store, const PastSpan& wanted);

}  // namespace tallyfs::web
