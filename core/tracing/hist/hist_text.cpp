// events/SYS/EVENT/hist, as the kernel prints it.
#include <algorithm>
#include <array>
#include <cstdio>

#include "core/base/text.h"
#include "core/tracing/hist/hist_copy.h"
#include "core/tracing/hist/hist_group.h"

namespace tallyfs::tracing {
namespace {

// Numbers, padded on the left; texts, padded on the right.
void append_padded(std::string& out, std::uint64_t value, int width) {
  char digits[32];
  const int size =
      std::snprintf(digits, sizeof digits, "%*llu", width, static_cast<unsigned long long>(value));
  out.append(digits, static_cast<std::size_t>(size));
}

void append_hex_digits(std::string& out, std::uint64_t value, int width) {
  char digits[32];
  const int size =
      std::snprintf(digits, sizeof digits, "%*llx", width, static_cast<unsigned long long>(value));
  out.append(digits, static_cast<std::size_t>(size));
}

// Texts come from records of any sender: bytes that would control a terminal or begin a line are
// escaped.
void append_left(std::string& out, std::string_view text, std::size_t width) {
  const std::size_t before = out.size();
  append_escaped(out, text, 4 * text.size(), text.size());
  const std::size_t bytes = out.size() - before;
  if (bytes < width) out.append(width - bytes, ' ');
}

constexpr std::uint32_t kNoShare = ~std::uint32_t{0};

// In hundredths of a percent; kNoShare if the total is too small for that.
std::uint32_t share(std::uint64_t value, std::uint64_t total) {
  if (total == 0) return value == 0 ? 0 : kNoShare;
  if (value < ~std::uint64_t{0} / 10000) return static_cast<std::uint32_t>(value * 10000 / total);
  const std::uint64_t part = total / 10000;
  return part == 0 ? kNoShare : static_cast<std::uint32_t>(value / part);
}

}  // namespace

class HistText {
 public:
  HistText(const HistCopy::Table& table, const Symbols& symbols, std::string& out)
      : table_(table), plan_(*table.plan), symbols_(symbols), out_(out) {}

  void render(std::size_t bytes_max) {
    out_.append("# event histogram\n#\n# trigger info: ")
        .append(table_.line.text())
        .append("#\n\n");
    add_up();
    for (const std::uint32_t entry : table_.sorted()) {
      if (out_.size() > bytes_max) return;
      print_entry(entry);
    }
    print_snapshots();
    out_.append("\nTotals:\n    Hits: ");
    append_number(out_, table_.hits);
    out_.append("\n    Entries: ");
    append_number(out_, std::uint64_t{table_.entries});
    out_.append("\n    Dropped: ");
    append_number(out_, table_.dropped);
    out_.push_back('\n');
    if (plan_.expiry_ns != 0) print_total("Expired", table_.expired);
    const bool waits = !plan_.references.empty() && plan_.expiry_ns != 0;
    if (waits) print_total("Unmatched", table_.unmatched);
  }

 private:
  void print_total(std::string_view name, std::uint64_t value) {
    out_.append("    ").append(name).append(": ");
    append_number(out_, value);
    out_.push_back('\n');
  }

  // Whether the sum is below zero and so has no share in the total.
  static bool is_below_zero(const ValuePart& part, std::uint64_t sum) {
    return part.value.type.is_signed && static_cast<std::int64_t>(sum) < 0;
  }
  static std::uint32_t share_of(const ValuePart& part, std::uint64_t sum, std::uint64_t total) {
    return is_below_zero(part, sum) ? kNoShare : share(sum, total);
  }

  // Adds up the totals to which .percent and .graph relate.
  void add_up() {
    totals_.assign(plan_.values.size(), 0);
    largest_.assign(plan_.values.size(), 0);
    for (std::uint32_t entry = 0; entry < table_.entries; ++entry) {
      for (std::uint32_t i = 0; i < plan_.values.size(); ++i) {
        const Display display = plan_.values[i].value.modifiers.display;
        if (display != Display::kPercent && display != Display::kGraph) continue;
        const std::uint64_t value = table_.value(entry, i);
        if (is_below_zero(plan_.values[i], value)) continue;
        totals_[i] += value;
        largest_[i] = std::max(largest_[i], value);
      }
    }
  }

