// Files that are followed, on real files, with a clock that the test moves.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "feeders/log/follow/born_later.h"
#include "feeders/log/follow/follower.h"
#include "tests/unit/temporary_directory.h"

namespace tallyfs::logs {

using namespace std::chrono_literals;

// More than is hashed of a file, 256 bytes.
inline constexpr const char* kLong =
    "2026-11-26 a line that has its time, as most logs have, so that no other one is like it\n"
    "2026-11-27 another one, which makes the file longer than what is hashed of it, 256 bytes\n"
    "2026-11-28 and a third one, so that these bytes are enough to tell one file from another\n"
    "2026-11-29 end\n";

class LogFollowTest : public testing::Test, public LineSink {
 protected:
  void take(std::string_view line, const LineOrigin& origin) override {
    said_ += std::string(line.substr(0, 20)) + ";";
    longest_ = std::max(longest_, line.size());
    if (origin.record) origin.record->store(origin.end);
  }
  void move(PositionRecord& record, std::uint64_t offset) override { record.store(offset); }
  void begin_again(PositionRecord& record, const CountedPart& before) override {
    record.begin_again(before);
  }
  void keep(PositionRecord& record, const Checkpoint& checkpoint, std::string_view head) override {
    if (record.offset() < checkpoint.offset) return;
    record.store(checkpoint);
    record.store_head(head);
  }
  bool confirm_all() override { return confirms_; }

  std::string path(const std::string& name) const { return directory_ / name.c_str(); }
  void append(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::app) << text;
  }
  // As logrotate's copytruncate.
  void copy_and_cut(const std::string& copy) const {
    std::filesystem::copy(path("log"), path(copy));
    std::filesystem::resize_file(path("log"), 0);
  }
  // The clock of births has ticks of some milliseconds.
  void wait_for_the_clock_of_births() const {
    const auto first = birth_of_a_new_file();
    while (birth_of_a_new_file() == first) {
    }
  }
  std::optional<std::chrono::nanoseconds> birth_of_a_new_file() const {
    const Fd fd(::open(path(".").c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    return birth_of(fd.get());
  }
  void follow(const std::string& names, From from = From::kEnd, Positions* positions = nullptr) {
    follower_.reset();
    if (!positions) positions = &memory_.emplace(Positions::in_memory());
    follower_ = std::make_unique<Follower>(
        Follower::Settings{{path(names)}, from}, *positions, *this, counts_,
        [this](Told told, const std::string& text) {
          reports_ += (told == Told::kLoss ? "lost: " : "") + text + "\n";
        });
    follower_->start(now_);
  }
  // Follows the file with positions, and ends after `meanwhile`.
  template <typename Meanwhile>
  void follow_for_a_while(const std::string& names, From from, Meanwhile meanwhile) {
    auto kept = positions();
    follow(names, from, &kept);
    meanwhile(kept);
    follower_.reset();
  }
  std::string read(std::chrono::milliseconds later = 2s) {
    now_ += later;  // a look at all files is due
    follower_->look(now_);
    while (follower_->read(now_)) {
    }
    return std::exchange(said_, {});
  }
  Positions positions(std::chrono::seconds boot = 0s) {
    auto opened = Positions::open(path("positions"), boot);
    EXPECT_TRUE(opened.has_value());
    return std::move(opened.value());
  }

  TemporaryDirectory directory_;
  FollowCounts counts_;
  std::string said_;
  std::string reports_;
  std::size_t longest_ = 0;
  std::chrono::nanoseconds now_ = 1h;
  bool confirms_ = true;
  std::optional<Positions> memory_;
  std::unique_ptr<Follower> follower_;
};

}  // namespace tallyfs::logs
