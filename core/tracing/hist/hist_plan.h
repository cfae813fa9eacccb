// A hist trigger in its executable form: the layout of an entry's words, and the programs that fill
// them. Compiled once by HistCompiler. It fills a HistTable, which triggers of one name share.
//
// HistPlan is immutable. It is shared, because it outlives its trigger in the copies that are being
// rendered. HistTable is confined to the EventSet's lock.
//
// An entry: the key; then kHits, kTouched, kSet; then the value of each variable; then the texts,
// the values, and the words of the actions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/model/record.h"
#include "core/tracing/format/task_fields.h"
#include "core/tracing/hist/expression.h"
#include "core/tracing/hist/hist_command.h"
#include "core/tracing/hist/hist_map.h"
#include "core/tracing/hist/hist_value.h"

namespace tallyfs::tracing {

// Words at the start of an entry's values.
inline constexpr std::uint32_t kHitsWord = 0;
inline constexpr std::uint32_t kTouchedWord = 1;  // when a variable was last set, ns
inline constexpr std::uint32_t kSetWord = 2;      // bits: which variables are set
inline constexpr std::uint32_t kFirstWord = 3;
inline constexpr std::uint32_t kTextWords = sizeof(VariableText) / 8;
inline constexpr std::uint32_t kCommWords = 2;

struct HistTable;

struct KeyPart {
  Expression value;
  std::uint32_t word = 0;
  std::uint32_t words = 1;  // 1: a number
};

struct VariablePart {
  std::string name;
  Expression value;
  std::uint32_t word = 0;
  std::uint32_t text_word = 0;  // of a text or a stack: its VariableText
};

// A variable of another histogram, which is looked up there with this histogram's key.
struct Reference {
  // One part of the key, from this histogram's words into those of the other.
  struct Part {
    std::uint32_t from, from_words, to, to_words;
  };
  HistTable* table = nullptr;  // kept, as its removal fails with EBUSY
  std::uint32_t variable = 0;
  std::uint32_t word = 0, text_word = 0;
  bool once = false;
  bool never = false;       // keys of another kind: no event can match
  std::vector<Part> parts;  // empty: the keys are laid out alike
};

// A field of a synthetic event, and the value that it gets.
struct TracePart {
  Expression value;
  FieldKind kind = FieldKind::kNumber;
  std::uint32_t offset = 0;
  std::uint32_t size = 8;
};

struct SavedField {
  Expression value;
  std::uint32_t word = 0;
};

struct Action {
  Handler handler = Handler::kOnMatch;
  ActionKind kind = ActionKind::kTrace;
  std::string tracked_name;      // "$wakeup_lat"
  std::uint32_t tracked = 0;     // the variable's place in References
  std::uint32_t track_word = 0;  // of onmax and onchange
  std::uint32_t snapshot = 0;    // of kSnapshot: its place in HistTable::snapshots
  EventNumber synthetic = 0;     // of kTrace
  std::uint32_t synthetic_bytes = 0;
  std::vector<TracePart> parts;
};

struct SortKey {
  enum class Of : std::uint8_t { kHitcount, kKey, kValue } of = Of::kHitcount;
  std::uint32_t index = 0;
  bool descending = false;
};

// The frequent case of a key, variable or value: a number that is loaded, and then added up or
// stored as it is. Packed, so that a record's work touches few lines of memory.
struct PlainPart {
  Op load;
  std::uint32_t word = 0;
  bool is_plain = false;  // else the part itself says what to do

  static PlainPart of(const Expression& value, std::uint32_t word);
};

struct HistPlan {
  // The order of References: this histogram's own variables, at their places, then `references`.
  static constexpr std::uint32_t kFirstReference = HistCommand::kVariablesMax;

  std::string system, event;
  std::vector<KeyPart> keys;
  std::vector<ValuePart> values;
  std::vector<VariablePart> variables;
  std::vector<Reference> references;
  std::vector<PlainPart> plain_keys, plain_values, plain_variables;  // of the parts above
  std::vector<SavedField> saved;                                     // of the save() action
  std::vector<Action> actions;
  std::vector<SortKey> sort;  // one or two
  HistMap::Shape shape;
  std::uint32_t comm_word = 0;  // of .execname; 0: there is none
  std::uint64_t limit = 0;
  std::uint64_t expiry_ns = 0;
  bool no_hitcount = false;
  bool needs_stack = false, needs_comm = false;
  SwitchSide side = SwitchSide::kNone;  // that the keys name; kNone: neither, or both
  // The text of the line in `trigger`, up to the filter.
  std::string text;
  // Commands with the same signature mean the same trigger. fields_signature leaves out actions and
  // filter: it must be the same for two events to share one histogram.
  std::string signature, fields_signature;
};

struct HistTable {
  // For onmax(..).snapshot(), over all entries.
  struct Snapshot {
    bool taken = false;
    std::uint64_t value = 0;
    std::vector<std::uint64_t> key;
    std::string comm;
  };

  explicit HistTable(const HistMap::Shape& shape) : map(shape) {}

  HistMap map;
  std::uint64_t hits = 0;
  std::uint64_t dropped = 0;
  std::uint64_t expired = 0;    // variables that were not read in time
  std::uint64_t unmatched = 0;  // events whose references did not resolve
  std::uint64_t clears = 0;
  std::uint64_t expiry_ns = 0;
  std::uint32_t sweep = 0;      // where the search for expired entries goes on
  std::uint32_t referrers = 0;  // Reference::table that point here
  std::vector<Snapshot> snapshots;

  bool is_empty() const { return hits == 0 && map.size() == 0; }
  void clear();
};

// Processes one record, up to its actions.
class HistUpdate {
 public:
  static constexpr std::size_t kKeyWordsMax = 64;
  static constexpr std::size_t kReferencesMax = 128;

  // false: not counted (a reference did not resolve, or the histogram is full).
  bool run(const HistPlan& plan, HistTable& table, const EventRecord& record);

  // The values that actions may use, until the next run().
  const std::uint64_t* references() const { return references_; }
  std::uint64_t* values() const { return values_; }
  const std::uint64_t* key() const { return key_; }

 private:
  void make_key(const HistPlan& plan, const EventRecord& record);
  bool resolve(const HistPlan& plan, std::uint64_t now_ns);
  bool resolve(const Reference& reference, std::uint64_t now_ns, std::uint64_t& value);
  HistMap::Inserted enter(HistTable& table, std::uint64_t now_ns);
  void set_variables(const HistPlan& plan, const EventRecord& record);
  void add_values(const HistPlan& plan, const EventRecord& record);

  std::uint64_t key_[kKeyWordsMax];
  std::uint64_t references_[kReferencesMax];
  std::uint64_t* values_ = nullptr;
};

}  // namespace tallyfs::tracing
