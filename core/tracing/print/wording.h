// The kernel's wording of an event's records: its print format, compiled by the first text that
// needs it. That takes long for some events. Texts are made outside of all locks, so this is, too.
//
// Thread-safe. A thread that needs it while another one compiles it waits.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "core/tracing/format/format.h"
#include "core/tracing/print/print_format.h"

namespace tallyfs::tracing {

class Wording {
 public:
  // As PrintFormat::compile(). Both are shared with the event.
  Wording(std::shared_ptr<const EventFormat> format, std::shared_ptr<const std::string> format_text)
      : format_(std::move(format)), format_text_(std::move(format_text)) {}

  // nullptr: it has none that is understood.
  const PrintFormat* get() const {
    if (!is_known_.load(std::memory_order_acquire)) std::call_once(once_, [this] { compile(); });
    return compiled_ ? &*compiled_ : nullptr;
  }

 private:
  void compile() const {
    compiled_ = PrintFormat::compile(*format_text_, *format_);
    is_known_.store(true, std::memory_order_release);
  }

  const std::shared_ptr<const EventFormat> format_;
  const std::shared_ptr<const std::string> format_text_;
  mutable std::once_flag once_;
  mutable std::atomic<bool> is_known_{false};  // compiled_ does not change any more
  mutable std::optional<PrintFormat> compiled_;
};

}  // namespace tallyfs::tracing
