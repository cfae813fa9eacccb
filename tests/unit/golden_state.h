// Files of state as releases have written them, tests/golden/state/NAME.hex: 32 bytes a line. With
// TALLY_WRITE_GOLDEN in the environment, a test writes them instead: for a new format, beside those
// of the formats before it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "core/branch/state.h"
#include "tests/unit/saved_objects.h"

namespace tallyfs::golden {

inline std::string path_of(const std::string& name) {
  return std::string(TALLY_SOURCE_DIR).append("/tests/golden/state/").append(name);
}

inline std::string read(const std::string& name) {
  std::ifstream in(path_of(name), std::ios::binary);
  EXPECT_TRUE(in) << path_of(name);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
    if (i % 32 == 31 || i + 1 == bytes.size()) text.push_back('\n');
  }
  return text;
}

inline std::string from_hex(std::string_view text) {
  std::string bytes;
  unsigned high = 16;
  for (const char digit : text) {
    if (digit == '\n') continue;
    const unsigned value = static_cast<unsigned>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
    if (high < 16) bytes.push_back(static_cast<char>(high << 4 | value));
    high = high < 16 ? 16 : value;
  }
  return bytes;
}

// The text is that of the file.
inline void expect_same(const std::string& name, const std::string& text) {
  if (std::getenv("TALLY_WRITE_GOLDEN")) {
    std::ofstream(path_of(name), std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(text, read(name)) << name << ": is it another format, with another number?";
}

// All that the branch saves, as a file.
inline std::string file_of(Branch& branch, Timestamp now) {
  std::string file;
  Branch* const branches[] = {&branch};
  const auto saved = save_state({.boot = {1}, .saved = now}, branches, [&](std::string_view bytes) {
    file.append(bytes);
    return Result<void>();
  });
  EXPECT_TRUE(saved);
  return file;
}

// Objects that a server leaves to the next one, as a file.
inline std::string file_of(const SavedObjects& objects, Timestamp now) {
  std::string file;
  const auto put = [&](ObjectSink& sink) {
    for (std::size_t i = 0; i < objects.size(); ++i) sink.put(objects.at(i));
  };
  EXPECT_TRUE(save_objects({.boot = {1}, .saved = now}, put, [&](std::string_view bytes) {
    file.append(bytes);
    return Result<void>();
  }));
  return file;
}
inline SavedObjects objects_of(const std::string& bytes) {
  SavedObjects objects;
  const auto file = read_state(bytes);
  EXPECT_TRUE(file && file.value().is_whole());
  for (const SavedObject& each : file.value().objects) objects.put(each);
  return objects;
}

// What a server leaves, as it was kept in the file: the same.
inline SavedObjects kept_as(const std::string& name, const SavedObjects& objects,
                            Timestamp now = {}) {
  expect_same(name, to_hex(file_of(objects, now)));
  return objects_of(from_hex(read(name)));
}

// The same for the contents of one object.
inline std::string kept_contents(const std::string& name, SavedKind kind, std::string_view bytes) {
  SavedObjects left;
  left.put(saved_object(kind, transfer_format(kind), name_of(kind), bytes));
  const SavedObjects kept = kept_as(name, left);
  return kept.size() == 1 ? std::string(kept.at(0).bytes) : std::string();
}

// Loads a file into a branch that is empty; all of it must be loaded.
inline void load_file(const std::string& bytes, Branch& branch, Timestamp now) {
  const auto file = read_state(bytes);
  ASSERT_TRUE(file) << file.error().reason;
  Branch* const branches[] = {&branch};
  const LoadedState loaded = load_state(file.value(), branches, {1}, now);
  EXPECT_TRUE(loaded.faults.empty()) << loaded.faults.front();
}

}  // namespace tallyfs::golden
