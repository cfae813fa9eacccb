// How a program defines its statistics: one function for each statistic_define_ call.
#include "feeders/client/python/arguments.h"
#include "feeders/client/python/objects.h"

namespace tallyfs::python {
namespace {

constexpr std::uint64_t kEntriesMax = 1'048'576;
constexpr std::uint64_t kPeriodMaxUs = 3'153'600'000'000'000;
constexpr std::uint64_t kPrecisionMax = 8;
constexpr std::uint64_t kDecimalsMax = 9;
constexpr const char* kQuantiles = "50,90,99,99.9";

// In the order of enum statistic_scale, and of enum statistic_mode.
constexpr const char* kScales[] = {"lin", "log2"};
constexpr const char* kModes[] = {"increments", "products", "range", "quantiles"};

struct Range {
  Signed min{"range_min", INT64_MIN, INT64_MAX, INT64_MIN};
  Signed max{"range_max", INT64_MIN, INT64_MAX, INT64_MAX};
};
Unsigned entries(std::uint64_t value) { return {"entries_max", 1, kEntriesMax, value}; }
Unsigned period() { return {"period_us", 1, kPeriodMaxUs, 1'000'000}; }
Unsigned precision() { return {"precision", 0, kPrecisionMax, 5}; }
Word mode(std::size_t count) { return {"mode", std::span(kModes).first(count), 0}; }
Text quantiles() { return {"quantiles", Text::Absent::kNever, kQuantiles}; }

// A definition of what is released is for nothing, and no error.
template <typename Define>
PyObject* define(PyObject* self, Define&& how) {
  if (is_released(fed_of(self))) return none();
  const int error = how(fed_of(self).handle);
  return error == 0 ? none() : raise_last_error(error);
}

PyObject* define_value(PyObject* self, PyObject* arguments, PyObject* named) {
  static constexpr const char* kNames[] = {"range_min", "range_max", "mode", nullptr};
  Range range;
  Word how = mode(2);
  if (!parse(arguments, named, "|O&O&O&:define_value", kNames, &Signed::convert, &range.min,
             &Signed::convert, &range.max, &Word::convert, &how)) {
    return nullptr;
  }
  return define(self, [&](::statistic* each) {
    return statistic_define_value(each, range.min.value, range.max.value,
                                  static_cast<statistic_mode>(how.value));
  });
}

using DefineRange = int(::statistic*, std::int64_t, std::int64_t);
PyObject* define_by_range(PyObject* self, PyObject* arguments, PyObject* named, const char* format,
                          DefineRange* how) {
  static constexpr const char* kNames[] = {"range_min", "range_max", nullptr};
  Range range;
  if (!parse(arguments, named, format, kNames, &Signed::convert, &range.min, &Signed::convert,
             &range.max)) {
    return nullptr;
  }
  return define(self,
                [&](::statistic* each) { return how(each, range.min.value, range.max.value); });
}

PyObject* define_range(PyObject* self, PyObject* arguments, PyObject* named) {
  return define_by_range(self, arguments, named, "|O&O&:define_range", &statistic_define_range);
}

PyObject* define_last(PyObject* self, PyObject* arguments, PyObject* named) {
  return define_by_range(self, arguments, named, "|O&O&:define_last", &statistic_define_last);
}

PyObject* define_array(PyObject* self, PyObject* arguments, PyObject* named) {
  static constexpr const char* kNames[] = {"range_min", "range_max", "base_interval", "scale",
                                           nullptr};
  Range range;
  Unsigned base_interval{"base_interval", 1, UINT64_MAX, 1};
  Word scale{"scale", kScales, STATISTIC_SCALE_LOG2};
  if (!parse(arguments, named, "|O&O&O&O&:define_array", kNames, &Signed::convert, &range.min,
             &Signed::convert, &range.max, &Unsigned::convert, &base_interval, &Word::convert,
             &scale)) {
    return nullptr;
  }
  return define(self, [&](::statistic* each) {
    return statistic_define_array(each, range.min.value, range.max.value, base_interval.value,
                                  static_cast<statistic_scale>(scale.value));
  });
}

using DefineEntries = int(::statistic*, std::int64_t, std::int64_t, std::uint32_t);
PyObject* define_by_entries(PyObject* self, PyObject* arguments, PyObject* named,
                            const char* format, DefineEntries* how) {
  static constexpr const char* kNames[] = {"range_min", "range_max", "entries_max", nullptr};
  Range range;
  Unsigned entries_max = entries(256);
  if (!parse(arguments, named, format, kNames, &Signed::convert, &range.min, &Signed::convert,
             &range.max, &Unsigned::convert, &entries_max)) {
    return nullptr;
  }
  return define(self, [&](::statistic* each) {
    return how(each, range.min.value, range.max.value,
               static_cast<std::uint32_t>(entries_max.value));
  });
}

PyObject* define_list(PyObject* self, PyObject* arguments, PyObject* named) {
  return define_by_entries(self, arguments, named, "|O&O&O&:define_list", &statistic_define_list);
}

PyObject* define_raw(PyObject* self, PyObject* arguments, PyObject* named) {
  return define_by_entries(self, arguments, named, "|O&O&O&:define_raw", &statistic_define_raw);
}

PyObject* define_history(PyObject* self, PyObject* arguments, PyObject* named) {
  static constexpr const char* kNames[] = {"range_min", "range_max", "entries_max",
                                           "period_us", "mode",      nullptr};
  Range range;
  Unsigned entries_max = entries(60);
  Unsigned period_us = period();
  Word how = mode(3);
  if (!parse(arguments, named, "|O&O&O&O&O&:define_history", kNames, &Signed::convert, &range.min,
             &Signed::convert, &range.max, &Unsigned::convert, &entries_max, &Unsigned::convert,
             &period_us, &Word::convert, &how)) {
    return nullptr;
  }
  return define(self, [&](::statistic* each) {
    return statistic_define_history(each, range.min.value, range.max.value,
                                    static_cast<std::uint32_t>(entries_max.value), period_us.value,
                                    static_cast<statistic_mode>(how.value));
  });
}

PyObject* define_quantiles(PyObject* self, PyObject* arguments, PyObject* named) {
  static constexpr const char* kNames[] = {"range_min", "range_max", "precision", "quantiles",
                                           nullptr};
  Range range;
  Unsigned precise = precision();
  Text which = quantiles();
  if (!parse(arguments, named, "|O&O&O&O&:define_quantiles", kNames, &Signed::convert, &range.min,
             &Signed::convert, &range.max, &Unsigned::convert, &precise, &Text::convert, &which)) {
    return nullptr;
  }
  return define(self, [&](::statistic* each) {
    return statistic_define_quantiles(each, range.min.value, range.max.value,
                                      static_cast<unsigned>(precise.value), which.value);
  });
}

PyObject* define_quantile_history(PyObject* self, PyObject* arguments, PyObject* named) {
  static constexpr const char* kNames[] = {"range_min", "range_max", "entries_max", "period_us",
                                           "precision", "quantiles", nullptr};
  Range range;
  Unsigned entries_max = entries(300);
  Unsigned period_us = period();
  Unsigned precise = precision();
  Text which = quantiles();
  if (!parse(arguments, named, "|O&O&O&O&O&O&:define_quantile_history", kNames, &Signed::convert,
             &range.min, &Signed::convert, &range.max, &Unsigned::convert, &entries_max,
             &Unsigned::convert, &period_us, &Unsigned::convert, &precise, &Text::convert,
             &which)) {
    return nullptr;
  }
  return define(self, [&](::statistic* each) {
    return statistic_define_quantile_history(
        each, range.min.value, range.max.value, static_cast<std::uint32_t>(entries_max.value),
        period_us.value, static_cast<unsigned>(precise.value), which.value);
  });
}

}  // namespace

PyObject* define_decimals(PyObject* self, PyObject* arguments, PyObject* named) {
  static constexpr const char* kNames[] = {"decimals", nullptr};
  Unsigned decimals{"decimals", 0, kDecimalsMax, 0};
  if (!parse(arguments, named, "O&:define_decimals", kNames, &Unsigned::convert, &decimals)) {
    return nullptr;
  }
  return define(self, [&](::statistic* each) {
    return statistic_define_decimals(each, static_cast<unsigned>(decimals.value));
  });
}

PyObject* define_help(PyObject* self, PyObject* arguments, PyObject* named) {
  static constexpr const char* kNames[] = {"help", nullptr};
  Text help{"help", Text::Absent::kMayBe, nullptr};
  if (!parse(arguments, named, "O&:define_help", kNames, &Text::convert, &help)) return nullptr;
  return define(self, [&](::statistic* each) { return statistic_define_help(each, help.value); });
}

const std::vector<PyMethodDef>& definition_methods() {
  constexpr int kFlags = METH_VARARGS | METH_KEYWORDS;
  static const std::vector<PyMethodDef> methods{
      {"define_value", method(&define_value), kFlags,
       "define_value($self, /, range_min=-9223372036854775808, range_max=9223372036854775807,\n"
       "             mode='increments')\n--\n\n"
       "A counter. mode: increments or products."},
      {"define_range", method(&define_range), kFlags,
       "define_range($self, /, range_min=-9223372036854775808, range_max=9223372036854775807)\n"
       "--\n\n"
       "Number, smallest, average and largest X."},
      {"define_array", method(&define_array), kFlags,
       "define_array($self, /, range_min=-9223372036854775808, range_max=9223372036854775807,\n"
       "             base_interval=1, scale='log2')\n--\n\n"
       "A histogram from range_min to range_max, of at most 65,536 intervals. base_interval:\n"
       "their width, 1 to 2^64-1; with scale log2 each is twice as wide as the one before."},
      {"define_list", method(&define_list), kFlags,
       "define_list($self, /, range_min=-9223372036854775808, range_max=9223372036854775807,\n"
       "            entries_max=256)\n--\n\n"
       "The sum of Y for each X, for the first entries_max (1 to 1,048,576) different X."},
      {"define_raw", method(&define_raw), kFlags,
       "define_raw($self, /, range_min=-9223372036854775808, range_max=9223372036854775807,\n"
       "           entries_max=256)\n--\n\n"
       "The newest entries_max (1 to 1,048,576) samples with their times."},
      {"define_history", method(&define_history), kFlags,
       "define_history($self, /, range_min=-9223372036854775808, range_max=9223372036854775807,\n"
       "               entries_max=60, period_us=1000000, mode='increments')\n--\n\n"
       "One entry for each period of period_us (1 us to 100 years of 365 days), the newest\n"
       "entries_max (1 to 1,048,576) of them. mode: increments, products or range."},
      {"define_quantiles", method(&define_quantiles), kFlags,
       "define_quantiles($self, /, range_min=-9223372036854775808, range_max=9223372036854775807,\n"
       "                 precision=5, quantiles='50,90,99,99.9')\n--\n\n"
       "Percentiles of X, from buckets whose ends differ by the factor 2^(2^-precision).\n"
       "precision: 0 to 8; 5 is 2.2 %. quantiles: 1 to 16 ascending numbers in (0, 100) with at\n"
       "most 4 decimals, separated by commas, without blanks. Units of the statistic name the\n"
       "unit in which buckets end at powers: those of \"microseconds/requests\" in seconds."},
      {"define_quantile_history", method(&define_quantile_history), kFlags,
       "define_quantile_history($self, /, range_min=-9223372036854775808,\n"
       "                        range_max=9223372036854775807, entries_max=300,\n"
       "                        period_us=1000000, precision=5, quantiles='50,90,99,99.9')\n"
       "--\n\n"
       "A history whose entries have percentiles, too. As define_history(), with what\n"
       "define_quantiles() needs."},
      {"define_last", method(&define_last), kFlags,
       "define_last($self, /, range_min=-9223372036854775808, range_max=9223372036854775807)\n"
       "--\n\n"
       "X of the newest sample: a gauge. Y is ignored."},
  };
  return methods;
}

}  // namespace tallyfs::python
