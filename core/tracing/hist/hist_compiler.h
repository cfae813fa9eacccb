// Makes a HistPlan of a HistCommand: looks names up, checks which parts may be combined, and lays
// out the entries. A HistCatalog supplies the facts about other triggers and events.
//
// Lives for one command. The faults, their order and their tokens are the kernel's.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/tracing/format/synthetic.h"
#include "core/tracing/hist/hist_plan.h"

namespace tallyfs::tracing {

// The events and histograms of an EventSet, as far as one command may see them.
class HistCatalog {
 public:
  struct Variable {
    const HistPlan* plan = nullptr;
    HistTable* table = nullptr;
    std::uint32_t index = 0;
  };
  struct Synthetic {
    EventNumber number = 0;
    const FieldsDefinition* definition = nullptr;
  };
  virtual ~HistCatalog() = default;
  virtual bool has_event(std::string_view system, std::string_view event) const = 0;
  // The variables of the histograms on one event, or on all events if system and event are empty.
  virtual std::vector<Variable> variables(std::string_view system, std::string_view event,
                                          std::string_view name) const = 0;
  virtual std::optional<Synthetic> synthetic(std::string_view name) const = 0;
  // A variable that holds a field of another event, in a hidden histogram. That histogram has the
  // keys of one that is compatible with `like`. It is made if there is none, and then belongs to
  // the command.
  virtual Checked<Variable> field_variable(std::string_view system, std::string_view event,
                                           std::string_view field, const HistPlan& like) = 0;
};

// Whether the keys of both are of the same kinds in the same order.
bool keys_compatible(const HistPlan& a, const HistPlan& b);

class HistCompiler final : private VariableScope {
 public:
  static constexpr std::size_t kKeysMax = 8;    // the kernel: 3
  static constexpr std::size_t kValuesMax = 8;  // the kernel: 2 beside hitcount
  static constexpr std::uint32_t kKeyBytesMax = 504;

  enum class Purpose { kSet, kFind };  // a command that finds may name existing variables

  HistCompiler(const HistCommand& command, std::string_view system, const EventFormat& format,
               HistCatalog& catalog, Purpose purpose);

  // Compiles keys, values, variables, sort, and the signature that makes two triggers the same.
  Checked<void> compile_fields();
  // Compiles the rest, for a trigger that is to be set; called after compile_fields().
  Checked<void> compile_actions();
  const HistPlan& plan() const { return *plan_; }
  std::shared_ptr<HistPlan> take() { return std::move(plan_); }

 private:
  std::optional<std::string_view> own(std::string_view name) const override;
  Checked<Found> other(std::string_view system, std::string_view event, std::string_view name,
                       Use use) override;
  Checked<HistCatalog::Variable> find_other(std::string_view system, std::string_view event,
                                            std::string_view name) const;
  Checked<std::uint32_t> refer(const HistCatalog::Variable& variable, Use use);

  Checked<void> compile_values();
  Checked<void> compile_value(std::string_view text);
  Checked<void> compile_variables();
  Checked<void> compile_keys();
  Checked<void> compile_key(std::string_view text);
  Checked<void> compile_sort();
  Checked<SortKey> compile_sort_key(std::string_view text) const;
  Checked<void> compile_action(const ActionCommand& command);
  Checked<void> compile_tracked(const ActionCommand& command, Action& action);
  Checked<void> compile_saved(const ActionCommand& command);
  Checked<void> compile_trace(const ActionCommand& command, Action& action);
  Checked<Expression> compile_param(const ActionCommand& command, std::string_view param);
  Checked<Expression> variable_param(const ActionCommand& command, std::string_view system,
                                     std::string_view event, std::string_view param);
  Checked<Expression> field_param(const ActionCommand& command, std::string_view system,
                                  std::string_view event, std::string_view field);
  std::optional<std::uint32_t> own_index(std::string_view name) const;
  Expression reference_expression(const ValueType& type, std::uint32_t at) const;
  std::uint32_t take_words(std::uint32_t words);
  void lay_out_values();
  void join_keys();
  bool uses_time() const;
  void describe();
  std::string describe_values() const;
  std::string describe_sort() const;

  const HistCommand& command_;
  HistCatalog& catalog_;
  const Purpose purpose_;
  ExpressionParser parser_;
  std::shared_ptr<HistPlan> plan_;
  std::vector<const HistPlan*> others_;  // whose variables plan_->references are
  bool saves_ = false;
  std::uint32_t snapshots_ = 0;
};

}  // namespace tallyfs::tracing
