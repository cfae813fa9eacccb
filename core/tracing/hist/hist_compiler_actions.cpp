#include <algorithm>

#include "core/tracing/hist/hist_compiler.h"

namespace tallyfs::tracing {
namespace {

// Whether a value fits into a field, as in the kernel: types of one name, or of one size and sign.
// Texts and stacks of any length fit into fields of variable length.
bool fits(const FieldsDefinition::Field& field, const ValueType& type) {
  using Kind = ValueType::Kind;
  switch (field.kind) {
    case FieldKind::kLocated:
      return type.kind == Kind::kText;
    case FieldKind::kStack:
      return type.kind == Kind::kStack;
    case FieldKind::kText:
      return type.kind == Kind::kText && type.size == field.size;
    default:
      return type.kind == Kind::kNumber &&
             (type.name == field.type ||
              (type.size == field.size && type.is_signed == field.is_signed));
  }
}

}  // namespace

Checked<void> HistCompiler::compile_actions() {
  const bool known = std::ranges::find(kTraceClocks, command_.clock) != kTraceClocks.end();
  if (!known) return wrong(fault::kSetClock, command_.clock);
  for (const ActionCommand& action : command_.actions) {
    if (const auto done = compile_action(action); !done) return done;
  }
  join_keys();
  const auto of_stack = [](const auto& part) {
    return part.value.type.kind == ValueType::Kind::kStack &&
           part.value.source.kind == TextSource::Kind::kStack;
  };
  const auto of_comm = [](const auto& part) {
    return !part.value.is_number() && part.value.source.kind == TextSource::Kind::kComm;
  };
  HistPlan& plan = *plan_;
  plan.needs_comm = plan.comm_word != 0;
  const auto look_at = [&](const auto& parts) {
    plan.needs_stack |= std::ranges::any_of(parts, of_stack);
    plan.needs_comm |= std::ranges::any_of(parts, of_comm);
  };
  look_at(plan.keys);
  look_at(plan.variables);
  look_at(plan.saved);
  for (const Action& action : plan.actions) look_at(action.parts);
  return {};
}

Checked<void> HistCompiler::compile_action(const ActionCommand& command) {
  Action action;
  action.handler = command.handler;
  action.kind = command.kind;
  if (command.handler == Handler::kOnMatch) {
    if (!catalog_.has_event(command.system(), command.event())) {
      return wrong(fault::kInvalidSubsystemEvent, command.event());
    }
  } else if (const auto done = compile_tracked(command, action); !done) {
    return done;
  }
  switch (command.kind) {
    case ActionKind::kTrace:
      if (const auto done = compile_trace(command, action); !done) return done;
      break;
    case ActionKind::kSave:
      if (const auto done = compile_saved(command); !done) return done;
      break;
    case ActionKind::kSnapshot:
      action.snapshot = snapshots_++;
      break;
  }
  plan_->actions.push_back(std::move(action));
  return {};
}

Checked<void> HistCompiler::compile_tracked(const ActionCommand& command, Action& action) {
  const std::string_view name = command.tracked;
  if (!name.starts_with('$')) return wrong(fault::kTrackNotVariable, name);
  const auto index = own_index(name.substr(1));
  if (!index) return wrong(fault::kTrackVariableNotFound, name.substr(1));
  if (!plan_->variables[*index].value.is_number()) return wrong(fault::kTrackNotVariable, name);
  action.tracked_name = name;
  action.tracked = *index;
  action.track_word = take_words(1);
  return {};
}

Checked<void> HistCompiler::compile_saved(const ActionCommand& command) {
  if (saves_) return wrong(fault::kTooManySaves);
  saves_ = true;
  for (const std::string_view param : command.params) {
    auto value = parser_.parse(param, ExpressionParser::Role::kVariable);
    if (!value || param.find('$') != param.npos) return wrong(fault::kFieldVariableCreate, param);
    const std::uint32_t words =
        value.value().is_number() ? 1 : (std::min(value.value().type.size, kTextBytesMax) + 7) / 8;
    plan_->saved.push_back({std::move(value.value()), take_words(words)});
  }
  return {};
}

Checked<void> HistCompiler::compile_trace(const ActionCommand& command, Action& action) {
  const auto synthetic = catalog_.synthetic(command.synthetic);
  if (!synthetic) return wrong(fault::kSynthEventNotFound, command.synthetic);
  action.synthetic = synthetic->number;
  const FieldsDefinition& definition = *synthetic->definition;
  action.synthetic_bytes = definition.fixed_bytes;
  for (const std::string_view param : command.params) {
    auto value = compile_param(command, param);
    if (!value) return value.error();
    const std::size_t position = action.parts.size();
    if (position >= definition.fields.size() ||
        !fits(definition.fields[position], value.value().type)) {
      return wrong(fault::kSynthTypeMismatch, param);
    }
    const FieldsDefinition::Field& field = definition.fields[position];
    action.parts.push_back({std::move(value.value()), field.kind, field.offset, field.size});
  }
  if (action.parts.size() != definition.fields.size()) {
    return wrong(fault::kSynthCountMismatch, definition.name);
  }
  return {};
}

// Compiles `$x`, `field`, `sys.event.$x` or `sys.event.field`.
Checked<Expression> HistCompiler::compile_param(const ActionCommand& command,
                                                std::string_view param) {
  const std::size_t dot = param.find('.');
  const std::size_t second = dot == param.npos ? dot : param.find('.', dot + 1);
  std::string_view system, event, name = param;
  if (second != param.npos) {
    system = param.substr(0, dot);
    event = param.substr(dot + 1, second - dot - 1);
    name = param.substr(second + 1);
  }
  return name.starts_with('$') ? variable_param(command, system, event, name.substr(1))
                               : field_param(command, system, event, name);
}

Checked<Expression> HistCompiler::variable_param(const ActionCommand& command,
                                                 std::string_view system, std::string_view event,
                                                 std::string_view name) {
  const bool here = system.empty() || (system == plan_->system && event == plan_->event);
  if (const auto index = here ? own_index(name) : std::nullopt) {
    return reference_expression(plan_->variables[*index].value.type, *index);
  }
  Checked<HistCatalog::Variable> found = wrong(fault::kParamNotFound, name);
  if (system.empty() && command.handler == Handler::kOnMatch) {
    found = find_other(command.system(), command.event(), name);
  }
  if (!found) found = find_other(system, event, name);
  if (!found) return wrong(fault::kParamNotFound, name);
  const auto at = refer(found.value(), Use::kAlone);
  if (!at) return at.error();
  return reference_expression(found.value().plan->variables[found.value().index].value.type,
                              at.value());
}

Checked<Expression> HistCompiler::field_param(const ActionCommand& command, std::string_view system,
                                              std::string_view event, std::string_view field) {
  if (system.empty() || (system == plan_->system && event == plan_->event)) {
    auto here = parser_.parse(field, ExpressionParser::Role::kVariable);
    if (here) return here;
    if (command.handler != Handler::kOnMatch) return wrong(fault::kFieldVariableParse, field);
    system = command.system();
    event = command.event();
  }
  if (!catalog_.has_event(system, event)) return wrong(fault::kEventFileNotFound, field);
  const auto found = catalog_.field_variable(system, event, field, *plan_);
  if (!found) return found.error();
  const auto at = refer(found.value(), Use::kAlone);
  if (!at) return at.error();
  return reference_expression(found.value().plan->variables[found.value().index].value.type,
                              at.value());
}

Expression HistCompiler::reference_expression(const ValueType& type, std::uint32_t at) const {
  Expression made;
  made.form = Expression::Form::kVariable;
  made.type = type;
  made.program = Program(Op{OpCode::kReference, at});
  made.source = {TextSource::Kind::kReference, type.kind == ValueType::Kind::kStack, at, 0};
  return made;
}

}  // namespace tallyfs::tracing
