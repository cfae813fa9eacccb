#include "core/tracing/command/trigger_line.h"

#include "core/base/text.h"

namespace tallyfs::tracing {

bool has_target(TriggerKind kind) {
  return kind == TriggerKind::kEnableEvent || kind == TriggerKind::kDisableEvent ||
         kind == TriggerKind::kEnableHist || kind == TriggerKind::kDisableHist;
}

std::string TriggerLine::text() const {
  std::string text(name_of(kind));
  if (kind == TriggerKind::kHist) {
    text.append(":");
    if (!name.empty()) text.append(name).append(":");
    text.append(*hist_text);
  } else {
    if (has_target(kind)) text.append(":").append(target_name);
    text.append(left == kUnlimited ? ":unlimited" : ":count=");
    if (left != kUnlimited) append_number(text, left);
  }
  if (!filter_text.empty()) text.append(" if ").append(filter_text);
  if (kind == TriggerKind::kHist) text.append(paused ? " [paused]" : " [active]");
  return text.append("\n");
}

}  // namespace tallyfs::tracing
