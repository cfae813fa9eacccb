// A mount as a source: files are read when they are asked for.
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <utility>

#include "tools/tree/source.h"
#include "tools/tree/statistics_json.h"
#include "tools/tree/timed_file.h"

namespace tallyfs {
namespace {

using std::chrono::microseconds;

microseconds monotonic_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::chrono::seconds(now.tv_sec) +
         std::chrono::floor<microseconds>(std::chrono::nanoseconds(now.tv_nsec));
}

void sleep_until(microseconds moment) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(moment);
  const timespec until{
      .tv_sec = static_cast<time_t>(seconds.count()),
      .tv_nsec = static_cast<long>(std::chrono::nanoseconds(moment - seconds).count())};
  // A signal that the program handles ends it early, so that `record` ends at once.
  ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
}

class MountedSource : public Source {
 public:
  explicit MountedSource(std::string mount) : mount_(std::move(mount)), moment_(monotonic_now()) {}

  Result<Json> tree() override {
    auto read = read_file("statistics.json");
    if (read || read.error().code != ErrorCode::kNotFound) return read;
    if (auto names = list_in_time(mount_); !names) return names.error();
    std::string reason(mount_);
    reason.append(" has no statistics.json: ");
    reason.append(is_mount_point() ? "it is no tallyfs, an older one, or one with --subtree, which "
                                     "serves tracing/... alone"
                                   : "nothing is mounted there");
    return Error{ErrorCode::kNotFound, std::move(reason)};
  }

  Result<Json> interface(const std::string& name) override {
    const bool is_path = name.find('/') != std::string::npos;
    return read_file((is_path ? name : "statistics/" + name) + "/data.json");
  }

  Result<Next> next(microseconds every) override {
    const microseconds now = monotonic_now();
    moment_ = std::max(moment_ + every, now - every);
    // Moments that are over already are missed, not made up for.
    while (moment_ <= now) moment_ += every;
    sleep_until(moment_);
    return Next::kMoment;
  }

  microseconds period() const override { return microseconds(0); }
  const std::string& mount() const override { return mount_; }

 private:
  // The root of a mount is of another device than the directory that it is in.
  bool is_mount_point() const {
    struct stat here {};
    struct stat above {};
    const std::string up = mount_ + "/..";
    return ::stat(mount_.c_str(), &here) == 0 && ::stat(up.c_str(), &above) == 0 &&
           here.st_dev != above.st_dev;
  }

  Result<Json> read_file(const std::string& name) const {
    const std::string path = mount_ + "/" + name;
    const auto text = read_in_time(path);
    if (!text) return text.error();
    auto json = parse_json(text.value());
    if (!json) return Error{json.error().code, path + ": " + json.error().reason};
    return json;
  }

  const std::string mount_;
  microseconds moment_;
};

}  // namespace

std::unique_ptr<Source> open_mount(std::string mount) {
  return std::make_unique<MountedSource>(std::move(mount));
}

Result<view::Tree> read_tree(Source& source) {
  const auto json = source.tree();
  if (!json) return json.error();
  return named_tree(json.value());
}

Result<view::Tree> named_tree(const Json& json) {
  auto tree = to_tree(json);
  if (!tree) return Error{tree.error().code, "statistics.json: " + tree.error().reason};
  return tree;
}

Result<view::Interface> read_interface(Source& source, const std::string& name) {
  const auto json = source.interface(name);
  if (!json) return json.error();
  auto read = to_interface(json.value());
  if (!read) return Error{read.error().code, name + "/data.json: " + read.error().reason};
  return read;
}

}  // namespace tallyfs
