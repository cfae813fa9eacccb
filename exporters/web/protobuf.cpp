#include "exporters/web/protobuf.h"

#include "core/base/protobuf.h"

namespace tallyfs::web {
namespace {

// Metric: label = 1 {name = 1, value = 2}, counter = 3 {value = 1}.
std::string metric_of(const Labelled& each) {
  std::string metric;
  for (const auto& [name, value] : each.labels) {
    std::string label;
    ProtobufWriter of_label(label);
    of_label.bytes(1, name);
    of_label.bytes(2, value);
    ProtobufWriter(metric).bytes(1, label);
  }
  std::string counter;
  ProtobufWriter(counter).real(1, each.value);
  ProtobufWriter(metric).bytes(3, counter);
  return metric;
}

}  // namespace

// MetricFamily: name = 1, help = 2, type = 3 (0 is a counter), metric = 4.
std::string counter_family(std::string_view name, std::string_view help,
                           const std::vector<Labelled>& metrics) {
  std::string family;
  ProtobufWriter out(family);
  out.bytes(1, name);
  out.bytes(2, help);
  out.number(3, 0);
  for (const Labelled& each : metrics) out.bytes(4, metric_of(each));
  std::string made;
  ProtobufWriter(made).delimited(family);
  return made;
}

}  // namespace tallyfs::web
