// The tracepoint that compare_bench fires, as LTTng-UST wants it: included again and again by its
// macros.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER tally_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tests/bench/lttng_events.h"

#if !defined(TESTS_BENCH_LTTNG_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TESTS_BENCH_LTTNG_EVENTS_H

#include <lttng/tracepoint.h>

#include <cstdint>

LTTNG_UST_TRACEPOINT_EVENT(tally_bench, sample, LTTNG_UST_TP_ARGS(std::int64_t, x),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(std::int64_t, x, x)))

#endif

#include <lttng/tracepoint-event.h>
