// The standard input, line by line. Confined to one thread.
#pragma once

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/line_splitter.h"
#include "feeders/log/follow/line_sink.h"

namespace tallyfs::logs {

class StandardInput {
 public:
  using Take = std::function<void(std::string_view line)>;
  // is_read: else it counts as ended. The counts must outlive it.
  StandardInput(bool is_read, FollowCounts& counts, Take take);

  // The end was not read yet.
  bool is_open() const { return is_open_; }
  // A read does not wait.
  bool is_ready() const;
  // Waits for some bytes unless it is ready. False: it has ended.
  bool read();

 private:
  void take(const NumberedLine& line);

  FollowCounts& counts_;
  const Take take_;
  LineSplitter lines_;
  std::vector<char> bytes_;
  bool is_open_;
};

}  // namespace tallyfs::logs
