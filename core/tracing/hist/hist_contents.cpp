#include "core/tracing/hist/hist_contents.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/text.h"

namespace tallyfs::tracing {
namespace {

// A snapshot's task name has the length of the kernel's at most.
constexpr std::size_t kCommBytesMax = 16;

void append_place(std::string& text, const Expression& value, std::uint32_t word) {
  text.append(value.text).append(" ").append(value.type.name).append(" ");
  append_number(text, std::uint64_t{word});
  text.append("\n");
}

// The layout of an entry. Entries fit another plan if both have the same layout.
std::string layout_of(const HistPlan& plan) {
  std::string text;
  for (const KeyPart& key : plan.keys) append_place(text, key.value, key.word);
  for (const ValuePart& value : plan.values) append_place(text, value.value, value.word);
  for (const VariablePart& variable : plan.variables) {
    append_place(text, variable.value, variable.text_word ? variable.text_word : variable.word);
  }
  for (const SavedField& saved : plan.saved) append_place(text, saved.value, saved.word);
  for (const Action& action : plan.actions) {
    append_number(text.append("action "), std::uint64_t{action.track_word});
    text.append("\n");
  }
  append_number(text.append("comm "), std::uint64_t{plan.comm_word});
  append_number(text.append(" key "), std::uint64_t{plan.shape.key_words});
  append_number(text.append(" values "), std::uint64_t{plan.shape.value_words});
  return text;
}

void put_words(ByteWriter& out, const std::uint64_t* words, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out.put(words[i]);
}

// Reads the contents of one histogram into a table; confined to load_hist().
class HistLoader {
 public:
  HistLoader(ByteReader& in, const HistPlan& plan, HistTable& table, HistVariables variables)
      : in_(in), plan_(plan), table_(table), variables_(variables) {}

  void load() {
    table_.hits = in_.get<std::uint64_t>();
    table_.dropped = in_.get<std::uint64_t>();
    table_.expired = in_.get<std::uint64_t>();
    table_.unmatched = in_.get<std::uint64_t>();
    table_.sweep = in_.get<std::uint32_t>();
    if (in_.get<std::uint32_t>() != table_.snapshots.size()) return in_.fail();
    for (HistTable::Snapshot& snapshot : table_.snapshots) load_snapshot(snapshot);
    const auto entries = in_.get<std::uint32_t>();
    const HistMap::Shape& shape = table_.map.shape();
    const std::size_t entry_bytes = shape.entry_words() * sizeof(std::uint64_t);
    if (!in_.ok() || entries > shape.entries_max || in_.left() / entry_bytes < entries) {
      return in_.fail();
    }
    words_.resize(shape.entry_words());
    for (std::uint32_t i = 0; i < entries && in_.ok(); ++i) load_entry();
  }

 private:
  void load_snapshot(HistTable::Snapshot& snapshot) {
    snapshot.taken = in_.get_flag();
    if (!snapshot.taken) return;
    snapshot.value = in_.get<std::uint64_t>();
    for (std::uint32_t i = 0; i < table_.map.shape().key_words; ++i) {
      snapshot.key.push_back(in_.get<std::uint64_t>());
    }
    snapshot.comm = in_.get_text();
    if (snapshot.comm.size() > kCommBytesMax) in_.fail();
  }

  void load_entry() {
    const std::string_view raw = in_.take(words_.size() * sizeof(std::uint64_t));
    if (!in_.ok()) return;
    std::memcpy(words_.data(), raw.data(), raw.size());
    std::uint64_t* const values = words_.data() + table_.map.shape().key_words;
    // Averages are divided by it.
    if (values[kHitsWord] == 0) return in_.fail();
    values[kSetWord] &= (std::uint64_t{1} << plan_.variables.size()) - 1;
    if (variables_ == HistVariables::kUnset) values[kSetWord] = values[kTouchedWord] = 0;
    for (const VariablePart& variable : plan_.variables) {
      if (variable.text_word != 0 && values[variable.text_word] > kTextBytesMax) return in_.fail();
    }
    const auto [entry, is_new] = table_.map.insert(words_.data());
    if (!entry || !is_new) return in_.fail();
    std::copy_n(values, table_.map.shape().value_words, table_.map.values(entry));
  }

  ByteReader& in_;
  const HistPlan& plan_;
  HistTable& table_;
  const HistVariables variables_;
  std::vector<std::uint64_t> words_;
};

}  // namespace

HistContents::HistContents(std::shared_ptr<const HistPlan> plan, HistTable& table)
    : plan_(std::move(plan)),
      view_(table.map.view()),
      hits_(table.hits),
      dropped_(table.dropped),
      expired_(table.expired),
      unmatched_(table.unmatched),
      sweep_(table.sweep),
      snapshots_(table.snapshots) {}

void HistContents::encode(ByteWriter& out) const {
  out.put_text(layout_of(*plan_));
  out.put(hits_);
  out.put(dropped_);
  out.put(expired_);
  out.put(unmatched_);
  out.put(sweep_);
  out.put(static_cast<std::uint32_t>(snapshots_.size()));
  for (const HistTable::Snapshot& snapshot : snapshots_) {
    out.put(std::uint8_t{snapshot.taken});
    if (!snapshot.taken) continue;
    out.put(snapshot.value);
    put_words(out, snapshot.key.data(), snapshot.key.size());
    out.put_text(std::string_view(snapshot.comm).substr(0, kCommBytesMax));
  }
  out.put(view_.size());
  for (std::uint32_t i = 0; i < view_.size(); ++i) {
    put_words(out, view_.entry(i), plan_->shape.entry_words());
  }
}

Result<void> load_hist(ByteReader& in, const HistPlan& plan, HistTable& table,
                       HistVariables variables) {
  if (!table.is_empty()) {
    return Error{ErrorCode::kExists, "the histogram has entries already"};
  }
  const std::string_view layout = in.get_text();
  if (in.ok() && layout != layout_of(plan)) {
    return Error{ErrorCode::kInvalid, "its entries have another layout; it begins empty"};
  }
  HistLoader(in, plan, table, variables).load();
  if (in.ok() && in.left() == 0) return {};
  table.clear();
  return Error{ErrorCode::kInvalid, "not the contents of a histogram"};
}

}  // namespace tallyfs::tracing
