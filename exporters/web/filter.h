// A filter of names: its words, which blanks, commas and braces part. A name matches that has all
// of them, as it is stored or as it is shown, in any order, in capital or small letters of ASCII. A
// value; pure.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/labels.h"
#include "exporters/web/http.h"

namespace tallyfs::web {

class Filter {
 public:
  explicit Filter(std::string_view text) {
    constexpr std::string_view kBetween = " ,{}";
    while (!text.empty()) {
      const std::size_t end = std::min(text.find_first_of(kBetween), text.size());
      if (end > 0) words_.push_back(in_lower_case(text.substr(0, end)));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  bool matches(std::string_view name) const {
    if (words_.empty()) return true;
    std::string text = in_lower_case(name);
    if (name.find('%') != name.npos) text.append("\n").append(in_lower_case(shown_labels(name)));
    return std::ranges::all_of(
        words_, [&](const std::string& word) { return text.find(word) != text.npos; });
  }

 private:
  std::vector<std::string> words_;
};

}  // namespace tallyfs::web