  void print_entry(std::uint32_t entry) {
    const std::uint64_t* const values = table_.values(entry);
    const auto* const comm = plan_.comm_word == 0 ? nullptr : values + plan_.comm_word;
    print_key(table_.key(entry), comm ? stored_text(comm, kCommWords) : std::string_view());
    if (!plan_.no_hitcount) print_number("hitcount", values[kHitsWord]);
    for (std::uint32_t i = 0; i < plan_.values.size(); ++i) {
      if (plan_.values[i].value.form == Expression::Form::kOperation) continue;
      out_.push_back(' ');
      print_value(i, values);
    }
    for (const Action& action : plan_.actions) print_action(action, values);
    out_.push_back('\n');
  }

  void print_number(std::string_view name, std::uint64_t value) {
    out_.append(" ").append(name).append(": ");
    append_padded(out_, value, 10);
  }

  void print_value(std::uint32_t index, const std::uint64_t* values) {
    const ValuePart& part = plan_.values[index];
    const Display display = part.value.modifiers.display;
    const std::string& name = part.value.name;
    if (has_decimals(display)) return print_decimals(part, values);
    const std::uint64_t value = shown_value(part, values);
    switch (display) {
      case Display::kPercent:
        return print_share(name, share_of(part, value, totals_[index]));
      case Display::kGraph:
        return print_graph(name, share_of(part, value, largest_[index]));
      case Display::kHex:
        out_.append(" ").append(name).append(": ");
        return append_hex_digits(out_, value, 10);
      default:
        if (!is_statistic(display)) return print_number(name, value);
        print_statistic(part, value);
    }
  }

  void print_statistic(const ValuePart& part, std::uint64_t value) {
    if (!is_below_zero(part, value)) return print_number(part.value.text, value);
    const std::string digits = std::to_string(static_cast<std::int64_t>(value));
    out_.append(" ").append(part.value.text).append(": ");
    out_.append(10 - std::min<std::size_t>(10, digits.size()), ' ').append(digits);
  }

  void print_decimals(const ValuePart& part, const std::uint64_t* values) {
    char digits[64];
    const int size = std::snprintf(digits, sizeof digits, "%10.3f", shown_decimals(part, values));
    out_.append(" ").append(part.value.text).append(": ");
    out_.append(digits, static_cast<std::size_t>(size));
  }

  void print_share(const std::string& name, std::uint32_t hundredths) {
    out_.append(" ").append(name).append(" (%):");
    if (hundredths == kNoShare) {
      out_.append("[ERROR]");
      return;
    }
    char digits[32];
    const int size =
        std::snprintf(digits, sizeof digits, " %3u.%02u", hundredths / 100, hundredths % 100);
    out_.append(digits, static_cast<std::size_t>(size));
  }

  void print_graph(const std::string& name, std::uint32_t hundredths) {
    constexpr std::size_t kColumns = 20;
    out_.append(" ").append(name).append(": ");
    if (hundredths == kNoShare) {
      out_.append("[ERROR]");
      return;
    }
    const std::size_t marks = std::min(kColumns, hundredths * kColumns / 10000);
    out_.append(marks, '#').append(kColumns - marks, ' ');
  }

  void print_key(const std::uint64_t* key, std::string_view comm) {
    out_.append("{ ");
    bool lines = false;
    for (const KeyPart& part : plan_.keys) {
      if (&part != &plan_.keys.front()) out_.append(", ");
      lines |= part.value.type.kind == ValueType::Kind::kStack;
      print_part(part, key + part.word, comm);
    }
    out_.append(lines ? "}" : " }");
  }

