// events/SYS/EVENT/hist.json; its members are described in TRIGGERS.md.
#include <string>
#include <utility>

#include "core/base/json.h"
#include "core/tracing/hist/hist_copy.h"

namespace tallyfs::tracing {

class HistJson {
 public:
  HistJson(const HistCopy::Table& table, const Symbols& symbols, const HistCopy::Shown& shown,
           JsonWriter& json)
      : table_(table), plan_(*table.plan), symbols_(symbols), shown_(shown), json_(json) {}

  // Stops once the text is too long.
  void render() {
    json_.begin_object();
    json_.key("system").string(plan_.system).key("event").string(plan_.event);
    const std::string line = table_.line.text();
    json_.key("trigger").string(std::string_view(line).substr(0, line.size() - 1));
    print_modifiers();
    print_grouping();
    json_.key("entries").begin_array();
    for (const std::uint32_t entry : table_.sorted()) {
      if (json_.is_too_long()) return;
      print_entry(entry);
    }
    json_.end_array();
    json_.key("hits").number(table_.hits).key("count").number(table_.entries);
    json_.key("dropped").number(table_.dropped).key("expired").number(table_.expired);
    json_.key("unmatched").number(table_.unmatched);
    json_.key("time_us").microseconds(shown_.now.monotonic).key("serial").number(shown_.serial);
    json_.end_object();
  }

 private:
  static constexpr int kDecimals = 3;  // as `hist` shows them

  // `"modifiers":{"lat":"log2=3"}`: how the keys are grouped and shown.
  void print_modifiers() {
    json_.key("modifiers").begin_object();
    for (const KeyPart& part : plan_.keys) {
      const std::string modifiers = part.value.modifiers.text();
      if (!modifiers.empty()) json_.key(part.value.name).string(modifiers.substr(1));
    }
    json_.end_object();
  }

  // `"keys":[{"field":"lat","modifier":"log2","size":3}]`; null for what a key has not.
  void print_grouping() {
    json_.key("keys").begin_array();
    for (const KeyPart& part : plan_.keys) {
      const Modifiers& modifiers = part.value.modifiers;
      const std::string_view name = modifiers.name();
      json_.begin_object().key("field").string(part.value.name).key("modifier");
      name.empty() ? json_.null() : json_.string(name);
      json_.key("size");
      modifiers.parameter == 0 ? json_.null() : json_.number(modifiers.parameter);
      json_.end_object();
    }
    json_.end_array();
  }

  void print_entry(std::uint32_t entry) {
    const std::uint64_t* const values = table_.values(entry);
    json_.begin_object().key("key").begin_object();
    for (const KeyPart& part : plan_.keys) {
      json_.key(part.value.name);
      print_key(part, table_.key(entry) + part.word);
    }
    json_.end_object();
    print_names(entry);
    json_.key("hitcount").number(values[kHitsWord]);
    for (const ValuePart& part : plan_.values) print_value(part, values);
    for (const Action& action : plan_.actions) print_action(action, values);
    if (plan_.comm_word != 0) {
      json_.key("comm").string(stored_text(values + plan_.comm_word, kCommWords));
    }
    json_.end_object();
  }

  // `"names":{"id":"sys_read"}`: of keys that are numbers of system calls, or addresses, those that
  // have a name that is known.
  void print_names(std::uint32_t entry) {
    bool is_first = true;
    for (const KeyPart& part : plan_.keys) {
      const std::string name = name_of(part, table_.key(entry) + part.word);
      if (name.empty()) continue;
      if (std::exchange(is_first, false)) json_.key("names").begin_object();
      json_.key(part.value.name).string(name);
    }
    if (!is_first) json_.end_object();
  }

  std::string name_of(const KeyPart& part, const std::uint64_t* words) {
    const Display display = part.value.modifiers.display;
    if (display == Display::kSyscall) return symbols_.syscall(*words);
    const bool is_plain = display == Display::kSymbol;
    if (!is_plain && display != Display::kSymbolOffset) return {};
    const std::string name =
        place_text(symbols_, *words, is_plain ? Offset::kHidden : Offset::kShown);
    return name.starts_with("0x") ? std::string() : name;  // an address is its number
  }

  void print_value(const ValuePart& part, const std::uint64_t* values) {
    const Display display = part.value.modifiers.display;
    json_.key(is_statistic(display) ? part.value.text : part.value.name);
    if (has_decimals(display)) {
      json_.decimals(shown_decimals(part, values), kDecimals);
    } else {
      print_whole(part.value, shown_value(part, values));
    }
  }

  void print_whole(const Expression& of, std::uint64_t value) {
    of.type.is_signed ? json_.number(static_cast<std::int64_t>(value)) : json_.number(value);
  }

  // A number is printed as it was counted, a text as a string, a stack as an array of places.
  void print_key(const KeyPart& part, const std::uint64_t* words) {
    if (part.value.is_number()) return print_whole(part.value, *words);
    if (part.value.type.kind == ValueType::Kind::kText) {
      json_.string(stored_text(words, part.words));
      return;
    }
    json_.begin_array();
    for (std::uint32_t i = 0; i < part.words && words[i] != 0; ++i) {
      json_.string(place_text(symbols_, words[i], Offset::kShown));
    }
    json_.end_array();
  }

  void print_action(const Action& action, const std::uint64_t* values) {
    if (action.handler == Handler::kOnMatch || action.kind == ActionKind::kSnapshot) return;
    json_.key(action.handler == Handler::kOnMax ? "max" : "changed");
    json_.number(values[action.track_word]);
  }

  const HistCopy::Table& table_;
  const HistPlan& plan_;
  const Symbols& symbols_;
  const HistCopy::Shown& shown_;
  JsonWriter& json_;
};

// Texts of records are bytes of unknown encoding.
std::string HistCopy::render_json(const Symbols& symbols, const Shown& shown,
                                  std::size_t bytes_max) const {
  std::string text;
  JsonWriter json(text, JsonWriter::Encoding::kUnknown, bytes_max);
  json.begin_array();
  for (const Table& table : tables_) HistJson(table, symbols, shown, json).render();
  json.end_array();
  return text.append("\n");
}

}  // namespace tallyfs::tracing
