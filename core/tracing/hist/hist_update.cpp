#include <algorithm>
#include <bit>
#include <cstring>

#include "core/tracing/hist/hist_group.h"
#include "core/tracing/hist/hist_plan.h"

namespace tallyfs::tracing {
namespace {

// How many entries are examined for an expired one to make room for a new key.
constexpr std::uint32_t kSweepMax = 64;

void copy_text(std::uint64_t* to, std::uint32_t words, std::string_view text) {
  std::memset(to, 0, words * 8u);
  text.copy(reinterpret_cast<char*>(to), words * std::size_t{8});
}

}  // namespace

PlainPart PlainPart::of(const Expression& value, std::uint32_t word) {
  const Display display = value.modifiers.display;
  const bool shown_only = display == Display::kPlain || display == Display::kHex ||
                          display == Display::kSymbol || display == Display::kSymbolOffset ||
                          display == Display::kExecname || display == Display::kSyscall ||
                          display == Display::kPercent || display == Display::kGraph ||
                          display == Display::kAverage;
  const bool plain = value.is_number() && value.program.is_single() && shown_only;
  return {value.program.first(), word, plain};
}

void HistTable::clear() {
  map.clear();
  hits = dropped = expired = unmatched = 0;
  sweep = 0;
  clears += 1;
  for (Snapshot& snapshot : snapshots) snapshot = {};
}

void HistUpdate::make_key(const HistPlan& plan, const EventRecord& record) {
  for (std::size_t i = 0; i < plan.plain_keys.size(); ++i) {
    const PlainPart& plain = plan.plain_keys[i];
    if (plain.is_plain) {
      key_[plain.word] = Program::load(plain.load, record, references_);
      continue;
    }
    const KeyPart& part = plan.keys[i];
    if (part.value.is_number()) {
      key_[part.word] = group_of(part.value, part.value.program.run(record, references_));
    } else {
      copy_text(key_ + part.word, part.words, part.value.source.read(record, references_));
    }
  }
}

bool HistUpdate::resolve(const Reference& reference, std::uint64_t now_ns, std::uint64_t& value) {
  if (reference.never) return false;
  const std::uint64_t* wanted = key_;
  std::uint64_t translated[kKeyWordsMax];
  if (!reference.parts.empty()) {
    for (const Reference::Part& part : reference.parts) {
      std::fill_n(translated + part.to, part.to_words, 0);
      std::copy_n(key_ + part.from, std::min(part.from_words, part.to_words), translated + part.to);
    }
    wanted = translated;
  }
  HistTable& table = *reference.table;
  const HistMap::Entry entry = table.map.find(wanted);
  if (!entry) return false;
  std::uint64_t* const words = table.map.values(entry);
  const std::uint64_t bit = std::uint64_t{1} << reference.variable;
  if (!(words[kSetWord] & bit)) return false;
  if (table.expiry_ns != 0 && now_ns - words[kTouchedWord] > table.expiry_ns &&
      now_ns > words[kTouchedWord]) {
    table.expired += static_cast<std::uint64_t>(std::popcount(words[kSetWord]));
    words[kSetWord] = 0;
    return false;
  }
  if (reference.once) words[kSetWord] &= ~bit;
  value = reference.text_word == 0 ? words[reference.word]
                                   : static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(
                                         words + reference.text_word));
  return true;
}

bool HistUpdate::resolve(const HistPlan& plan, std::uint64_t now_ns) {
  std::uint64_t* value = references_ + HistPlan::kFirstReference;
  for (const Reference& reference : plan.references) {
    if (!resolve(reference, now_ns, *value++)) return false;
  }
  return true;
}

// In a full histogram with expire=, an entry whose variables have expired gives up its place.
HistMap::Inserted HistUpdate::enter(HistTable& table, std::uint64_t now_ns) {
  const HistMap::Inserted inserted = table.map.insert(key_);
  if (inserted.entry || table.expiry_ns == 0) return inserted;
  for (std::uint32_t tried = 0; tried < kSweepMax; ++tried) {
    table.sweep = (table.sweep + 1) % table.map.size();
    const std::uint64_t* const words = table.map.values(table.map.entry(table.sweep));
    if (now_ns <= words[kTouchedWord] || now_ns - words[kTouchedWord] <= table.expiry_ns) continue;
    table.expired += static_cast<std::uint64_t>(std::popcount(words[kSetWord]));
    return {table.map.replace(table.sweep, key_), true};
  }
  return inserted;
}

void HistUpdate::set_variables(const HistPlan& plan, const EventRecord& record) {
  const std::size_t count = plan.plain_variables.size();
  for (std::size_t i = 0; i < count; ++i) {
    const PlainPart& plain = plan.plain_variables[i];
    std::uint64_t& value = references_[i];
    if (plain.is_plain) {
      value = values_[plain.word] = Program::load(plain.load, record, references_);
      continue;
    }
    const VariablePart& variable = plan.variables[i];
    if (variable.value.is_number()) {
      value = values_[variable.word] = variable.value.program.run(record, references_);
      continue;
    }
    auto* const words = values_ + variable.text_word;
    const std::string_view text = variable.value.source.read(record, references_);
    char copied[kTextBytesMax];  // an alias may read what it is about to write over
    text.copy(copied, sizeof copied);
    words[0] = text.size();
    std::memcpy(words + 1, copied, text.size());
    value = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(words));
  }
  if (count == 0) return;
  values_[kSetWord] = (std::uint64_t{1} << count) - 1;
  values_[kTouchedWord] = record.time_ns;
}

void HistUpdate::add_values(const HistPlan& plan, const EventRecord& record) {
  const Hit hit = values_[kHitsWord] == 1 ? Hit::kFirst : Hit::kLater;
  for (std::size_t i = 0; i < plan.plain_values.size(); ++i) {
    const PlainPart& plain = plan.plain_values[i];
    if (plain.is_plain) {
      values_[plain.word] += Program::load(plain.load, record, references_);
      continue;
    }
    const ValuePart& part = plan.values[i];
    add_value(part.value, values_ + part.word, part.value.program.run(record, references_), hit);
  }
}

bool HistUpdate::run(const HistPlan& plan, HistTable& table, const EventRecord& record) {
  make_key(plan, record);
  if (!plan.references.empty() && !resolve(plan, record.time_ns)) {
    table.unmatched += 1;
    return false;
  }
  const auto [entry, is_new] = enter(table, record.time_ns);
  if (!entry) {
    table.dropped += 1;
    return false;
  }
  table.hits += 1;
  values_ = table.map.values(entry);
  if (is_new && plan.comm_word != 0) {
    copy_text(values_ + plan.comm_word, kCommWords, record.comm.substr(0, 15));
  }
  values_[kHitsWord] += 1;
  set_variables(plan, record);
  add_values(plan, record);
  return true;
}

}  // namespace tallyfs::tracing