  void print_part(const KeyPart& part, const std::uint64_t* words, std::string_view comm) {
    const Expression& value = part.value;
    if (value.type.kind == ValueType::Kind::kStack) {
      const bool own = value.source.kind == TextSource::Kind::kStack;
      out_.append(own ? "common_stacktrace:\n" : value.name + ".stacktrace");
      return print_stack({words, part.words});
    }
    out_.append(value.name).append(": ");
    if (value.is_number()) return print_key_number(value, *words, comm);
    append_left(out_, stored_text(words, part.words), 50);
  }

  void print_key_number(const Expression& key, std::uint64_t value, std::string_view comm) {
    switch (key.modifiers.display) {
      case Display::kHex:
        return append_hex_digits(out_, value, 0);
      case Display::kSymbol:
      case Display::kSymbolOffset: {
        const bool is_plain = key.modifiers.display == Display::kSymbol;
        const auto offset = is_plain ? Offset::kHidden : Offset::kShown;
        out_.push_back('[');
        append_hex_digits(out_, value, 0);
        out_.append("] ");
        return append_left(out_, place_text(symbols_, value, offset), is_plain ? 45 : 55);
      }
      case Display::kExecname:
        append_left(out_, comm.empty() ? "<...>" : comm, 16);
        return print_bracketed(value, 10);
      case Display::kSyscall: {
        const std::string name = symbols_.syscall(value);
        append_left(out_, name.empty() ? "unknown_syscall" : name, 30);
        return print_bracketed(value, 3);
      }
      case Display::kLog2:
      case Display::kBuckets:
        return append_group(out_, key, value);
      default:
        append_padded(out_, value, 10);
    }
  }

  void print_bracketed(std::uint64_t value, int width) {
    out_.push_back('[');
    append_padded(out_, value, width);
    out_.push_back(']');
  }

  void print_stack(std::span<const std::uint64_t> frames) {
    for (const std::uint64_t frame : frames) {
      if (frame == 0) break;
      out_.append(9, ' ').append(place_text(symbols_, frame, Offset::kShown)).append("\n");
    }
  }

  void print_action(const Action& action, const std::uint64_t* values) {
    if (action.kind == ActionKind::kSnapshot || action.handler == Handler::kOnMatch) return;
    out_.append(action.handler == Handler::kOnMax ? "\n\tmax: " : "\n\tchanged: ");
    append_padded(out_, values[action.track_word], 10);
    if (action.kind == ActionKind::kTrace) return;
    for (const SavedField& saved : plan_.saved) print_saved(saved, values + saved.word);
  }

  void print_saved(const SavedField& saved, const std::uint64_t* words) {
    out_.append("  ").append(saved.value.name).append(": ");
    if (saved.value.is_number()) return append_padded(out_, *words, 10);
    const std::uint32_t count = (std::min(saved.value.type.size, kTextBytesMax) + 7) / 8;
    if (saved.value.type.kind == ValueType::Kind::kText) {
      return append_left(out_, stored_text(words, count), 32);
    }
    out_.push_back('\n');
    print_stack({words, count});
  }

  void print_snapshots() {
    for (const Action& action : plan_.actions) {
      if (action.kind != ActionKind::kSnapshot || !table_.snapshots[action.snapshot].taken)
        continue;
      const HistTable::Snapshot& snapshot = table_.snapshots[action.snapshot];
      out_.append("\nSnapshot taken (see tracing/snapshot).  Details:\n\ttriggering value { ");
      out_.append(action.handler == Handler::kOnMax ? "onmax(" : "onchange(");
      out_.append(action.tracked_name).append(") }: ");
      append_padded(out_, snapshot.value, 10);
      out_.append("\ttriggered by event with key: ");
      print_key(snapshot.key.data(), snapshot.comm);
      out_.push_back('\n');
    }
  }

  const HistCopy::Table& table_;
  const HistPlan& plan_;
  const Symbols& symbols_;
  std::string& out_;
  std::vector<std::uint64_t> totals_, largest_;
};

std::string HistCopy::render(const Symbols& symbols, std::size_t bytes_max) const {
  std::string text;
  for (const Table& table : tables_) {
    if (&table != &tables_.front()) text.append("\n\n");
    HistText(table, symbols, text).render(bytes_max);
  }
  return text;
}

}  // namespace tallyfs::tracing
