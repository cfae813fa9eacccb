#include "core/tracing/hist/hist_copy.h"

#include <algorithm>
#include <numeric>

#include "core/base/text.h"

namespace tallyfs::tracing {
namespace {

template <typename T>
int three_way(T a, T b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

}  // namespace

void HistCopy::add(TriggerLine line, std::shared_ptr<const HistPlan> plan, HistTable& table) {
  Table copy{.line = std::move(line),
             .plan = std::move(plan),
             .view = table.map.view(),
             .view_bytes = table.map.view_bytes(),
             .entries = table.map.size(),
             .hits = table.hits,
             .dropped = table.dropped,
             .expired = table.expired,
             .unmatched = table.unmatched,
             .snapshots = table.snapshots};
  tables_.push_back(std::move(copy));
}

const std::uint64_t* HistCopy::Table::values(std::uint32_t entry) const {
  return key(entry) + plan->shape.key_words;
}

std::size_t HistCopy::kept_bytes() const {
  std::size_t bytes = 0;
  for (const Table& table : tables_) bytes += table.view_bytes;
  return bytes;
}

std::size_t HistCopy::Table::shown_entries() const {
  return plan->limit == 0 ? entries : std::min<std::size_t>(plan->limit, entries);
}

std::string_view stored_text(const std::uint64_t* words, std::uint32_t count) {
  return until_nul({reinterpret_cast<const char*>(words), count * std::size_t{8}});
}

// An entry takes `{ k: V }` and the newline, or `{"key":{"k":V}}`: names and values have a byte or
// more.
std::size_t HistCopy::text_bytes_min() const {
  constexpr std::size_t kEntryBytesMin = 9;
  std::size_t bytes = 0;
  for (const Table& table : tables_) bytes += table.shown_entries() * kEntryBytesMin;
  return bytes;
}

std::uint64_t HistCopy::Table::value(std::uint32_t entry, std::uint32_t index) const {
  return shown_value(plan->values[index], values(entry));
}

int HistCopy::Table::compare_keys(const KeyPart& part, std::uint32_t a, std::uint32_t b) const {
  const std::uint64_t* const left = key(a) + part.word;
  const std::uint64_t* const right = key(b) + part.word;
  if (!part.value.is_number()) {
    return stored_text(left, part.words).compare(stored_text(right, part.words));
  }
  if (!part.value.type.is_signed) return three_way(*left, *right);
  return three_way(static_cast<std::int64_t>(*left), static_cast<std::int64_t>(*right));
}

int HistCopy::Table::compare(const SortKey& by, std::uint32_t a, std::uint32_t b) const {
  switch (by.of) {
    case SortKey::Of::kHitcount:
      return three_way(values(a)[kHitsWord], values(b)[kHitsWord]);
    case SortKey::Of::kKey:
      return compare_keys(plan->keys[by.index], a, b);
    case SortKey::Of::kValue:
      break;
  }
  const ValuePart& part = plan->values[by.index];
  if (has_decimals(part.value.modifiers.display)) {
    return three_way(shown_decimals(part, values(a)), shown_decimals(part, values(b)));
  }
  const std::uint64_t left = value(a, by.index), right = value(b, by.index);
  if (!part.is_shown_signed()) return three_way(left, right);
  return three_way(static_cast<std::int64_t>(left), static_cast<std::int64_t>(right));
}

std::vector<std::uint32_t> HistCopy::Table::sorted() const {
  std::vector<std::uint32_t> order(entries);
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
    for (const SortKey& by : plan->sort) {
      const int found = compare(by, a, b);
      if (found != 0) return by.descending ? found > 0 : found < 0;
    }
    return false;
  });
  if (plan->limit != 0 && plan->limit < order.size()) order.resize(plan->limit);
  return order;
}

}  // namespace tallyfs::tracing
