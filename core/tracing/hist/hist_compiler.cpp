#include "core/tracing/hist/hist_compiler.h"

#include <algorithm>
#include <span>

#include "core/base/text.h"

namespace tallyfs::tracing {
namespace {

// Calls do_each with each part between commas, until do_each returns a fault.
template <typename Each>
Checked<void> for_each_listed(std::string_view text, const Each& do_each) {
  const std::string_view all = text;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    if (trimmed(one).empty()) return wrong(fault::kMalformedExpression, all);
    if (const auto done = do_each(one); !done) return done.error();
  }
  return {};
}

std::uint32_t words_of(const ValueType& type) {
  if (type.kind == ValueType::Kind::kNumber) return 1;
  return (std::min(type.size, kTextBytesMax) + 7) / 8;
}

bool is_refused_in_values(Display display) {
  return display == Display::kLog2 || display == Display::kBuckets || display == Display::kSymbol ||
         display == Display::kSymbolOffset || display == Display::kSyscall ||
         display == Display::kStack;
}

void append_part(std::string& out, std::string_view part) {
  if (!out.empty()) out.push_back(',');
  out.append(part);
}

SwitchSide side_of(const std::vector<KeyPart>& keys) {
  const auto any = [&](std::initializer_list<std::string_view> beginnings) {
    return std::ranges::any_of(keys, [&](const KeyPart& key) {
      return std::ranges::any_of(
          beginnings, [&](std::string_view each) { return key.value.name.starts_with(each); });
    });
  };
  const bool is_next = any({"next_"});
  const bool is_previous =
      any({"prev_", "common_pid", "common_comm", "common_stacktrace", "stacktrace"});
  if (is_next == is_previous) return SwitchSide::kNone;
  return is_next ? SwitchSide::kNext : SwitchSide::kPrevious;
}

}  // namespace

bool keys_compatible(const HistPlan& a, const HistPlan& b) {
  return std::ranges::equal(a.keys, b.keys, [](const KeyPart& left, const KeyPart& right) {
    return left.value.type.kind == right.value.type.kind;
  });
}

HistCompiler::HistCompiler(const HistCommand& command, std::string_view system,
                           const EventFormat& format, HistCatalog& catalog, Purpose purpose)
    : command_(command),
      catalog_(catalog),
      purpose_(purpose),
      parser_(system, format, *this),
      plan_(std::make_shared<HistPlan>()) {
  plan_->system = system;
  plan_->event = format.name;
  plan_->limit = command.limit;
  plan_->no_hitcount = command.no_hitcount;
}

std::optional<std::string_view> HistCompiler::own(std::string_view name) const {
  const auto at = std::ranges::find(command_.variables, name, &HistCommand::Variable::name);
  if (at == command_.variables.end()) return std::nullopt;
  return at->expression;
}

std::optional<std::uint32_t> HistCompiler::own_index(std::string_view name) const {
  const auto at = std::ranges::find(command_.variables, name, &HistCommand::Variable::name);
  if (at == command_.variables.end()) return std::nullopt;
  return static_cast<std::uint32_t>(at - command_.variables.begin());
}

// Looks for the variable in the event that is named, else in those that onmatch names, else in all.
Checked<HistCatalog::Variable> HistCompiler::find_other(std::string_view system,
                                                        std::string_view event,
                                                        std::string_view name) const {
  std::vector<HistCatalog::Variable> found;
  if (!system.empty()) {
    found = catalog_.variables(system, event, name);
    if (found.empty()) return wrong(fault::kVariableNotFound, name);
    return found.front();
  }
  for (const ActionCommand& action : command_.actions) {
    if (action.handler != Handler::kOnMatch) continue;
    for (const auto& each : catalog_.variables(action.system(), action.event(), name)) {
      if (found.empty() || found.front().table != each.table) found.push_back(each);
    }
  }
  if (found.empty()) found = catalog_.variables({}, {}, name);
  if (found.empty()) return wrong(fault::kVariableNotFound, name);
  const auto same = [&](const HistCatalog::Variable& each) {
    return each.table == found.front().table;
  };
  if (!std::ranges::all_of(found, same)) return wrong(fault::kVariableNotUnique, name);
  return found.front();
}

