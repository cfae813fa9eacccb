// A filter as whoever wants an event has written it, in the words of the kernel's filter files:
// what tracing/ calls common_comm and common_cpu besides is COMM and CPU there. All else is the
// kernel's language already, or is refused by the kernel as a whole. Pure; linear in the text.
#pragma once

#include <string>
#include <string_view>

namespace tallyfs {

std::string kernel_filter(std::string_view text);

}  // namespace tallyfs
