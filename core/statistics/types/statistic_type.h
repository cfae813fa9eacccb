// The concept that the class of each type of statistic meets: it holds the data that one statistic
// gathers, and knows neither name nor state nor range.
//
// Confined to the lock of its Interface; a copy is confined to its owner. Made empty, from its
// settings; a reset makes a new one. Beside what the concept asks for, each has
//   static std::uint64_t worst_case_bytes(settings...)   heap that its data may come to hold
// and keeps to it; and says with TypeOf (types_of.h) of which settings it is. Some have
//   worst_case_bytes_after(definition), redefine(definition)   for a definition that keeps the data
//   add(samples, outside)   it is given the samples out of range as well, and counts them
//   missed()             samples for which it had no room
//   start(now), advance(now), can_add()     its time passes without samples, too
//   kOfOneBoot           its data consist of times since boot, and end with the boot
//   forget_time()        its data have a time, which is 0 after another boot
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/base/json.h"
#include "core/model/sample.h"

namespace tallyfs::statistics {

template <typename T>
concept StatisticType = std::copyable<T> &&
    requires(T type, const T& read, std::span<const Sample> samples, std::string_view name,
             std::string& text, unsigned decimals, JsonWriter& json, ByteWriter& out,
             ByteReader& in) {
  // True when a counter reached the end of its type; it stays there.
  { type.add(samples) } -> std::same_as<bool>;
  // Lines that render() appends when nothing stops it. O(1).
  { read.lines() } -> std::same_as<std::uint64_t>;
  // No line is shorter than this behind its name.
  { T::kShortestLine } -> std::convertible_to<std::string_view>;
  // A copy of what its lines of the data file show, and of nothing else.
  read.snapshot();
  // How many bytes render() appends.
  { read.snapshot().text_length(name, decimals) } -> std::same_as<std::uint64_t>;
  // Appends its lines of the data file. Once. X has so many decimal places.
  { read.snapshot().render(name, text, decimals) } -> std::same_as<void>;
  // Writes the object `values` of data.json (docs/json.md).
  { read.write_values(json, decimals) } -> std::same_as<void>;
  { read.save(out) } -> std::same_as<void>;
  // Into a new one with the settings of the saved one. Fails the reader (ByteReader::fail())
  // on what save() never wrote.
  { type.load(in) } -> std::same_as<void>;
};

}  // namespace tallyfs::statistics
