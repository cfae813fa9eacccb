#include "feeders/kernel/kernel_filter.h"

#include <algorithm>

namespace tallyfs {
namespace {

bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string_view in_the_kernel(std::string_view name) {
  if (name == "common_comm") return "COMM";
  if (name == "common_cpu") return "CPU";
  return name;
}

// Takes a name, a text with its quotes, or one other character.
std::string_view take_piece(std::string_view& text) {
  std::size_t size = 1;
  if (text[0] == '"' || text[0] == '\'') {
    const std::size_t end = text.find(text[0], 1);
    size = end == text.npos ? text.size() : end + 1;
  } else if (is_of_name(text[0])) {
    size = static_cast<std::size_t>(std::ranges::find_if_not(text, is_of_name) - text.begin());
  }
  const std::string_view piece = text.substr(0, size);
  text.remove_prefix(size);
  return piece;
}

}  // namespace

std::string kernel_filter(std::string_view text) {
  std::string filter;
  while (!text.empty()) filter.append(in_the_kernel(take_piece(text)));
  return filter;
}

}  // namespace tallyfs
