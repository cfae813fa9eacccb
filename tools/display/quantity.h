// Numbers as people read them: with the unit that the statistic names, scaled, with three
// significant digits. `units=A/B`: X and products are A, counts are B; without `/` counts are it.
//
// A time scales to ns, µs, ms, s, min; bytes to KiB, MiB; all else to k, M, G, T. Thousandths and
// millionths are parts of a pure number: 2500 thousandths are 2.5. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/int128.h"
#include "tools/display/statistic.h"

namespace tallyfs::view {

enum class Charset : std::uint8_t { kAscii, kUtf8 };

struct Quantity {
  enum class Kind : std::uint8_t { kNumber, kTime, kBytes };
  Kind kind = Kind::kNumber;
  double factor = 1;   // to nanoseconds, to bytes, to a pure number; 1 for other units
  // Places of X, which is an integer here: those of the definition, and of a pure number 3 more for
  // thousandths, 6 for millionths, which have no name.
  int decimals = 0;
  std::string name{};  // as the definition has it: "requests"; empty if there is none
};

Quantity quantity_of_x(std::string_view units, unsigned decimals = 0);
Quantity quantity_of_x(const Statistic& statistic);
Quantity quantity_of_counts(std::string_view units);
// The units as a heading names them: without the unit of X if numbers have it themselves.
std::string_view shown_units(std::string_view units);
// True if the totals of a value or a history are sums of products; else they are counts.
bool has_products(const Statistic& statistic);
// The quantity of these totals: that of X if they are products, else that of counts.
Quantity quantity_of_totals(const Statistic& statistic);

// The value in seconds, in bytes, or as a pure number.
double in_base_unit(double value, const Quantity& quantity);

enum class Digits : std::uint8_t {
  kThree,  // 1.05s, 101us
  kTwo,    // 1.0s, 101us: beside bounds, which say how near it is
  kAll,    // 1048576us
};

// A bound of what is not known exactly is rounded away from it, so that it stays a bound.
enum class Rounding : std::uint8_t { kNearest, kDown, kUp };

// With its unit; an integer that needs no scaling is shown as it is.
std::string number_text(double value, const Quantity& quantity, Digits digits, Charset charset,
                        Rounding rounding = Rounding::kNearest);
// `value` without its unit, but scaled as number_text() scales `like`.
std::string number_like(double value, double like, const Quantity& quantity, Digits digits,
                        Rounding rounding);

std::string exact_text(Int128 value);
std::string grouped_text(Int128 value);  // 573,437
// With the point where the decimals of the quantity have it: "2.5", "1,234.5".
std::string exact_text(Int128 value, const Quantity& quantity);
std::string grouped_text(Int128 value, const Quantity& quantity);
// A share of 100, "49.9"; "<0.1" if it is above 0 and would be shown as 0.
std::string share_text(Int128 part, Int128 whole);
std::string rate_text(double per_second);         // "934/s"
std::string duration_text(std::uint64_t micros);  // "10 min 14 s"

}  // namespace tallyfs::view
