#include "feeders/client/name_with_labels.h"

#include "core/base/encoded_name.h"
#include "core/base/labels.h"
#include "core/base/text.h"

namespace tallyfs {

Result<std::string> name_with_labels(std::string_view family, std::span<const GivenLabel> labels) {
  if (!is_name(family) || family.find_first_of("{}") != family.npos) {
    return invalid("the name before labels must be a statistic's name without { and }");
  }
  std::string typed(family);
  for (const GivenLabel& label : labels) {
    typed.push_back(&label == labels.data() ? '{' : ',');
    std::string key;
    append_encoded(key, label.key);
    // It would end the key.
    for (std::size_t at = 0; (at = key.find(':', at)) != key.npos;) key.replace(at, 1, "%3A");
    typed.append(key).push_back(':');
    append_encoded(typed, label.value);
  }
  if (!labels.empty()) typed.push_back('}');
  return stored_name(typed);
}

}  // namespace tallyfs
