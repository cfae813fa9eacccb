#include "exporters/web/shared_reading.h"

#include <algorithm>

namespace tallyfs::web {

Result<std::string> SharedReading::get(const std::string& name, std::chrono::milliseconds fresh,
                                       const Make& make) {
  const MutexLock lock(reading_);
  const auto found = texts_.find(name);
  if (found != texts_.end() && Clock::now() - found->second.made_at < fresh) {
    return found->second.text;
  }
  auto text = make();
  if (!text) {
    texts_.erase(name);
    return text;
  }
  texts_[name] = {Clock::now(), text.value()};
  if (texts_.size() > kTextsMax) {
    texts_.erase(
        std::ranges::min_element(texts_, {}, [](const auto& each) { return each.second.made_at; }));
  }
  return text;
}

}  // namespace tallyfs::web
