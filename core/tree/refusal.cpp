#include "core/tree/refusal.h"

#include <algorithm>

#include "core/base/text.h"

namespace tallyfs {
namespace {

constexpr std::size_t kReasonBytes = 1024;
constexpr std::size_t kWhereBytes = Refusal::kTextBytes + kNameBytesMax;
// The caret for a missing word is at most so many columns after the end of the text.
constexpr std::size_t kBehindMax = 2;

}  // namespace

void Refusal::set(const Place& place, std::string_view its_reason, std::size_t its_token_at) {
  where_.assign(place.where.substr(0, kWhereBytes));
  process_ = place.process;
  reason_.assign(its_reason.substr(0, kReasonBytes));
  const std::string_view line = place.line;
  // No byte becomes less than a byte: what follows the first kTextBytes would not be shown.
  text_.assign(line.substr(0, kTextBytes));
  const std::size_t at = its_token_at == Error::kNoToken ? 0 : its_token_at;
  token_at_ = at < line.size() ? std::min(at, kTextBytes - 1)
                               : text_.size() + std::min(at - line.size(), kBehindMax);
}

void Refusal::set(const Place& place, const Error& error) {
  set({.where = error.location.empty() ? place.where : std::string_view(error.location),
       .line = error.text.empty() ? place.line : std::string_view(error.text),
       .process = place.process},
      error.reason, error.token_at);
}

Refusal::Shown Refusal::shown() const {
  Shown made;
  if (where_.empty() && door == Door::kSocket) {
    made.where = "socket pid " + std::to_string(process_) + " uid " + std::to_string(uid);
  } else {
    append_escaped(made.where, where_, kWhereBytes, 0);
  }
  made.column = append_escaped(made.text, text_, kTextBytes, token_at_);
  made.column += token_at_ - std::min(token_at_, text_.size());
  return made;
}

}  // namespace tallyfs
