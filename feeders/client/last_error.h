// The text of statistic_last_error(): why the last call of this thread that failed did so. Each
// thread has a text of its own, of at most kReasonBytes; a longer reason is cut. Not for signal
// handlers.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/base/result.h"

namespace tallyfs {

inline constexpr std::size_t kReasonBytes = 255;

// Keeps the reason; returns -error, an errno, as the calls of statistic.h do.
int fail_with(int error, std::string_view reason);
int fail_with(const Error& error);

// Until this thread's next fail_with(). Empty: there was none.
const char* last_error();

}  // namespace tallyfs
