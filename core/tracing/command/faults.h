// The texts of error_log that scripts look for, one for each fault of a command. The texts for
// histograms and synthetic events are the kernel's, word for word. Our own texts stand last; they
// are for faults that the kernel refuses without a text.
// Values, without threads.
#pragma once

#include <boost/system/result.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/result.h"

namespace tallyfs::tracing {

// A fault and the token of the command that it is about; becomes an Error once the command is
// known. As in the kernel, the caret goes to the token's first occurrence.
struct Fault {
  std::string_view reason;  // one of fault::k...
  std::string token = {};   // empty: `at` gives the place
  ErrorCode code = ErrorCode::kInvalid;
  std::size_t at = 0;  // byte of the text that was parsed; 0 is its start

  // The Error of a write. location: "hist:sched:sched_waking", "synthetic_events". command: the
  // text that error_log repeats, "hist:keys=pid:vals=junk"; it need not be the text that was
  // written.
  Error in(std::string location, std::string command) const;
};

inline Fault wrong(std::string_view reason, std::string_view token = {}) {
  return {reason, std::string(token)};
}

[[noreturn]] inline void throw_exception_from_error(const Fault& fault,
                                                    const boost::source_location& where) {
  tallyfs::throw_exception_from_error(Error{fault.code, std::string(fault.reason)}, where);
}

template <typename T>
using Checked = boost::system::result<T, Fault>;

namespace fault {

inline constexpr std::string_view
    // Histograms
    kDuplicateVariable = "Variable already defined",
    kVariableNotUnique =
        "Variable name not unique, need to use fully qualified name (subsys.event.var) for "
        "variable",
    kTooManyVariables = "Too many variables defined", kMalformedAssignment = "Malformed assignment",
    kNamedMismatch = "Named hist trigger doesn't match existing named trigger (includes variables)",
    kTriggerExists = "Hist trigger already exists",
    kNothingToClear = "Can't clear or continue a nonexistent hist trigger",
    kSetClock = "Couldn't set trace_clock", kBadModifier = "Invalid field modifier",
    kTooManySubexpressions = "Too many subexpressions (3 max)",
    kTimestampMismatch = "Timestamp units in expression don't match",
    kEventFileNotFound = "Event file not found",
    kHistNotFound = "Matching event histogram not found",
    kHistCreate = "Couldn't create histogram for field",
    kSynthEventNotFound = "Couldn't find synthetic event",
    kSynthTypeMismatch = "Param type doesn't match synthetic event field type",
    kSynthCountMismatch = "Param count doesn't match synthetic event field count",
    kFieldVariableParse = "Couldn't parse field variable",
    kTrackNotVariable = "For onmax(x) or onchange(x), x must be a variable",
    kTrackVariableNotFound = "Couldn't find onmax or onchange variable",
    kFieldVariableCreate = "Couldn't create field variable",
    kTooManyParams = "Too many action params", kParamNotFound = "Couldn't find param",
    kInvalidParam = "Invalid action param", kActionNotFound = "No action found",
    kNoSaveParams = "No params found for save()",
    kTooManySaves = "Can't have more than one save() action per hist",
    kActionMismatch = "Handler doesn't support action", kNoClosingParen = "No closing paren found",
    kSubsystemMissing = "Missing subsystem",
    kInvalidSubsystemEvent = "Invalid subsystem or event name",
    kReferenceInKey = "Using variable references in keys not supported",
    kVariableNotFound = "Couldn't find variable", kFieldNotFound = "Couldn't find field",
    kEmptyAssignment = "Empty assignment", kInvalidSortModifier = "Invalid sort modifier",
    kEmptySortField = "Empty sort field", kTooManySortFields = "Too many sort fields (Max = 2)",
    kInvalidSortField = "Sort field must be a key or a val",
    kTextOperand = "String type can not be an operand in expression",
    kExpectNumber = "Expecting numeric literal",
    kUnaryMinus = "Unary minus not supported in sub-expressions",
    kDivisionByZero = "Division by zero",
    kNeedsOtherValue = "Non-hitcount value is required for 'nohitcount'",
    // Synthetic events
    kBadName = "Illegal name",
    kInvalidCommand = "Command must be of the form: <name> field[;field] ...",
    kInvalidDynamicCommand =
        "Command must be of the form: s or -:[synthetic/]<name> field[;field] ...",
    kEventExists = "Event already exists", kTooManyFields = "Too many fields",
    kIncompleteType = "Incomplete type", kInvalidType = "Invalid type",
    kInvalidField = "Invalid field", kInvalidArray = "Invalid array specification",
    // Filters
    kInvalidOperator = "Invalid operator", kTooManyOpen = "Too many '('",
    kTooManyClose = "Too few '('", kMissingQuote = "Missing matching quote",
    kOperandTooLong = "Operand too long", kExpectDigit = "Expecting numeric field",
    kExpectText = "Expecting string field", kIllegalOperation = "Illegal operation for field type",
    kFilterFieldNotFound = "Field not found", kIllegalInteger = "Illegal integer value",
    kBadSystemFilter = "Couldn't find or set field in one of a subsystem's events",
    kTooManyTerms = "Too many terms in predicate expression",
    kMeaninglessFilter = "Meaningless filter expression",
    kInvalidValue = "Invalid value (did you forget quotes)?", kNoFilter = "No filter found",
    kMissingOpenBrace = "Missing '{'", kMissingCloseBrace = "Missing '}'",
    kInvalidCpus = "Invalid cpulist",
    // ---- ours
    kTooManyActions = "Too many actions (8 max)", kUnknownPart = "Unknown parameter or handler",
    kNoKeys = "No keys", kTooManyKeys = "Too many keys (8 max)",
    kTooManyValues = "Too many values (8 max)", kKeysTooLong = "Keys longer than 504 bytes",
    kBadSize = "Size must be a number of 128 to 131072", kBadLimit = "Limit must be 1 or more",
    kBadExpiry = "Expiry must be a time: a number and ns, us, ms or s",
    kNothingExpires = "Variables expire, and there is none",
    kMalformedExpression = "Malformed expression", kTextValue = "Only numbers can be values",
    kOtherField = "This field is neither number nor text",
    kTooMuchMemory = "Histograms would take more memory than allowed",
    kTooManyTriggers = "Too many triggers", kReferenced = "Its variables are in use",
    kInUse = "The event is in use", kUnknownTrigger = "Unknown trigger command",
    kBadCount = "Count must be a number, at most 2147483647",
    kAfterCount = "Nothing but: if FILTER may stand behind the count",
    kIfExpected = "Expected: if FILTER", kTargetExpected = "Expected: SYSTEM:EVENT",
    kSameTrigger = "The event has this trigger already", kNoSuchEvent = "No such event",
    kKernelsEvent =
        "The kernel's events are for root and the user who mounted. --write-group has those of "
        "programs",
    kZeroOrOne = "Must be 0 or 1", kTooDeep = "Nested too deeply",
    kDuplicateField = "Two fields of this name", kBadPid = "Not a process id (0 to 4194303)",
    kFunctionFilter =
        "Functions are not looked up here: compare the address itself (call_site == 0x...)",
    kUserTextFilter = "The memory of programs is not read here: compare a text of the record's",
    kMaskWithoutCpus = "A mask of CPUs is compared with a list (CPUS{0-3,8}), by &, == or !=",
    kNoProbes = "probes need tallyfs -o tracefs, as root",
    kTooManyPids = "Too many process ids", kBadMask = "Not a mask of CPUs that there are";

}  // namespace fault
}  // namespace tallyfs::tracing