Checked<VariableScope::Found> HistCompiler::other(std::string_view system, std::string_view event,
                                                  std::string_view name, Use use) {
  const auto found = find_other(system, event, name);
  if (!found) return found.error();
  const auto at = refer(found.value(), use);
  if (!at) return at.error();
  const VariablePart& variable = found.value().plan->variables[found.value().index];
  return Found{variable.value.type, variable.value.in_usecs, at.value()};
}

Checked<std::uint32_t> HistCompiler::refer(const HistCatalog::Variable& variable, Use use) {
  std::vector<Reference>& all = plan_->references;
  auto at = std::ranges::find_if(all, [&](const Reference& reference) {
    return reference.table == variable.table && reference.variable == variable.index;
  });
  if (at == all.end()) {
    if (all.size() + HistPlan::kFirstReference == HistUpdate::kReferencesMax) {
      return wrong(fault::kTooManyVariables);
    }
    const VariablePart& part = variable.plan->variables[variable.index];
    all.push_back({.table = variable.table,
                   .variable = variable.index,
                   .word = part.word,
                   .text_word = part.text_word});
    others_.push_back(variable.plan);
    at = all.end() - 1;
  }
  at->once |= use == Use::kOperand;
  return static_cast<std::uint32_t>(at - all.begin()) + HistPlan::kFirstReference;
}

Checked<void> HistCompiler::compile_fields() {
  if (auto done = compile_values(); !done) return done;
  if (auto done = compile_variables(); !done) return done;
  if (auto done = compile_keys(); !done) return done;
  if (auto done = compile_sort(); !done) return done;
  if (command_.expiry_ns != 0 && plan_->variables.empty())
    return wrong(fault::kNothingExpires, "expire");
  lay_out_values();
  join_keys();
  describe();
  return {};
}

Checked<void> HistCompiler::compile_values() {
  auto done =
      for_each_listed(command_.values, [&](std::string_view text) { return compile_value(text); });
  if (done && command_.no_hitcount && plan_->values.empty()) {
    return Fault{fault::kNeedsOtherValue, "nohitcount", ErrorCode::kNotFound};
  }
  return done;
}

Checked<void> HistCompiler::compile_value(std::string_view text) {
  if (text == "hitcount") return {};
  if (plan_->values.size() == kValuesMax) return wrong(fault::kTooManyValues, text);
  auto value = parser_.parse(text, ExpressionParser::Role::kValue);
  if (!value) return value.error();
  if (is_refused_in_values(value.value().modifiers.display)) {
    return wrong(fault::kBadModifier, text);
  }
  if (!value.value().is_number()) return wrong(fault::kTextValue, text);
  plan_->values.push_back({std::move(value.value())});
  return {};
}

Checked<void> HistCompiler::compile_variables() {
  for (const auto& [name, text] : command_.variables) {
    const bool twice =
        std::ranges::count(command_.variables, name, &HistCommand::Variable::name) > 1;
    const bool taken =
        purpose_ == Purpose::kSet && !catalog_.variables(plan_->system, plan_->event, name).empty();
    if (twice || taken) return wrong(fault::kDuplicateVariable, name);
    auto value = parser_.parse(text, ExpressionParser::Role::kVariable);
    if (!value) return value.error();
    const Display display = value.value().modifiers.display;
    if (display == Display::kLog2 || display == Display::kBuckets) {
      return wrong(fault::kBadModifier, text);
    }
    plan_->variables.push_back({std::string(name), std::move(value.value())});
  }
  return {};
}

