// A file made of functions, for parts of the tree with many small files that share one object. The
// functions are called as File's own are: from several threads, without any lock of the tree held.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/call_context.h"
#include "core/tree/file.h"

namespace tallyfs {

class TextFile final : public File {
 public:
  struct Parts {
    // kNoSpace if it would be longer than bytes_max.
    std::function<Result<std::string>(const CallContext& call, std::size_t bytes_max)> render;
    std::function<Timestamp(Timestamp now)> last_change;
    // Each of these may be left out; then the file does what a File does by default.
    std::function<std::optional<std::uint64_t>(Timestamp now)> version = {};
    std::function<Result<void>(std::string_view line, const CallContext& call)> write_line = {};
    std::function<Result<void>(const CallContext& call)> truncate = {};
    std::function<Result<std::string>(Timestamp now, std::size_t bytes_max)> take = {};
    std::function<void(const CallContext& call)> opened = {};
    std::function<Result<std::shared_ptr<const void>>(Access access, Timestamp now)> hold = {};
    bool waits = false;
    WriteUnit write_unit = WriteUnit::kLine;
    std::shared_ptr<Stream> stream = {};  // of this file alone, and so is the marker
    std::shared_ptr<Marker> marker = {};
  };

  explicit TextFile(Parts parts) : parts_(std::move(parts)) {}

  Result<std::string> render(const CallContext& call, std::size_t bytes_max) const override {
    return parts_.render(call, bytes_max);
  }
  std::optional<std::uint64_t> version(Timestamp now) const override {
    return parts_.version ? parts_.version(now) : File::version(now);
  }
  std::optional<Result<std::string>> take(const CallContext& call, std::size_t bytes_max) override {
    return parts_.take ? parts_.take(call.now, bytes_max) : File::take(call, bytes_max);
  }
  Timestamp last_change(Timestamp now) const override { return parts_.last_change(now); }
  void opened(const CallContext& call) override {
    if (parts_.opened) parts_.opened(call);
  }
  Result<std::shared_ptr<const void>> hold(Access access, Timestamp now) const override {
    return parts_.hold ? parts_.hold(access, now) : File::hold(access, now);
  }
  bool waits() const override { return parts_.waits; }

  Stream* stream() override { return parts_.stream.get(); }
  WriteUnit write_unit() const override { return parts_.write_unit; }
  Marker* marker() override { return parts_.marker.get(); }
  Result<void> write_line(std::string_view line, const CallContext& call) override {
    return parts_.write_line ? parts_.write_line(line, call) : File::write_line(line, call);
  }
  Result<void> truncate(const CallContext& call) override {
    return parts_.truncate ? parts_.truncate(call) : File::truncate(call);
  }

 private:
  const Parts parts_;
};

}  // namespace tallyfs
