#include "core/exposition/format.h"

#include "core/exposition/protobuf_format.h"
#include "core/exposition/text_format.h"

namespace tallyfs {

std::unique_ptr<const Format> make_format(MetricsFormat format, ShowCreated created) {
  if (format == MetricsFormat::kProtobuf) return std::make_unique<ProtobufFormat>();
  return std::make_unique<TextFormat>(format, created);
}

}  // namespace tallyfs
