// The last line of a kernel event's `format`, `print fmt: "comm=%s pid=%d", REC->comm, REC->pid`:
// the kernel's wording of a record in `trace`. The line is C; the part of C that nearly all events
// consist of is understood:
//   * fields and their elements, numbers, texts, casts, and the operators of C;
//   * the __get_...() and __print_...() that events have in common;
//   * the conversions d i u x X o c s, p, px, ps, pS and those of print_pointer.h.
// Values that only the kernel knows (its `jiffies`, where its pages lie) are shown as '?'. An event
// whose line has anything else (functions of the kernel, its structs) is shown as `field=value`.
//
// Immutable once compiled, so any thread may render. At most kTextBytesMax of text, kNodesMax
// operands and operators, kNestingMax within one another.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/symbols.h"
#include "core/tracing/format/format.h"
#include "core/tracing/format/program.h"
#include "core/tracing/print/pointer_hash.h"

namespace tallyfs::tracing {

class PrintFormat {
 public:
  static constexpr std::size_t kTextBytesMax = 32 * 1024;
  static constexpr std::size_t kNodesMax = 8192;
  static constexpr int kNestingMax = 128;

  // format_text: the whole `format` file, from which `format` was made. Nothing: the file has no
  // such line, or one that is not understood.
  static std::optional<PrintFormat> compile(std::string_view format_text,
                                            const EventFormat& format);

  // Appends the text without a newline. The record has the format's fixed bytes. pointers: how
  // those of `%p` are shown; nullptr: as they are.
  void append(std::string& out, const EventRecord& record, const Symbols& symbols,
              const PointerHash* pointers = nullptr) const;

 private:
  friend class PrintFormatParser;

  enum class Kind : std::uint8_t {
    kNumber,
    kText,
    kNumberField,
    kTextField,
    kUnary,   // op, left
    kBinary,  // op, left, right
    kChoice,  // left ? right : other
    kCast,    // left, to `bytes` bytes
    kSymbolic,
    kFlags,
    kUnknown,  // a name of the kernel's
    kBytesField,
    kLength,     // of left, in bytes
    kCharacter,  // `number` of the text left
    kArray,      // left; right elements of `other` bytes each
    kHexBytes,   // right bytes of left, with `text` between
    kBits,       // left, a bit mask
  };
  // The type of a node's result.
  enum class Sort : std::uint8_t { kNumber, kText, kBytes };
  enum class Operator : std::uint8_t {
    kNone,
    kOr,
    kAnd,
    kBitOr,
    kBitXor,
    kBitAnd,
    kEqual,
    kUnequal,
    kLess,
    kLessEqual,
    kGreater,
    kGreaterEqual,
    kShiftLeft,
    kShiftRight,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kRemainder,
    kNot,
    kComplement,
    kNegate,
  };
  struct Node {
    Kind kind = Kind::kNumber;
    Operator op = Operator::kNone;
    Sort sort = Sort::kNumber;
    bool is_signed = false;
    bool is_pointer = false;  // a field that gives the place of a text
    bool is_unknown = false;  // so is each operation on it
    std::uint32_t bytes = 8;
    std::uint64_t number = 0;
    std::string text;  // or the text between flags
    Op load;
    TextSource source;
    std::vector<std::pair<std::uint64_t, std::string>> names;
    std::unique_ptr<Node> left, right, other;
  };
  // A piece of text, and the conversion behind it.
  struct Part {
    std::string text;
    // 0: nothing, d, u, x, X, o, c, s, p, P: px, f and S: a symbol without and with its offset,
    // B: bytes
    char conversion = 0;
    std::string flags;         // "-0 +#" and a width and precision, as printf has them
    std::string_view pointed;  // of B: its pointer_kind()
    std::uint32_t bytes = 4;
    std::unique_ptr<Node> star;  // the argument for the '*' in flags
    std::unique_ptr<Node> value;
  };

  static std::uint64_t number_of(const Node& node, const EventRecord& record);
  static std::uint64_t apply(Operator op, std::uint64_t left, std::uint64_t right, bool is_signed);
  static std::string text_of(const Node& node, const EventRecord& record);
  static std::string_view bytes_of(const Node& node, const EventRecord& record);
  static std::string flags_of(const Part& part, const EventRecord& record);
  static void append_text(std::string& out, const Part& part, const EventRecord& record,
                          const Symbols& symbols);
  static void append_bytes(std::string& out, const Part& part, const EventRecord& record);
  static std::string symbolic(const Node& node, std::uint64_t value);
  static std::string flags(const Node& node, std::uint64_t value);
  static void append(std::string& out, const Part& part, const EventRecord& record,
                     const Symbols& symbols, const PointerHash* pointers);

  std::vector<Part> parts_;
};

}  // namespace tallyfs::tracing
