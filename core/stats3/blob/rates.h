// Sample rates: which share of objects gets a blob of which template. Their text, and the choice.
//
// Pure functions: any thread; but copy_rates(), which is as its callback.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "tally/stats.h"

namespace tallyfs::stats3::blob {

// A longer template spec is refused, as FreeBSD does: with its marks and a hash of 10 digits, a
// name of up to 63 bytes fits.
inline constexpr std::size_t kSpecBytesMax = 76;
inline constexpr std::size_t kRatesMax = 65'536;

using Rates = std::vector<stats_tpl_sample_rate>;
// The slot ID of a template by name (nothing: any) and hash (0: any), or a negative number.
using FindTemplate = std::function<int(std::optional<std::string_view> name, std::uint32_t hash)>;
// The spec of a slot's template, "NAME":HASH; nothing if the template is gone.
using SpecOfTemplate = std::function<std::optional<std::string>(std::int32_t id)>;

// The grammar is at stats_tpl_sample_rates() in tally/stats.h. kNoTemplate: no such template.
// kInvalid: wrong text, or more than rates_max rates; the text behind them is not looked at.
Result<Rates> parse_rates(std::string_view text, const FindTemplate& find,
                          std::size_t rates_max = kRatesMax);
// Without a newline. Rates of templates that are gone are left out.
std::string print_rates(const Rates& rates, const SpecOfTemplate& spec);

// Copies the rates of a program's callback. The callback's errno, or 0. May throw std::bad_alloc;
// in every case the callback's lock is released.
int copy_rates(stats_tpl_sr_cb_t callback, void* context, Rates& copy);

// The slot ID for a number from 0 to 99, or -1: the first rates[0].tpl_sample_pct numbers are
// rates[0]'s, and so on.
int choose(const stats_tpl_sample_rate* rates, std::size_t count, unsigned hundredth);
// A number from 0 to 99 for a seed; all are equally likely over seeds, and a seed's stays the same
// on all machines and in all versions.
unsigned hundredth_of_seed(std::string_view seed);
// At random. Every thread has its own generator, seeded by the kernel, and anew in a child of
// fork().
unsigned random_hundredth();

}  // namespace tallyfs::stats3::blob
