// Random triggers and records against a plain, slow model: maps from keys to what was counted,
// each record worked out anew. The seed is printed; TALLY_SEED=N repeats it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <random>

#include "tests/unit/tracing/fixture.h"

namespace tallyfs::tracing {
namespace {

struct Fed {
  std::int64_t pid, prio, cpu;
};

// One side of the model's expression, `+ - * /` of two operands.
struct Term {
  int operand = 0;  // 0 pid, 1 prio, 2 target_cpu, 3 a constant
  std::uint64_t constant = 0;

  std::string text() const {
    const char* const names[] = {"pid", "prio", "target_cpu"};
    return operand < 3 ? names[operand] : std::to_string(constant);
  }
  std::uint64_t value(const Fed& fed) const {
    switch (operand) {
      case 0:
        return static_cast<std::uint64_t>(fed.pid);
      case 1:
        return static_cast<std::uint64_t>(fed.prio);
      case 2:
        return static_cast<std::uint64_t>(fed.cpu);
      default:
        return constant;
    }
  }
};

std::uint64_t computed(char op, std::uint64_t left, std::uint64_t right) {
  switch (op) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    default:
      return right == 0 ? ~0ull : left / right;
  }
}

struct Formula {
  Term left, right;
  char op = '+';

  std::string text() const { return left.text() + op + right.text(); }
  std::uint64_t value(const Fed& fed) const {
    return computed(op, left.value(fed), right.value(fed));
  }
};

using Key = std::vector<std::uint64_t>;

struct Entry {
  std::uint64_t hits = 0, sum = 0, max = 0, saved = 0;
  std::optional<std::uint64_t> variable;
};

std::uint64_t word(std::int64_t value) { return static_cast<std::uint64_t>(value); }

std::string padded(std::uint64_t value) {
  std::string text = std::to_string(value);
  return text.size() < 10 ? std::string(10 - text.size(), ' ') + text : text;
}

// Two triggers: the first stores a variable, the second takes it off something, once, and keeps the
// largest difference with the prio that came with it.
struct Model {
  bool wide = false;  // two keys
  Formula stored, used;
  std::optional<std::int64_t> prio_max;  // the first one's filter
  std::map<Key, Entry> first, second;
  std::uint64_t first_hits = 0, second_hits = 0;

  std::string keys() const { return wide ? "hist:keys=pid,prio" : "hist:keys=pid"; }
  std::string first_trigger() const {
    return keys() + ":vals=prio:v=" + stored.text() +
           (prio_max ? " if prio <= " + std::to_string(*prio_max) : "");
  }
  std::string second_trigger() const {
    return keys() + ":vals=$got:got=" + used.text() + "-$v:onmax($got).save(prio)";
  }
  Key key(const Fed& fed) const {
    return wide ? Key{word(fed.pid), word(fed.prio)} : Key{word(fed.pid)};
  }
  void feed_first(const Fed& fed) {
    if (prio_max && fed.prio > *prio_max) return;
    Entry& entry = first[key(fed)];
    first_hits += 1;
    entry.hits += 1;
    entry.sum += word(fed.prio);
    entry.variable = stored.value(fed);
  }
  void feed_second(const Fed& fed) {
    const auto found = first.find(key(fed));
    if (found == first.end() || !found->second.variable) return;
    const std::uint64_t got = used.value(fed) - *found->second.variable;
    found->second.variable.reset();
    Entry& entry = second[key(fed)];
    second_hits += 1;
    entry.hits += 1;
    entry.sum += got;
    if (got <= entry.max) return;
    entry.max = got;
    entry.saved = word(fed.prio);
  }
  std::string line(const Key& of, std::uint64_t hits, const std::string& rest) const {
    return "{ pid: " + padded(of[0]) + (wide ? ", prio: " + padded(of[1]) : "") +
           " } hitcount: " + padded(hits) + rest + "\n";
  }
};

class ModelTest : public EventFixture {
 protected:
  ModelTest() {
    const char* const given = std::getenv("TALLY_SEED");
    seed = given ? static_cast<unsigned>(std::atoi(given)) : std::random_device()();
    random.seed(seed);
    std::string alike = kSchedWaking;
    alike.replace(alike.find("sched_waking"), 12, "sched_second");
    second = set.events.define_event("sched", alike).value();
  }

  std::uint64_t below(std::uint64_t bound) { return random() % bound; }
  Formula formula() {
    const Term right{static_cast<int>(below(4)), below(7) + 1};
    return {{static_cast<int>(below(3)), 0}, right, "+-*/"[below(4)]};
  }
  Model model() {
    Model made{.wide = below(2) == 1, .stored = formula(), .used = formula()};
    if (below(2) == 1) made.prio_max = static_cast<std::int64_t>(below(9)) - 4;
    return made;
  }
  Fed record() {
    return {static_cast<std::int64_t>(below(6)), static_cast<std::int64_t>(below(9)) - 4,
            static_cast<std::int64_t>(below(3))};
  }
  void feed_one(Model& model, std::uint64_t time_us) {
    const Fed fed = record();
    const bool to_first = below(2) == 0;
    feed(to_first ? waking : second, time_us,
         {{"pid", fed.pid}, {"prio", fed.prio}, {"target_cpu", fed.cpu}});
    to_first ? model.feed_first(fed) : model.feed_second(fed);
  }
  static void has(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), text.npos) << part << text;
  }
  static std::string totals(std::uint64_t hits, std::size_t entries) {
    return "Hits: " + std::to_string(hits) + "\n    Entries: " + std::to_string(entries) + "\n";
  }
  void compare(const Model& model) {
    const std::string first_text = hist(waking), second_text = hist(second);
    for (const auto& [key, entry] : model.first) {
      has(first_text, model.line(key, entry.hits, "  prio: " + padded(entry.sum)));
    }
    for (const auto& [key, entry] : model.second) {
      has(second_text, model.line(key, entry.hits,
                                  "  got: " + padded(entry.sum) + "\n\tmax: " + padded(entry.max) +
                                      "  prio: " + padded(entry.saved)));
    }
    has(first_text, totals(model.first_hits, model.first.size()));
    has(second_text, totals(model.second_hits, model.second.size()));
  }

  unsigned seed = 0;
  std::mt19937_64 random;
  EventNumber second = 0;
};

TEST_F(ModelTest, CountsWhatTheModelCounts) {
  SCOPED_TRACE("TALLY_SEED=" + std::to_string(seed));
  for (int round = 0; round < 300 && !HasFailure(); ++round) {
    Model drawn = model();
    trigger(waking, drawn.first_trigger());
    trigger(second, drawn.second_trigger());
    for (std::uint64_t i = 0; i < 150; ++i) feed_one(drawn, i);
    compare(drawn);
    set.triggers.truncate(second);
    set.triggers.truncate(waking);
  }
}

}  // namespace
}  // namespace tallyfs::tracing
