// A file that was open in the server before, and that is not in the tree of this one: its name was
// removed, or its feeder has yet to enter it again. Once the tree has the number of its node, it is
// what stands there. Until then it is as it was, and takes no writes.
//
// Thread-safe: immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/tree/file.h"
#include "core/tree/tree.h"

namespace tallyfs {

class AbsentFile final : public File {
 public:
  // As they were last.
  struct Facts {
    Moment last_change;
    std::optional<std::uint64_t> news;
    bool has_priority_news = false;
    bool is_stream = false;
    std::size_t page_bytes = 0;
    WriteUnit write_unit = WriteUnit::kLine;
  };

  // The tree outlives it.
  AbsentFile(const Tree& tree, NodeId node, Facts facts)
      : tree_(tree), node_(node), facts_(facts) {}

  Result<std::string> render(const CallContext& call, std::size_t bytes_max) const override;
  Result<std::size_t> text_length(const CallContext& call, std::size_t bytes_max) const override;
  std::optional<std::uint64_t> version(Moment now) const override;
  Result<std::string> render_seen(const CallContext& call, std::size_t bytes_max) const override;
  std::optional<Result<std::string>> take(const CallContext& call, std::size_t bytes_max) override;
  Moment last_change(Moment now) const override;
  FileState look(Moment now) const override;
  void opened(const CallContext& call) override;
  // While it is not there, it holds the directory of its path that is, see Directory::hold();
  // then itself, see Operations::hold_returned().
  Result<std::shared_ptr<const void>> hold(Access access, Moment now) const override;
  bool waits() const override;
  std::optional<std::uint64_t> news(Moment now) const override;
  bool has_priority_news() const override { return facts_.has_priority_news; }
  bool is_stream() const override { return facts_.is_stream; }
  std::string next(const CallContext& call) override;
  std::size_t page_bytes() const override { return facts_.page_bytes; }
  bool is_over() const override;
  WriteUnit write_unit() const override { return facts_.write_unit; }
  std::size_t write_bytes_max() const override;
  Result<void> write_line(std::string_view line, const CallContext& call) override;
  void note_refused_line() override;
  std::optional<Error> remark(std::string_view line) const override;
  Result<void> write_by(pid_t writer, std::string_view text, const CallContext& call) override;
  Result<void> truncate(const CallContext& call) override;

 private:
  // Nullptr: it is not there.
  std::shared_ptr<File> present() const;
  // The nearest one above it that holds something.
  std::shared_ptr<const void> hold_directory() const;

  const Tree& tree_;
  const NodeId node_;
  const Facts facts_;
};

}  // namespace tallyfs
