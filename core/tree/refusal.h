// A line that was refused, or taken with a warning, as it came: what is shown of it is made when it
// is read. A flood of such lines is kept line by line, and read seldom. A plain value; assigned to
// another one, it uses the memory that the other has.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/result.h"

namespace tallyfs {

struct Refusal {
  enum class Door : std::uint8_t { kMount, kSocket };

  // More is not shown of a line.
  static constexpr std::size_t kTextBytes = 256;

  // `line` is what was wrong, in `where`: "statistics/web", or empty, and then in a datagram of
  // `process`. Their first bytes are kept.
  struct Place {
    std::string_view where{};
    std::string_view line{};
    pid_t process = 0;
  };
  void set(const Place& place, std::string_view its_reason, std::size_t its_token_at);
  // The same with the place that the error has of its own.
  void set(const Place& place, const Error& error);

  Door door = Door::kMount;
  uid_t uid = 0;  // of the writer or sender; of what the daemon reports itself 0
  bool is_warning = false;
  Timestamp time;

  const std::string& reason() const { return reason_; }
  // Escaped and bounded, so that no text forges an entry. Quotations in a reason are so already.
  struct Shown {
    std::string where;
    std::string text;
    std::size_t column = 0;  // of the token that was wrong, in code points of `text`
  };
  Shown shown() const;

 private:
  std::string where_;
  pid_t process_ = 0;
  std::string reason_;
  std::string text_;
  std::size_t token_at_ = 0;  // in text_, or as far after its end as the caret is
};

}  // namespace tallyfs
