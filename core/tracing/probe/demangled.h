// Names of C++ and of old Rust functions. Pure functions over names of strangers: bounded, and the
// library's demangler, which reads them, is why a file is searched in a process without rights.
#pragma once

#include <string>
#include <string_view>

namespace tallyfs::tracing {

// As people write it, with parameters; empty: it is no mangled name, or a variant that the compiler
// has split off (`f.cold`, `f.part.0`).
std::string demangled(std::string_view mangled);
// Whether a demangled name is that of the function `ns::f`, whatever its parameters. Functions of
// templates, whose names have arguments, are not.
bool is_function_named(std::string_view demangled, std::string_view name);
// Whether the mangled name may be of such a function: cheaper than to demangle it.
bool may_be_named(std::string_view mangled, std::string_view name);

}  // namespace tallyfs::tracing
