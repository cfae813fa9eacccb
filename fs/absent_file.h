// Stands in for a file that was open in the server before, while the tree of this one does not have
// it (HandleFile): as it was last, without a text, and it takes no writes.
//
// Thread-safe: immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/tree/file.h"

namespace tallyfs {

class AbsentFile final : public File, private Stream {
 public:
  // The last known facts about the file.
  struct Facts {
    Timestamp last_change;
    std::optional<std::uint64_t> news;  // of a stream: whether it had some
    bool is_stream = false;
    std::size_t page_bytes = 0;
    WriteUnit write_unit = WriteUnit::kLine;
  };

  explicit AbsentFile(Facts facts) : facts_(facts) {}

  Result<std::string> render(const CallContext&, std::size_t) const override { return absent(); }
  Timestamp last_change(Timestamp) const override { return facts_.last_change; }
  std::optional<std::uint64_t> news(Timestamp) const override { return facts_.news; }
  Stream* stream() override { return facts_.is_stream ? this : nullptr; }
  WriteUnit write_unit() const override { return facts_.write_unit; }
  Result<void> write_line(std::string_view, const CallContext&) override { return absent(); }
  Result<void> truncate(const CallContext&) override { return absent(); }

 private:
  std::string next(const CallContext&) override { return {}; }
  bool has_some(Timestamp) const override { return facts_.news.value_or(0) != 0; }
  bool is_over() const override { return true; }
  std::size_t page_bytes() const override { return facts_.page_bytes; }

  static Error absent() { return {ErrorCode::kStale, "it was removed meanwhile"}; }

  const Facts facts_;
};

}  // namespace tallyfs
