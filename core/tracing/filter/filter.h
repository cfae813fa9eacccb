// The filter language: `pid == 7 && (comm ~ "kwork*" || !(prio < 100))` (TRIGGERS.md). A filter is
// compiled once into a row of comparisons with jumps. A record goes through it without recursion,
// calls through pointers, or allocation. A field with a CPU's number or with a mask of CPUs can be
// compared with a list of CPUs: `target_cpu & CPUS{0-3,8}`.
//
// Immutable once compiled. Bounds: kTermsMax comparisons, kNestingMax parentheses, kOperandMax
// bytes of a text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tracing/command/faults.h"
#include "core/tracing/format/cpu_set.h"
#include "core/tracing/format/format.h"
#include "core/tracing/format/program.h"

namespace tallyfs::tracing {

class Filter {
 public:
  static constexpr std::size_t kTermsMax = 1024;
  static constexpr int kNestingMax = 64;
  static constexpr std::size_t kOperandMax = 256;

  // A fault has its byte offset in the text: the kernel shows both in the filter file.
  static Checked<Filter> compile(std::string_view text, const EventFormat& format);

  // Whether the filter needs the comm of the record's task, which no field contains.
  bool uses_comm() const;
  bool matches(const EventRecord& record) const {
    std::uint32_t at = start_;
    while (at < kFalse) {
      const Term& term = terms_[at];
      at = holds(term, record) ? term.if_true : term.if_false;
    }
    return at == kTrue;
  }

 private:
  friend class FilterParser;
  enum class Compare : std::uint8_t {
    kEqual,
    kUnequal,
    kLess,
    kLessEqual,
    kGreater,
    kGreaterEqual,
    kAnd,  // of numbers
    kTextEqual,
    kTextUnequal,
    kGlob,
    kNotGlob,
    kCpusMeet,  // of a CPU number or a mask, and a list: they have a CPU in common
    kCpusEqual,
    kCpusUnequal,
  };
  static constexpr std::uint32_t kFalse = 0xfffffffe, kTrue = 0xffffffff;

  struct Term {
    Compare compare = Compare::kEqual;
    bool is_signed = false;
    Op load;  // of a number
    std::uint64_t number = 0;
    TextSource source;  // of a text or a mask
    std::string text;
    bool is_mask = false;
    std::optional<CpuSet> cpus = {};
    std::uint32_t if_true = kTrue, if_false = kFalse;
  };

  static bool holds(const Term& term, const EventRecord& record);
  static bool number_holds(const Term& term, std::uint64_t value);
  static bool text_holds(const Term& term, std::string_view text);
  static bool cpus_hold(const Term& term, const EventRecord& record);

  std::vector<Term> terms_;
  std::uint32_t start_ = kTrue;
};

// Shell patterns: * ? [a-z] [!a-z], and a backslash before what stands for itself.
bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace tallyfs::tracing
