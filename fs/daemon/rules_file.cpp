#include "fs/daemon/rules_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/base/counted.h"
#include "core/base/fd.h"
#include "core/base/text.h"

namespace tallyfs {
namespace {

// Comments do not count among the bytes of rules.
constexpr std::size_t kFileBytesMax = 16 * statistics::Rules::kBytesBound;
// So much of a line stands in the log.
constexpr std::size_t kLineBytesShown = 256;
constexpr std::string_view kIndent = "  ";

Error unreadable(const std::string& path) {
  return {ErrorCode::kInvalid, path + " cannot be read: " + std::strerror(errno)};
}

}  // namespace

Result<std::string> read_rules(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return unreadable(path);
  std::string text(kFileBytesMax + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable(path);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > kFileBytesMax) {
    return Error{ErrorCode::kTooBig,
                 path + " is longer than " + std::to_string(kFileBytesMax) + " bytes"};
  }
  text.resize(size);
  return text;
}

std::string summary(const std::string& path, const statistics::Rules::Reading& reading,
                    RulesReading which) {
  std::string text = counted(std::to_string(reading.rules), "rule");
  text.append(" read from ").append(path);
  if (which == RulesReading::kOther) {
    text.append(", ").append(std::to_string(reading.added)).append(" new");
    text.append(", ").append(std::to_string(reading.gone)).append(" gone");
  }
  const std::string refused = counted(std::to_string(reading.refused.size()), "line");
  text.append(", ").append(refused).append(" refused");
  return text;
}

std::vector<std::string> describe(const std::string& path,
                                  const statistics::Rules::RefusedLine& refused) {
  std::string place(path);
  place.append(":")
      .append(std::to_string(refused.number))
      .append(": ")
      .append(refused.error.reason);
  std::string line(kIndent);
  const std::size_t at = refused.error.token_at == Error::kNoToken ? 0 : refused.error.token_at;
  const std::size_t column = append_escaped(line, refused.text, kLineBytesShown, at);
  std::string caret(kIndent.size() + column, ' ');
  caret.push_back('^');
  return {std::move(place), std::move(line), std::move(caret)};
}

}  // namespace tallyfs
