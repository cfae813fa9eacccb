// tallyctl probe add and rm: probes that stay.
#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "tools/ctl/commands.h"
#include "tools/ctl/known_probes.h"
#include "tools/ctl/probe.h"
#include "tools/ctl/probe_files.h"
#include "tools/ctl/probe_target.h"
#include "tools/ctl/session.h"
#include "tools/ctl/temporary_probes.h"
#include "tools/tree/timed_file.h"

namespace tallyfs {
namespace {

constexpr CommandText kProbeAddText = {
    "probe add", "Makes an event of a function or a marker, and prints its directory; as root.",
    "  tallyctl probe add bash make_child                        each fork of a bash\n"
    "  tallyctl probe add libc.so.6 malloc 'size=$arg1' --name alloc\n"
    "  tallyctl probe add python3 python:gc__start               a marker of its author"};
constexpr CommandText kProbeRmText = {
    "probe rm", "Removes probes; as root.",
    "  tallyctl probe rm alloc                   by its name\n"
    "  tallyctl probe rm uprobes/alloc --force   with what is set on it\n"
    "  tallyctl probe rm tallyctl_4711           what an ended command has left"};

struct AddOptions {
  std::string name;
  bool is_return = false;
  bool is_forced = false;
};

// Refuses the return of the function that begins there as keep_safe_returns() does. kNotPermitted,
// too: no known function begins there.
Result<void> refuse_unsafe_return(const ProbedProgram& program, const tracing::ProgramList& list,
                                  std::uint64_t offset, bool is_forced) {
  ProbeTarget target{program, {}};
  for (const auto& each : list.functions) {
    if (each.offset == offset) target.functions.push_back(each);
  }
  const bool is_known = !target.functions.empty();
  const bool may_harm = list.is_go || (list.may_throw && !is_forced);
  if (is_known || may_harm) {
    if (const auto safe = keep_safe_returns(target, list, is_forced); !safe) return safe;
  }
  if (target.unsafe.empty() && (is_known || is_forced)) return {};
  return Error{ErrorCode::kNotPermitted,
               "no function is known to begin there, and a return from the midst of one ends the "
               "program: tallyctl probe list has the offsets. If one begins there: --force"};
}

// The part of a line after its event. A name that a line cannot have becomes an offset.
Result<std::string> place_text(const std::string& word, const std::string& what,
                               const AddOptions& add) {
  const auto program = find_program(word, 0);
  if (!program) return program.error();
  const std::string& path = program.value().path;
  const bool is_marker = what.find(':') != what.npos && what.find("::") == what.npos;
  const bool is_number = what.starts_with("0x") || parse_unsigned(what).has_value();
  const bool is_pattern = what.find_first_of("*?[(< ") != std::string::npos;
  // The mount refuses the return of a marker.
  if (is_marker || (!add.is_return && !is_pattern)) return path + ":" + what;
  const auto list = list_of(path);
  if (!list) return list.error();
  if (is_number && add.is_return) {
    // As the kernel reads it.
    const std::uint64_t offset = std::strtoull(what.c_str(), nullptr, 0);
    const auto safe = refuse_unsafe_return(program.value(), list.value(), offset, add.is_forced);
    return safe ? Result<std::string>(path + ":" + what) : safe.error();
  }
  auto functions = select_functions(list.value(), {what});
  if (!functions) return functions.error();
  ProbeTarget target{program.value(), std::move(functions.value())};
  if (add.is_return) {
    if (const auto safe = keep_safe_returns(target, list.value(), add.is_forced); !safe) {
      return safe.error();
    }
  }
  if (!is_pattern) return path + ":" + what;
  if (target.functions.size() > 1) {
    return invalid(what + " has " + std::to_string(target.functions.size()) +
                   " functions: tallyctl probe list shows them");
  }
  std::string text = path + ":";
  append_hex(text, target.functions.front().offset);
  return text;
}

// `f%return` is `f` with --return. Whether WHAT can be read so.
bool take_return(std::string& what, AddOptions& options) {
  constexpr std::string_view kMark = "%return";
  const std::size_t at = what.find(kMark);
  if (at == what.npos) return true;
  options.is_return = true;
  const bool is_at_end = at + kMark.size() == what.size();
  what.erase(at);
  return is_at_end;
}

int add(Session& session, AddOptions options) {
  const auto files = ProbeFiles::open(session.source->mount(), ProbeFiles::For::kWriting);
  if (!files) return complain(files.error());
  auto& words = session.options.words;
  if (!take_return(words[1], options)) return complain(kWrongUsage, "nothing follows %return");
  const auto place = place_text(words[0], words[1], options);
  if (!place) return complain(kRefused, place.error().reason);
  std::string line = options.is_return ? "r" : "p";
  if (!options.name.empty()) line.append(":").append(options.name);
  line.append(" ").append(place.value());
  for (std::size_t i = 2; i < words.size(); ++i) line.append(" ").append(words[i]);
  const auto before = known_probes(files.value());
  if (!before) return complain(before.error());
  if (const auto done = files.value().define(line + "\n"); !done) {
    return complain(kRefused, done.error().reason);
  }
  const auto after = known_probes(files.value());
  if (!after) return complain(after.error());
  for (const KnownProbe& each : after.value()) {
    const auto is_it = [&each](const KnownProbe& old) {
      return old.event == each.event && old.places == each.places;
    };
    if (std::ranges::any_of(before.value(), is_it)) continue;
    print(files.value().directory() + "/events/" + each.event + "\n");
  }
  return kDone;
}

// Takes off what is set on an event, in an instance: an empty name is the top.
void clear_event(const ProbeFiles& files, const std::string& instance, const std::string& event) {
  const std::string directory =
      (instance.empty() ? "" : "instances/" + instance + "/") + "events/" + event;
  const auto triggers = read_in_time(files.directory() + "/" + directory + "/trigger");
  std::istringstream lines(triggers ? triggers.value() : std::string());
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.front() != '#') (void)files.write(directory + "/trigger", "!" + line);
  }
  (void)files.write(directory + "/enable", "0");
}