Checked<void> HistCompiler::compile_keys() {
  auto done =
      for_each_listed(command_.keys, [&](std::string_view text) { return compile_key(text); });
  if (done && plan_->keys.empty()) return wrong(fault::kNoKeys);
  plan_->side = side_of(plan_->keys);
  return done;
}

Checked<void> HistCompiler::compile_key(std::string_view text) {
  if (plan_->keys.size() == kKeysMax) return wrong(fault::kTooManyKeys, text);
  auto key = parser_.parse(text, ExpressionParser::Role::kKey);
  if (!key) return key.error();
  Expression& value = key.value();
  if (value.uses_others) return wrong(fault::kReferenceInKey, text);
  KeyPart part{std::move(value), plan_->shape.key_words, 0};
  if (plan_->keys.empty()) part.word = 0;
  part.words = words_of(part.value.type);
  plan_->shape.key_words = part.word + part.words;
  if (plan_->shape.key_words * 8 > kKeyBytesMax) return wrong(fault::kKeysTooLong, text);
  plan_->keys.push_back(std::move(part));
  return {};
}

Checked<void> HistCompiler::compile_sort() {
  if (command_.sort.empty()) {
    plan_->sort = {SortKey{}};
    return {};
  }
  std::string_view rest = command_.sort;
  for (bool more = true; more;) {
    const std::string_view one = rest.substr(0, rest.find(','));
    more = one.size() < rest.size();
    rest.remove_prefix(one.size() + (more ? 1 : 0));
    if (one.empty() || one.starts_with('.')) return wrong(fault::kEmptySortField, "sort=");
    if (plan_->sort.size() == 1 && more) return wrong(fault::kTooManySortFields, "sort=");
    const auto key = compile_sort_key(one);
    if (!key) return key.error();
    plan_->sort.push_back(key.value());
  }
  return {};
}

Checked<SortKey> HistCompiler::compile_sort_key(std::string_view text) const {
  SortKey key;
  const auto take = [&](std::string_view name) -> bool {
    if (name == "hitcount") return true;
    for (std::uint32_t i = 0; i < plan_->values.size(); ++i) {
      const Expression& value = plan_->values[i].value;
      if (value.name != name && (value.text != name || !is_statistic(value.modifiers.display))) {
        continue;
      }
      key = {SortKey::Of::kValue, i, key.descending};
      return true;
    }
    for (std::uint32_t i = 0; i < plan_->keys.size(); ++i) {
      if (plan_->keys[i].value.name != name) continue;
      key = {SortKey::Of::kKey, i, key.descending};
      return true;
    }
    return false;
  };
  const std::size_t dot = text.rfind('.');
  const std::string_view last = dot == text.npos ? std::string_view() : text.substr(dot + 1);
  key.descending = last == "descending";
  const bool has_order = key.descending || last == "ascending";
  if (take(has_order ? text.substr(0, dot) : text)) return key;
  if (!take(text.substr(0, text.find('.')))) {
    return wrong(fault::kInvalidSortField, text.substr(0, text.find('.')));
  }
  return wrong(fault::kInvalidSortModifier, text.substr(text.find('.') + 1));
}

std::uint32_t HistCompiler::take_words(std::uint32_t words) {
  const std::uint32_t at = plan_->shape.value_words;
  plan_->shape.value_words += words;
  return at;
}

void HistCompiler::lay_out_values() {
  plan_->shape.value_words = kFirstWord;
  plan_->shape.entries_max = command_.entries_max;
  plan_->expiry_ns = command_.expiry_ns;
  for (VariablePart& variable : plan_->variables) {
    variable.word = take_words(1);
    if (!variable.value.is_number()) variable.text_word = take_words(kTextWords);
  }
  for (ValuePart& value : plan_->values) {
    value.word = take_words(words_of_value(value.value));
  }
  const auto is_execname = [](const KeyPart& key) {
    return key.value.modifiers.display == Display::kExecname;
  };
  if (std::ranges::any_of(plan_->keys, is_execname)) plan_->comm_word = take_words(kCommWords);
  const auto pack = [](const auto& parts, std::vector<PlainPart>& packed) {
    for (const auto& part : parts) packed.push_back(PlainPart::of(part.value, part.word));
  };
  pack(plan_->keys, plan_->plain_keys);
  pack(plan_->values, plan_->plain_values);
  pack(plan_->variables, plan_->plain_variables);
}

