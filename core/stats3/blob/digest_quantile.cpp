// Quantiles of a t-digest: a curve that rises with the rank and whose average over the ranks of
// each centroid is that centroid's mean (the piecewise parabolic method; Colella and Woodward, "The
// piecewise parabolic method for gas-dynamical simulations", 1984). A straight line from middle to
// middle misses by some percent where the density changes within a centroid, as it does in tails.
//
// A centroid that is heavier than it would have grown is many samples of one value: its ranks all
// have that, and so have those of a single sample. Before the first compression that is true of
// all; of the first and the last it is taken to be so, as they are never merged.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/stats3/blob/digest.h"
#include "core/stats3/blob/digest_scale.h"

namespace tallyfs::stats3::blob {
namespace {

// How many times as much as it may a centroid counts that is of one value.
constexpr double kOneValue = 4;

struct Cell {
  double weight, mean;
  bool one_value = false;

  bool is_flat() const { return one_value || weight <= 1; }
};
using Cells = std::vector<Cell>;

// A centroid that began beside a full one has samples among those of that one. So light ones count
// together, up to what a centroid may count there: the average over the ranks of both is right.
void add_cell(Cells& cells, Cell next, bool is_end, double most) {
  next.one_value = next.weight > kOneValue * most;
  if (is_end || next.one_value || cells.back().one_value ||
      cells.back().weight + next.weight > most) {
    return cells.push_back(next);
  }
  Cell& last = cells.back();
  last.weight += next.weight;
  last.mean += (next.mean - last.mean) * next.weight / last.weight;
}

// The rise of the curve within a cell, which is at most the rise to its neighbours.
double rise(const Cells& cells, std::size_t at) {
  if (at == 0 || at + 1 == cells.size()) return 0;
  const Cell &a = cells[at - 1], &b = cells[at], &c = cells[at + 1];
  const double down = b.mean - a.mean, up = c.mean - b.mean;
  const double central = b.weight / (a.weight + b.weight + c.weight) *
                         ((2 * a.weight + b.weight) / (c.weight + b.weight) * up +
                          (b.weight + 2 * c.weight) / (a.weight + b.weight) * down);
  return std::min({central, 2 * up, 2 * down});
}

// The curve between cell `at` and the next, by the two on each side.
double edge(const Cells& cells, std::size_t at) {
  const Cell &b = cells[at], &c = cells[at + 1];
  if (b.is_flat() && c.is_flat()) return (b.mean + c.mean) / 2;
  if (b.is_flat() || c.is_flat()) return b.is_flat() ? b.mean : c.mean;
  const double both = b.weight + c.weight, step = c.mean - b.mean;
  double value = b.mean + b.weight / both * step;
  if (at > 0 && at + 2 < cells.size()) {
    const double left = cells[at - 1].weight + b.weight, right = c.weight + cells[at + 2].weight;
    const double of_left = left / (both + b.weight), of_right = right / (both + c.weight);
    value += (2 * b.weight * c.weight / both * (of_left - of_right) * step -
              b.weight * of_left * rise(cells, at + 1) + c.weight * of_right * rise(cells, at)) /
             (left + right);
  }
  return std::clamp(value, b.mean, c.mean);
}

// The parabola in cell `at`, at `share` of its ranks. An end that would make it fall is moved.
double curve(const Cells& cells, std::size_t at, double share) {
  const double mean = cells[at].mean;
  if (cells[at].is_flat() || at == 0 || at + 1 == cells.size()) return mean;
  double left = edge(cells, at - 1), right = edge(cells, at);
  if (mean - left > 2 * (right - mean)) {
    left = 3 * mean - 2 * right;
  } else if (right - mean > 2 * (mean - left)) {
    right = 3 * mean - 2 * left;
  }
  const double bend = 6 * (mean - (left + right) / 2);
  return left + share * (right - left + bend * (1 - share));
}

}  // namespace

template <typename Width>
std::optional<double> Digest<Width>::quantile(double q) {
  if (size() == 0) return std::nullopt;
  if (!is_arranged()) arrange();
  double total = 0;
  for (int i = 0; i < size(); ++i) total += weight(nodes()[i]);
  const DigestScale scale(total, target());
  const double unit = std::ldexp(1.0, -static_cast<int>(fraction_bits()));
  Cells cells;
  double begun = 0;
  for (int i = 0; i < size(); ++i) {
    const Cell next{.weight = weight(nodes()[i]),
                    .mean = static_cast<double>(mean_of(nodes()[i].umu)) * unit};
    const bool is_end = cells.size() < 2 || i + 1 == size();
    add_cell(cells, next, is_end, data_.compcnt == 0 ? 0 : scale.most(begun + next.weight / 2));
    begun += next.weight;
  }
  double left = q * total;
  std::size_t at = 0;
  while (at + 1 < cells.size() && left > cells[at].weight) left -= cells[at++].weight;
  return curve(cells, at, std::clamp(left / cells[at].weight, 0.0, 1.0));
}

template std::optional<double> Digest<Narrow>::quantile(double);
template std::optional<double> Digest<Wide>::quantile(double);

}  // namespace tallyfs::stats3::blob