int remove_one(const ProbeFiles& files, const std::string& name, bool is_forced) {
  const auto complain_of = [](const Error& error) { return complain(kRefused, error.reason); };
  if (is_temporary(name)) {
    const auto done = remove_temporary(files, name);
    return done ? kDone : complain_of(done.error());
  }
  if (is_forced) {
    const auto known = known_probes(files);
    if (!known) return complain_of(known.error());
    const auto instances = list_in_time(files.directory() + "/instances");
    for (const KnownProbe& each : known.value()) {
      if (!is_meant(each.event, name)) continue;
      if (instances) {
        for (const auto& instance : instances.value()) clear_event(files, instance, each.event);
      }
      clear_event(files, "", each.event);
    }
  }
  const auto done = files.define("-:" + name + "\n");
  return done ? kDone : complain_of(done.error());
}

}  // namespace

int run_probe_add(int argc, char** argv) {
  Session session;
  AddOptions options;
  CommandLine line = command_line(kProbeAddText, session.options);
  line.add({.names = "--name",
            .variable = &options.name,
            .value = "EVENT",
            .text = "of the event, or GROUP/EVENT; else it is made of PROGRAM and WHAT",
            .shown = Option::Default::kHidden});
  line.add_flag("--return", options.is_return, "an event at each return");
  line.add_flag("--force", options.is_forced, "a return also where exceptions may pass");
  line.add_arguments("PROGRAM", session.options.words,
                     "then WHAT, a function, PROVIDER:MARKER or offset, and NAME=FETCHes",
                     {.least = 2});
  if (const auto status = line.parse(argc, argv)) return *status;
  if (const auto status = session.open()) return *status;
  return add(session, std::move(options));
}

int run_probe_rm(int argc, char** argv) {
  Session session;
  bool is_forced = false;
  CommandLine line = command_line(kProbeRmText, session.options);
  line.add_flag("--force", is_forced, "with what is set on them");
  line.add_arguments("NAME", session.options.words, "EVENT, GROUP/EVENT, or GROUP/ for all of it",
                     {.least = 1});
  if (const auto status = line.parse(argc, argv)) return *status;
  if (const auto status = session.open()) return *status;
  const auto files = ProbeFiles::open(session.source->mount(), ProbeFiles::For::kWriting);
  if (!files) return complain(files.error());
  int status = kDone;
  for (const std::string& name : session.options.words) {
    if (const int one = remove_one(files.value(), name, is_forced); one != kDone) status = one;
  }
  return status;
}

}  // namespace tallyfs
