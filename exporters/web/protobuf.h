// A counter as a delimited MetricFamily of Prometheus' protobuf format. A pure function.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tallyfs::web {

struct Labelled {
  std::vector<std::pair<std::string, std::string>> labels;
  double value = 0;
};

std::string counter_family(std::string_view name, std::string_view help,
                           const std::vector<Labelled>& metrics);

}  // namespace tallyfs::web
