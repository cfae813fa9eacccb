#include "core/latency_hist/engine/histogram.h"

#include <algorithm>
#include <functional>

#include "core/base/text.h"

namespace tallyfs::latency_hist {
namespace {

void append_padded(std::string& out, std::uint64_t value, std::size_t width) {
  char digits[kNumberBytesMax];
  const auto size = static_cast<std::size_t>(write_number(digits, value) - digits);
  if (size < width) out.append(width - size, ' ');
  out.append(digits, size);
}

void append_header(std::string& out, std::string_view what, bool defined, Int128 us) {
  out.append("#").append(what).append(" latency: ");
  if (defined) {
    append_number(out, us);
    out.append(" microseconds\n");
  } else {
    out.append("<undef>\n");
  }
}

void append_outside(std::string& out, std::uint64_t samples, std::string_view where) {
  out.append("#There are ");
  append_number(out, samples);
  out.append(" samples ").append(where).append(" microseconds.\n");
}

}  // namespace

void Histogram::add(std::chrono::nanoseconds latency) {
  if (rows_.empty()) rows_.resize(kRows);
  const std::int64_t us = latency.count() / 1000;
  total_ += 1;
  min_us_ = std::min(min_us_, us);
  max_us_ = std::max(max_us_, us);
  sum_us_ += us;
  if (us < 0) {
    below_ += 1;
  } else if (us >= static_cast<std::int64_t>(kRows)) {
    above_ += 1;
  } else {
    rows_[static_cast<std::size_t>(us)] += 1;
  }
}

void Histogram::add(const Histogram& other) {
  if (other.rows_.empty()) return;
  rows_.resize(kRows);
  std::ranges::transform(rows_, other.rows_, rows_.begin(), std::plus());
  total_ += other.total_;
  below_ += other.below_;
  above_ += other.above_;
  min_us_ = std::min(min_us_, other.min_us_);
  max_us_ = std::max(max_us_, other.max_us_);
  sum_us_ += other.sum_us_;
}

std::int64_t Histogram::percentile_us(unsigned share) const {
  const auto wanted = static_cast<std::uint64_t>((UInt128{total_} * share + 9'999) / 10'000);
  std::uint64_t seen = below_;
  if (seen >= wanted) return min_us_;
  for (std::size_t us = 0; us < kRows; ++us) {
    seen += rows_[us];
    if (seen >= wanted) return static_cast<std::int64_t>(us);
  }
  return max_us_;
}

void Histogram::append_to(std::string& out, std::string_view note) const {
  out.reserve(out.size() + kTextBytesMin + 512 + note.size());
  const bool defined = total_ > 0;
  append_header(out, "Minimum", defined, min_us_);
  append_header(out, "Average", defined, defined ? sum_us_ / static_cast<Int128>(total_) : 0);
  append_header(out, "Maximum", defined, max_us_);
  out.append("#Total samples: ");
  append_number(out, total_);
  out.push_back('\n');
  append_outside(out, below_, "lower than 0");
  append_outside(out, above_, "greater or equal than 10240");
  out.append("#usecs\t         samples\n").append(note);
  for (std::size_t us = 0; us < kRows; ++us) {
    append_padded(out, us, 6);
    out.push_back('\t');
    append_padded(out, row(us), 16);
    out.push_back('\n');
  }
}

// Only rows with samples are saved.
void Histogram::save(ByteWriter& out) const {
  out.put(total_);
  out.put(below_);
  out.put(above_);
  out.put(min_us_);
  out.put(max_us_);
  out.put(sum_us_);
  const auto used = rows_.size() - static_cast<std::size_t>(std::ranges::count(rows_, 0u));
  out.put(static_cast<std::uint32_t>(used));
  for (std::size_t us = 0; us < rows_.size(); ++us) {
    if (rows_[us] == 0) continue;
    out.put(static_cast<std::uint16_t>(us));
    out.put(rows_[us]);
  }
}

// The counts add up to the total, so that no percentile is beyond the rows.
void Histogram::load(ByteReader& in) {
  total_ = in.get<std::uint64_t>();
  below_ = in.get<std::uint64_t>();
  above_ = in.get<std::uint64_t>();
  min_us_ = in.get<std::int64_t>();
  max_us_ = in.get<std::int64_t>();
  sum_us_ = in.get<Int128>();
  const auto used = in.get<std::uint32_t>();
  if (used > kRows) return in.fail();
  UInt128 counted = UInt128{below_} + above_;
  if (total_ != 0) rows_.resize(kRows);
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < used && in.ok(); ++i) {
    const std::size_t us = in.get<std::uint16_t>();
    const auto samples = in.get<std::uint64_t>();
    if (total_ == 0 || us < next || us >= kRows || samples == 0) return in.fail();
    rows_[us] = samples;
    counted += samples;
    next = us + 1;
  }
  if (counted != total_) return in.fail();
  if (total_ == 0) {
    *this = Histogram();
  } else if (min_us_ > max_us_ || sum_us_ < Int128{min_us_} * static_cast<Int128>(total_) ||
             sum_us_ > Int128{max_us_} * static_cast<Int128>(total_)) {
    in.fail();
  }
}

}  // namespace tallyfs::latency_hist
