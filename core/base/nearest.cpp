#include "core/base/nearest.h"

#include <algorithm>
#include <numeric>

namespace tallyfs {
namespace {

constexpr std::size_t kWordMax = 255;

// Letters to insert, remove, replace, or swap with their neighbour (optimal string alignment).
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before;
  std::vector<std::size_t> above(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> row(b.size() + 1, i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before = std::move(above);
    above = std::move(row);
  }
  return above.back();
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
  std::optional<std::string> found;
  std::size_t fewest = std::max<std::size_t>(1, word.size() / 3) + 1;
  if (word.size() > kWordMax) return found;
  for (const std::string& each : known) {
    const std::size_t longer = std::max(each.size(), word.size());
    // So many letters are to be inserted or removed at least.
    if (longer > kWordMax || longer - std::min(each.size(), word.size()) >= fewest) continue;
    const std::size_t count = edits(word, each);
    if (count >= fewest) continue;
    fewest = count;
    found = each;
  }
  return found;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known,
                         std::string_view prefix) {
  const auto meant = nearest(word, known);
  if (!meant) return {};
  return std::string("; did you mean ").append(prefix).append(*meant).append("?");
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0) text.append(i + 1 == words.size() ? " or " : ", ");
    text.append(words[i]);
  }
  return text;
}

}  // namespace tallyfs
