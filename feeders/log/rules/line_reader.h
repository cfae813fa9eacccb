// Makes samples and events of lines, by the rules. Each line is matched or unmatched; each action
// of a rule that takes it makes a sample, or is counted as absent or refused.
//
// Confined to one thread. The outlet, the book and the counts must outlive it; a new one is made
// when the rules are read again.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "feeders/log/rules/counts.h"
#include "feeders/log/rules/outlet.h"
#include "feeders/log/rules/refusal.h"
#include "feeders/log/rules/rule_set.h"
#include "feeders/log/rules/series_book.h"
#include "feeders/log/rules/time_reader.h"

namespace tallyfs::logs {

// A field of Rules::fields: nothing where the line has none.
using Field = std::optional<std::string_view>;

class LineReader {
 public:
  using OnRefusal = std::function<void(std::string_view line, const Refusal& refusal)>;

  // How old a line's time may be: the daemon counts older ones as of a day ago.
  static constexpr std::chrono::hours kAgeMax{23};
  // Clocks of programs are ahead by so much at most, and count as of now.
  static constexpr std::chrono::seconds kFutureMax{1};
  static constexpr std::size_t kKnownMax = 32'768;  // names, of all actions
  static constexpr std::size_t kKnownBytesMax = 512;

  LineReader(Rules rules, SeriesBook& book, Outlet& outlet, LineCounts& counts,
             OnRefusal on_refusal);
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  const Rules& rules() const { return rules_; }
  // The time to which times of lines are compared.
  void set_now(const Timestamp& now);

  // line: without its end. fields: by Rules::fields; of a line that has none to be read, empty.
  // False: no rule took it.
  bool take(std::string_view line, std::span<const Field> fields);
  // A line that is not of the form that the rules name.
  void refuse_form(std::string_view line);

 private:
  // The memory of a sample action, from line to line.
  struct Memory {
    boost::unordered_flat_map<std::string, Series*, KeyedHash, std::equal_to<>> known;
    std::vector<const Piece*> pieces;  // of its name
    Series* only = nullptr;            // of a name without pieces
  };
  struct Line {
    std::string_view text;
    std::span<const Field> fields;
    const re2::StringPiece* groups;
    std::chrono::nanoseconds time;
  };

  void act(const Rule& rule, std::vector<Memory>& memories, const Line& line);
  static bool is_one(const SampleAction& action);
  void sample(const SampleAction& action, Memory& memory, const Line& line);
  void event(const EventAction& action, const Line& line);
  // Sets the field of values_. False: the line has none.
  bool set_number(std::size_t field, const NumberExpression& value, const Line& line);
  bool set_text(std::size_t field, const Piece& piece, const Line& line);
  // nullptr: there is none, which was counted.
  Series* find(const SampleAction& action, Memory& memory, const Line& line);
  Series* make(const SampleAction& action, const Line& line);
  void fill(std::string& out, const Template& parts, const Line& line);
  void forget_known();
  // Makes the text by which a name is known, of its pieces. False: one is absent.
  bool make_key(const Memory& memory, const Line& line);
  std::optional<std::int64_t> number(const NumberExpression& expression, unsigned scale,
                                     const Line& line);
  std::optional<std::int64_t> integer(const Number& number, unsigned scale, const Line& line,
                                      std::string_view text);
  std::optional<Number> read(const NumberExpression& expression, std::string_view text);
  static Field text_of(const Piece& piece, const Line& line);
  std::string_view filtered(const Piece& piece, std::string_view text, std::string& room);
  // 0: now. Nothing: the line has no time that can be taken.
  std::optional<std::chrono::nanoseconds> time_of(const Rule& rule, const Line& line);
  void refuse(const Line& line, const Refusal& refusal);
  static std::vector<Memory> memories_of(const Rule& rule);

  const Rules rules_;
  SeriesBook& book_;
  Outlet& outlet_;
  LineCounts& counts_;
  const OnRefusal on_refusal_;
  RuleSet set_;
  TimeReader times_;
  Timestamp now_{};
  std::uint32_t now_s_ = 0;                    // of its monotonic clock
  std::vector<std::vector<Memory>> memories_;  // by rule and action
  std::vector<Memory> otherwise_;
  std::size_t known_ = 0;                            // names, in all memories
  std::optional<std::uint32_t> overflow_known_s_{};  // since when one of them is of NAME{*}
  std::uint64_t given_up_ = 0;  // by the book, when the memories were looked at last
  // Used again for their memory.
  std::string key_;
  std::string room_;
  std::string other_room_;
  SeriesName name_;
  std::vector<EventValue> values_;
  std::array<std::string, kEventFieldsMax> texts_;
};

}  // namespace tallyfs::logs
