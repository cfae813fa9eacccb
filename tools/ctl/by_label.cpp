#include "tools/ctl/by_label.h"

#include <algorithm>

namespace tallyfs {
namespace {

// Finds what is selected in the interface, and what the words match by now.
std::vector<const view::Statistic*> parts_of(const view::Interface& interface,
                                             const std::vector<Selection>& selections) {
  std::vector<const view::Statistic*> parts;
  for (const Selection& selection : selections) {
    if (selection.interface != interface.name) continue;
    for (const view::Statistic* each : matching(interface, selection)) parts.push_back(each);
  }
  return parts;
}

}  // namespace

Result<std::vector<Selection>> ByLabel::select(Source& source,
                                               const std::vector<std::string>& words) const {
  if (!is_wanted()) return tallyfs::select(source, words);
  std::vector<std::string> made;
  for (const std::string& word : words) {
    const bool is_family = word.find('/') != word.npos && word.find_first_of("{*?[") == word.npos;
    const std::string pattern = word + "{*";
    const bool has_labels = is_family && tallyfs::select(source, {pattern});
    if (has_labels) made.push_back(pattern);
    if (!has_labels || tallyfs::select(source, {word})) made.push_back(word);
  }
  return tallyfs::select(source, made);
}

Result<void> ByLabel::check(const ReadInterfaces& interfaces,
                            const std::vector<Selection>& selections) const {
  if (!is_wanted()) return {};
  std::vector<std::string> labels;
  for (const auto& [name, each] : interfaces) {
    for (std::string& label : view::labels_of(parts_of(each.interface, selections))) {
      if (label == label_) return {};
      if (std::ranges::find(labels, label) == labels.end()) labels.push_back(std::move(label));
    }
  }
  return invalid(view::no_label_text(label_, labels));
}

void ByLabel::add_up(ReadInterfaces& interfaces, const std::vector<Selection>& selections,
                     view::Begin begin) {
  std::size_t left_out = 0;
  for (auto& [name, each] : interfaces) {
    each.parts = add_up(each.interface, selections, begin);
    left_out += left_out_;
  }
  left_out_ = left_out;
}

std::vector<std::vector<std::string>> ByLabel::add_up(view::Interface& interface,
                                                      const std::vector<Selection>& selections,
                                                      view::Begin begin) {
  view::Sums sums = view::sums_by(label_, parts_of(interface, selections), begin);
  left_out_ = sums.left_out.size();
  interface.statistics = std::move(sums.statistics);
  return std::move(sums.parts);
}

std::vector<Selection> ByLabel::of_sums(const std::vector<Selection>& selections) {
  std::vector<Selection> made;
  for (const Selection& each : selections) {
    if (std::ranges::count(made, each.interface, &Selection::interface) != 0) continue;
    made.push_back({.interface = each.interface, .is_whole = true});
  }
  return made;
}

std::string ByLabel::left_out_text() const {
  if (left_out_ == 0) return "";
  return std::to_string(left_out_) + " statistics do not add up, and are left out";
}

void add_by(CommandLine& line, std::string& label) {
  line.add({.names = "--by",
            .variable = &label,
            .value = "LABEL",
            .text = "add up statistics of a name, as web/latency{route:/cart,code:200}, over all "
                    "labels but this one",
            .shown = Option::Default::kHidden});
}

}  // namespace tallyfs
