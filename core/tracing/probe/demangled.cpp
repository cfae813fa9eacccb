#include "core/tracing/probe/demangled.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "core/tracing/probe/letters.h"

namespace tallyfs::tracing {
namespace {

constexpr std::string_view kMangled = "_Z";
constexpr std::size_t kMangledBytesMax = 1'024;
constexpr std::size_t kRustHashDigits = 16;

struct Free {
  void operator()(char* text) const { std::free(text); }
};

// `::h` and the hash, with which names of old Rust functions end.
bool is_rust_hash(std::string_view text) {
  return text.size() == 3 + kRustHashDigits && text.starts_with("::h") &&
         text.find_first_not_of("0123456789abcdef", 3) == text.npos;
}

}  // namespace

std::string demangled(std::string_view mangled) {
  const bool is_known = mangled.starts_with(kMangled) && mangled.size() <= kMangledBytesMax &&
                        mangled.find('.') == mangled.npos;
  if (!is_known) return {};
  int status = 0;
  const std::unique_ptr<char, Free> name(
      abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status));
  return status == 0 && name ? std::string(name.get()) : std::string();
}

bool is_function_named(std::string_view demangled, std::string_view name) {
  if (!demangled.starts_with(name)) return false;
  std::string_view rest = demangled.substr(name.size());
  // The tag of a library's second ABI, as of f[abi:cxx11](int).
  if (rest.starts_with("[abi:")) rest.remove_prefix(std::min(rest.find(']') + 1, rest.size()));
  return rest.starts_with('(') || is_rust_hash(rest);
}

bool may_be_named(std::string_view mangled, std::string_view name) {
  if (!mangled.starts_with(kMangled)) return false;
  // Of a constructor, too, whose last part is its class.
  const std::size_t colon = name.rfind(':');
  const std::string_view last = name.substr(colon == name.npos ? 0 : colon + 1);
  // An operator and a destructor are written by a code.
  const bool is_code = last.starts_with("operator") || !std::ranges::all_of(last, is_of_name);
  return is_code || mangled.find(last) != mangled.npos;
}

}  // namespace tallyfs::tracing
