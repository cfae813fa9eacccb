// events/SYS/EVENT/hist.json; its members are described in TRIGGERS.md.
#include <array>
#include <cstdio>

#include "core/base/text.h"
#include "core/event/hist/hist_copy.h"

namespace tallyfs {
namespace {

void append_string(std::string& out, std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  out.push_back('"');
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.append({'\\', c});
    } else if (byte < 0x20 || byte >= 0x7f) {
      // Bytes of unknown encoding, as the code points of Latin-1: nothing is lost.
      out.append({'\\', 'u', '0', '0', kDigits[byte >> 4], kDigits[byte & 15]});
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
}

void append_member(std::string& out, std::string_view name) {
  if (!out.ends_with('{')) out.push_back(',');
  append_string(out, name);
  out.push_back(':');
}

void append_member(std::string& out, std::string_view name, std::uint64_t value) {
  append_member(out, name);
  append_number(out, value);
}

}  // namespace

class HistJson {
 public:
  HistJson(const HistCopy::Table& table, const Symbols& symbols, std::string& out)
      : table_(table), plan_(*table.plan), symbols_(symbols), out_(out) {}

  void render(std::size_t bytes_max) {
    out_.push_back('{');
    append_member(out_, "system");
    append_string(out_, plan_.system);
    append_member(out_, "event");
    append_string(out_, plan_.event);
    append_member(out_, "trigger");
    const std::string line = table_.line.text();
    append_string(out_, std::string_view(line).substr(0, line.size() - 1));
    append_member(out_, "entries");
    out_.push_back('[');
    for (const std::uint32_t entry : table_.sorted()) {
      if (out_.size() > bytes_max) return;
      if (!out_.ends_with('[')) out_.push_back(',');
      print_entry(entry);
    }
    out_.push_back(']');
    append_member(out_, "hits", table_.hits);
    append_member(out_, "count", table_.entries);
    append_member(out_, "dropped", table_.dropped);
    append_member(out_, "expired", table_.expired);
    append_member(out_, "unmatched", table_.unmatched);
    out_.push_back('}');
  }

 private:
  void print_entry(std::uint32_t entry) {
    const std::uint64_t* const values = table_.values(entry);
    out_.append("{\"key\":{");
    for (const KeyPart& part : plan_.keys) {
      append_member(out_, part.value.name);
      print_key(part, table_.key(entry) + part.word);
    }
    out_.push_back('}');
    append_member(out_, "hitcount", values[kHitsWord]);
    for (const ValuePart& part : plan_.values) print_value(part, values);
    for (const Action& action : plan_.actions) print_action(action, values);
    if (plan_.comm_word != 0) {
      append_member(out_, "comm");
      append_string(out_, stored_text(values + plan_.comm_word, kCommWords));
    }
    out_.push_back('}');
  }

  void print_value(const ValuePart& part, const std::uint64_t* values) {
    const Display display = part.value.modifiers.display;
    const std::string& name = is_statistic(display) ? part.value.text : part.value.name;
    if (!has_decimals(display)) {
      append_member(out_, name);
      return append_whole(part.value, shown_value(part, values));
    }
    std::array<char, 64> digits;
    const int size =
        std::snprintf(digits.data(), digits.size(), "%.6g", shown_decimals(part, values));
    append_member(out_, name);
    out_.append(digits.data(), static_cast<std::size_t>(size));
  }

  void append_whole(const Expression& of, std::uint64_t value) {
    if (of.type.is_signed) return append_number(out_, static_cast<std::int64_t>(value));
    append_number(out_, value);
  }

  // A number is one, as it was counted; a text is one; a stack is an array of places.
  void print_key(const KeyPart& part, const std::uint64_t* words) {
    if (part.value.is_number()) return append_whole(part.value, *words);
    if (part.value.type.kind == ValueType::Kind::kText) {
      return append_string(out_, stored_text(words, part.words));
    }
    out_.push_back('[');
    for (std::uint32_t i = 0; i < part.words && words[i] != 0; ++i) {
      if (i > 0) out_.push_back(',');
      append_string(out_, place_text(symbols_, words[i], true));
    }
    out_.push_back(']');
  }

  void print_action(const Action& action, const std::uint64_t* values) {
    if (action.handler == Handler::kOnMatch || action.kind == ActionKind::kSnapshot) return;
    append_member(out_, action.handler == Handler::kOnMax ? "max" : "changed",
                  values[action.track_word]);
  }

  const HistCopy::Table& table_;
  const HistPlan& plan_;
  const Symbols& symbols_;
  std::string& out_;
};

std::string HistCopy::render_json(const Symbols& symbols, std::size_t bytes_max) const {
  std::string text = "[";
  for (const Table& table : tables_) {
    if (&table != &tables_.front()) text.push_back(',');
    HistJson(table, symbols, text).render(bytes_max);
  }
  return text.append("]\n");
}

}  // namespace tallyfs
