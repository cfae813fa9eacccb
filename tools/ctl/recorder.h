// Writes snapshots of a mount as JSON Lines, for --from: the first line is statistics.json with our
// version, the others are data.json of interfaces whose serial moved. A line is whole or not there.
// Confined to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/base/fd.h"
#include "tools/ctl/session.h"

namespace tallyfs {

class Recorder {
 public:
  static constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 30;

  // is_interrupted: asked after each line; the moment at hand ends there.
  Recorder(
      Session& session, Fd file, std::uint64_t size_max = kBytesMax,
      std::function<bool()> is_interrupted = [] { return false; })
      : session_(session),
        file_(std::move(file)),
        size_max_(size_max),
        is_interrupted_(std::move(is_interrupted)) {}

  // Each returns a status if the command ends with it: what was wrong is printed then.
  std::optional<int> write_header();
  std::optional<int> write_moment();
  // The next line would have been beyond size_max.
  bool is_full() const { return is_full_; }

 private:
  std::optional<int> write(std::string& line);

  Session& session_;
  const Fd file_;
  const std::uint64_t size_max_;
  const std::function<bool()> is_interrupted_;
  std::uint64_t size_ = 0;
  bool is_full_ = false;
  std::map<std::string, std::uint64_t> serials_;
};

}  // namespace tallyfs
