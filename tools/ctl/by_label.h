// --by LABEL: statistics of a name are added up over their labels but that one, and their sums
// stand in their place. Confined to one thread.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "program/command_line.h"
#include "tools/ctl/read_interfaces.h"
#include "tools/ctl/what.h"
#include "tools/display/sum.h"

namespace tallyfs {

class ByLabel {
 public:
  // Empty: nothing is added up.
  explicit ByLabel(std::string label) : label_(std::move(label)) {}

  bool is_wanted() const { return !label_.empty(); }

  // Selects as tallyfs::select() does. With a label, a family has all names with its labels, and
  // may have one without.
  Result<std::vector<Selection>> select(Source& source,
                                        const std::vector<std::string>& words) const;
  // kInvalid: no selected statistic has the label; the reason names the labels that they have.
  Result<void> check(const ReadInterfaces& interfaces,
                     const std::vector<Selection>& selections) const;
  // Puts sums of what is selected in the place of all statistics.
  void add_up(ReadInterfaces& interfaces, const std::vector<Selection>& selections,
              view::Begin begin);
  // Returns the names of which each sum is made.
  std::vector<std::vector<std::string>> add_up(view::Interface& interface,
                                               const std::vector<Selection>& selections,
                                               view::Begin begin);
  // The selections of sums: all sums of each selected interface.
  static std::vector<Selection> of_sums(const std::vector<Selection>& selections);
  // "2 statistics do not add up, and are left out", for the newest interfaces; empty: all do.
  std::string left_out_text() const;

 private:
  std::string label_;
  std::size_t left_out_ = 0;
};

// The option.
void add_by(CommandLine& line, std::string& label);

}  // namespace tallyfs
