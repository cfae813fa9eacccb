// Where snapshots come from: a mount, or a recording of one. Both have moments, one after the
// other; of each they give the tree and single interfaces. Confined to one thread.
#pragma once

#include <chrono>
#include <istream>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "tools/display/statistic.h"
#include "tools/tree/json.h"

namespace tallyfs {

class Source {
 public:
  enum class Next { kMoment, kEnd };

  virtual ~Source() = default;

  // The present `statistics.json`, and the `data.json` of an interface, or of a path below the
  // mount such as `tracing/latency_hist/wakeup`. Errors are those of timed_file.h and
  // statistics_json.h; kNotFound: there is no such interface.
  virtual Result<Json> tree() = 0;
  virtual Result<Json> interface(const std::string& name) = 0;

  // Goes to the next moment. A mount waits until it is `every` after this one. A recording reads
  // on to the first one that is `every` later, or its last one; 0: the next one.
  virtual Result<Next> next(std::chrono::microseconds every) = 0;
  // The distance of a recording's moments; 0 for a mount, where next() sets it.
  virtual std::chrono::microseconds period() const = 0;
  // The mount point; empty for a recording.
  virtual const std::string& mount() const = 0;
};

std::unique_ptr<Source> open_mount(std::string mount);
// `path` "-": stdin. kInvalid: no recording.
Result<std::unique_ptr<Source>> open_recording(const std::string& path);
// The text of one; `path` is for reasons.
Result<std::unique_ptr<Source>> open_recording(const std::string& path,
                                               std::unique_ptr<std::istream> text);

// To values, with the place in the reason.
Result<view::Tree> read_tree(Source& source);
Result<view::Tree> named_tree(const Json& json);  // of a tree that was read
Result<view::Interface> read_interface(Source& source, const std::string& name);

}  // namespace tallyfs
