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
#include "core/base/result.h"
#include "tools/ctl/session.h"
#include "tools/past/compression.h"

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

  // From now on the file is one of zstd, which each moment leaves readable up to there.
  void pack() { packer_.emplace(); }
  // Writes what moved, and before the first moment the header. Errors of reading: what was written
  // is whole, and the next moment has the rest.
  Result<void> write_timestamp();
  // The end of a file of zstd.
  void end();
  // The status to exit with if the file cannot be written, which is printed then.
  const std::optional<int>& status() const { return status_; }
  // The next line would have been beyond size_max.
  bool is_full() const { return is_full_; }

 private:
  void write_header(const Json& tree);
  Result<void> write_moved();
  void write(std::string& line);
  void write_bytes(std::string_view bytes);
  bool ends() const { return status_ || is_full_ || is_interrupted_(); }

  Session& session_;
  const Fd file_;
  const std::uint64_t size_max_;
  const std::function<bool()> is_interrupted_;
  std::optional<past::StreamPacker> packer_;
  std::string lines_;  // of this moment, to be packed
  std::uint64_t size_ = 0;
  bool is_full_ = false;
  std::optional<int> status_;
  bool has_header_ = false;
  std::string epoch_;
  std::map<std::string, std::uint64_t> serials_;  // of what was written, in this epoch
};

}  // namespace tallyfs
