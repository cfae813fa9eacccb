// Translates a user's filter of an event into the language of the kernel's filter files:
// common_comm and common_cpu of tracing/ are COMM and CPU there. All else is the kernel's language
// already, or the kernel refuses the filter as a whole. Pure; linear in the text.
#pragma once

#include <string>
#include <string_view>

namespace tallyfs {

std::string kernel_filter(std::string_view text);

}  // namespace tallyfs
