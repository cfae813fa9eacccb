#include "exporters/web/protobuf.h"

#include <bit>
#include <cstdint>

namespace tallyfs::web {
namespace {

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>((value & 0x7f) | 0x80));
  out.push_back(static_cast<char>(value));
}

// A field with a length: a text, or a message.
void put_bytes(std::string& out, unsigned field, std::string_view bytes) {
  constexpr unsigned kLength = 2;
  put_varint(out, field << 3 | kLength);
  put_varint(out, bytes.size());
  out.append(bytes);
}

void put_double(std::string& out, unsigned field, double value) {
  constexpr unsigned kFixed64 = 1;
  put_varint(out, field << 3 | kFixed64);
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (unsigned shift = 0; shift < 64; shift += 8) {
    out.push_back(static_cast<char>(bits >> shift & 0xff));
  }
}

// Metric: label = 1 {name = 1, value = 2}, counter = 3 {value = 1}.
std::string metric_of(const Labelled& each) {
  std::string metric;
  for (const auto& [name, value] : each.labels) {
    std::string label;
    put_bytes(label, 1, name);
    put_bytes(label, 2, value);
    put_bytes(metric, 1, label);
  }
  std::string counter;
  put_double(counter, 1, each.value);
  put_bytes(metric, 3, counter);
  return metric;
}

}  // namespace

// MetricFamily: name = 1, help = 2, type = 3 (0 is a counter), metric = 4.
std::string counter_family(std::string_view name, std::string_view help,
                           const std::vector<Labelled>& metrics) {
  std::string family;
  put_bytes(family, 1, name);
  put_bytes(family, 2, help);
  constexpr unsigned kType = 3 << 3;
  put_varint(family, kType);
  put_varint(family, 0);
  for (const Labelled& each : metrics) put_bytes(family, 4, metric_of(each));
  std::string made;
  put_varint(made, family.size());
  return made.append(family);
}

}  // namespace tallyfs::web
