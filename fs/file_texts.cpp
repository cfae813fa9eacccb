#include "fs/file_texts.h"

#include <algorithm>
#include <utility>

#include "fs/replies.h"

namespace tallyfs {
namespace {

constexpr std::size_t kShortTextBytes = 64 * 1024;

}  // namespace

// A text that is longer than most is rendered while another thread serves requests, and so is one
// that tells of all: it takes long even where it is short. Any failure but that of the length would
// come again, and a source that does not answer would be waited for again.
Result<std::string> FileTexts::render(NodeId node, const File& file,
                                      std::optional<std::uint64_t> version, std::size_t bytes_max,
                                      const CallContext& call) {
  if (version) {
    if (auto kept = kept_.take(node, *version, bytes_max)) return std::move(*kept);
  }
  if (!file.subject()) barrier_.promote_follower();
  const Observed* const seen = version ? file.observed() : nullptr;
  const auto render_up_to = [&](std::size_t most) {
    return seen ? seen->render_seen(call, most) : file.render(call, most);
  };
  auto text = render_up_to(std::min(bytes_max, kShortTextBytes));
  if (!is_too_long(text) || bytes_max <= kShortTextBytes) return text;
  barrier_.promote_follower();
  return render_up_to(bytes_max);
}

// A text that can be kept is rendered, since an open follows as a rule; a longer one is measured.
std::size_t FileTexts::length(NodeId node, const File& file, std::optional<std::uint64_t> version,
                              std::size_t bytes_max, const CallContext& call) {
  auto text = render(node, file, version, std::min(bytes_max, TextCache::kBytesMax), call);
  if (is_too_long(text) && bytes_max > TextCache::kBytesMax) {
    const CallContext late(clock_.now(), call.cancel);
    if (const Observed* const observed = file.observed()) {
      const auto measured = observed->text_length(late, bytes_max);
      return measured ? measured.value() : 0;
    }
    const auto long_text = file.render(late, bytes_max);
    return long_text ? long_text.value().size() : 0;
  }
  const std::size_t bytes = text ? text.value().size() : 0;
  if (text && version) kept_.keep(node, *version, std::move(text.value()));
  return bytes;
}

}  // namespace tallyfs