// Maps this histogram's keys to the keys of the histograms that it references. Keys that are laid
// out alike need no mapping. Keys that differ only in length are copied. With any other keys no
// event can ever match. The other histogram may have fewer keys: then, as in the kernel, the first
// ones must match.
void HistCompiler::join_keys() {
  for (std::size_t i = 0; i < plan_->references.size(); ++i) {
    Reference& reference = plan_->references[i];
    const HistPlan& to = *others_[i];
    reference.parts.clear();
    const auto same_kind = [](const KeyPart& a, const KeyPart& b) {
      return a.value.type.kind == b.value.type.kind;
    };
    const auto alike = [](const KeyPart& a, const KeyPart& b) { return a.words == b.words; };
    const std::span<const KeyPart> mine =
        std::span<const KeyPart>(plan_->keys).first(std::min(plan_->keys.size(), to.keys.size()));
    reference.never = !std::ranges::equal(mine, to.keys, same_kind);
    if (reference.never || std::ranges::equal(mine, to.keys, alike)) continue;
    for (std::size_t k = 0; k < to.keys.size(); ++k) {
      const KeyPart& from = plan_->keys[k];
      reference.parts.push_back({from.word, from.words, to.keys[k].word, to.keys[k].words});
    }
  }
}

bool HistCompiler::uses_time() const {
  const auto of = [](const auto& part) { return part.value.uses_time; };
  return std::ranges::any_of(plan_->keys, of) || std::ranges::any_of(plan_->values, of) ||
         std::ranges::any_of(plan_->variables, of);
}

std::string HistCompiler::describe_values() const {
  std::string text = plan_->no_hitcount ? "" : "hitcount";
  for (const ValuePart& value : plan_->values) append_part(text, value.value.text);
  return text;
}

std::string HistCompiler::describe_sort() const {
  std::string text;
  for (const SortKey& key : plan_->sort) {
    append_part(text, key.of == SortKey::Of::kHitcount ? "hitcount"
                      : key.of == SortKey::Of::kKey    ? plan_->keys[key.index].value.text
                                                       : plan_->values[key.index].value.text);
    if (key.descending) text.append(".descending");
  }
  return text;
}

void HistCompiler::describe() {
  HistPlan& plan = *plan_;
  std::string keys, variables, types;
  for (const KeyPart& key : plan.keys) {
    append_part(keys, key.value.text);
    append_part(types, key.value.type.name);
  }
  for (const VariablePart& variable : plan.variables) {
    append_part(variables, variable.name + "=" + variable.value.text);
  }
  std::string fields = "keys=" + keys + ":vals=" + describe_values();
  if (!variables.empty()) fields.append(":").append(variables);
  fields.append(":sort=").append(describe_sort());
  std::string actions;
  for (const ActionCommand& action : command_.actions) actions.append(":").append(action.text());
  plan.signature = fields + actions;
  plan.fields_signature = fields + actions + " " + types;
  plan.text = fields + ":size=";
  append_number(plan.text, std::uint64_t{command_.entries_max});
  if (uses_time()) plan.text.append(":clock=").append(command_.clock);
  if (plan.no_hitcount) plan.text.append(":nohitcount");
  if (plan.limit != 0) {
    plan.text.append(":limit=");
    append_number(plan.text, plan.limit);
  }
  if (command_.expiry_ns != 0) {
    plan.text.append(":expire=");
    append_number(plan.text, command_.expiry_ns);
    plan.text.append("ns");
  }
  plan.text.append(actions);
}

}  // namespace tallyfs::tracing
