#include "core/statistics/exposition/format.h"

#include "core/statistics/exposition/protobuf_format.h"
#include "core/statistics/exposition/text_format.h"

namespace tallyfs::statistics {

std::unique_ptr<const Format> make_format(MetricsFormat format, const MetricsOptions& options) {
  if (format == MetricsFormat::kProtobuf) return std::make_unique<ProtobufFormat>();
  if (options.characters == NameCharacters::kUtf8) {
    return std::make_unique<Utf8TextFormat>(format, options.created);
  }
  return std::make_unique<TextFormat>(format, options.created);
}

}  // namespace tallyfs::statistics
