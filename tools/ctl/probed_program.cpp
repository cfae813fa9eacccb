#include "tools/ctl/probed_program.h"

#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>
#include <system_error>

#include "core/base/nearest.h"
#include "core/base/shown_text.h"
#include "core/base/text.h"

namespace tallyfs {
namespace {

using tracing::ListedFunction;

constexpr std::size_t kNearMax = 65'536;

bool is_file(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

bool is_same_file(const std::string& a, const std::string& b) {
  struct stat of_a {
  }, of_b{};
  return ::stat(a.c_str(), &of_a) == 0 && ::stat(b.c_str(), &of_b) == 0 &&
         of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

Error not_found(std::string reason) { return {ErrorCode::kNotFound, std::move(reason)}; }

// A path of a process, on one line.
std::string shown(const std::string& path) {
  std::string text;
  append_shown(text, path, path.size(), 0);
  return text;
}

Result<std::string> checked(const std::string& path) {
  // After a '#' the kernel reads no more of a line.
  if (path.find_first_of(": \t\n#") == path.npos) return path;
  return invalid(shown(path) +
                 ": a probe's path has no :, # and blank; make a link without (ln -s)");
}

Result<std::string> real_path(const std::string& path) {
  std::array<char, PATH_MAX> real{};
  if (!::realpath(path.c_str(), real.data())) return not_found(path + " is not there");
  if (!is_file(real.data())) return invalid(path + " is no program: it is no file");
  return checked(real.data());
}

// A file that a process has, as this process and the daemon name it.
Result<std::string> path_in(pid_t pid, const std::string& path, const std::string& link) {
  if (path.ends_with(" (deleted)")) {
    return not_found(shown(path.substr(0, path.rfind(' '))) +
                     " was replaced since the process began: start it again");
  }
  if (link.empty() ? is_file(path) : is_same_file(path, link)) return checked(path);
  return checked("/proc/" + std::to_string(pid) + "/root" + path);
}

Result<std::string> program_of(pid_t pid) {
  const std::string link = "/proc/" + std::to_string(pid) + "/exe";
  std::array<char, PATH_MAX> path{};
  const ssize_t size = ::readlink(link.c_str(), path.data(), path.size() - 1);
  if (size <= 0) return not_found("no process " + std::to_string(pid) + ", or none with a program");
  return path_in(pid, path.data(), link);
}

// A mapped file of that name.
Result<std::string> library_of(pid_t pid, const std::string& name) {
  const std::string process = pid == 0 ? "self" : std::to_string(pid);
  std::ifstream maps("/proc/" + process + "/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t at = line.find('/');
    if (at == line.npos) continue;
    const std::string path = line.substr(at);
    const std::string_view base = std::string_view(path).substr(path.rfind('/') + 1);
    if (base == name || base == name + " (deleted)") return path_in(pid, path, {});
  }
  if (pid != 0) return not_found("process " + process + " has no " + name);
  for (const char* const directory :
       {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib",
        "/usr/local/lib"}) {
    const std::string path = std::string(directory) + "/" + name;
    if (is_file(path)) return real_path(path);
  }
  return not_found("no library " + name + " in the usual directories: name its path, or --pid");
}

// What a user may have meant by the name of a program that is not in $PATH: `; process 7 runs ...`.
std::string running_as(const std::string& name) {
  std::error_code error;
  std::filesystem::directory_iterator process("/proc", error);
  for (; !error && process != std::filesystem::directory_iterator(); process.increment(error)) {
    const std::string number = process->path().filename();
    std::error_code unreadable;
    const auto program = std::filesystem::read_symlink(process->path() / "exe", unreadable);
    if (!parse_unsigned(number) || unreadable || program.filename() != name) continue;
    return "; process " + number + " runs " + shown(program) + ": name one of these two";
  }
  return {};
}

Result<std::string> program_in_path(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::istringstream directories(path ? path : "/usr/sbin:/usr/bin:/sbin:/bin");
  for (std::string each; std::getline(directories, each, ':');) {
    const std::string file = each + "/" + name;
    if (is_file(file) && ::access(file.c_str(), X_OK) == 0) return real_path(file);
  }
  return not_found("no program " + name + " in $PATH" + running_as(name));
}

// `ns::f` of `ns::f(int) const`.
std::string_view without_parameters(std::string_view name) {
  return name.substr(0, name.find('('));
}

bool is_glob(const std::string& pattern) { return pattern.find_first_of("*?[") != pattern.npos; }

bool is_named(const ListedFunction& function, const std::string& pattern) {
  if (function.symbol == pattern || function.demangled == pattern) return true;
  if (!function.demangled.empty() && without_parameters(function.demangled) == pattern) return true;
  if (!is_glob(pattern)) return false;
  return ::fnmatch(pattern.c_str(), function.name().c_str(), 0) == 0 ||
         ::fnmatch(pattern.c_str(), function.symbol.c_str(), 0) == 0;
}

// Of the names of one place that one which people use: few underscores in front, and short.
bool is_better(const ListedFunction& a, const ListedFunction& b) {
  const auto rank = [](const ListedFunction& each) {
    return std::pair(each.symbol.find_first_not_of('_'), each.symbol.size());
  };
  return rank(a) < rank(b);
}

Error no_function(const tracing::ProgramList& list, const std::string& pattern) {
  std::vector<std::string> near;
  for (const ListedFunction& each : list.functions) {
    if (near.size() < kNearMax) near.emplace_back(without_parameters(each.name()));
  }
  const char* const stripped =
      list.has_symbols ? "" : " (the file is stripped: install its debug symbols)";
  return not_found("no function " + pattern + stripped + did_you_mean(pattern, near));
}

}  // namespace

Result<ProbedProgram> find_program(const std::string& word, pid_t pid) {
  const auto number = parse_unsigned(word);
  const bool is_pid = number && *number > 0 && *number <= INT_MAX;
  const auto found = is_pid                          ? program_of(static_cast<pid_t>(*number))
                     : word.find('/') != word.npos   ? real_path(word)
                     : word.find(".so") != word.npos ? library_of(pid, word)
                                                     : program_in_path(word);
  if (!found) return found.error();
  return ProbedProgram{found.value(), is_pid ? static_cast<pid_t>(*number) : 0};
}

bool process_may_throw(pid_t pid) {
  const std::string process = "/proc/" + std::to_string(pid);
  std::ifstream maps(process + "/maps");
  for (std::string line; std::getline(maps, line);) {
    for (const char* const library : {"/libstdc++.so", "/libc++abi.so"}) {
      if (line.find(library) != line.npos) return true;
    }
  }
  const auto list = list_of(process + "/exe");
  return list && list.value().may_throw;
}

Result<std::vector<ListedFunction>> select_functions(const tracing::ProgramList& list,
                                                     const std::vector<std::string>& patterns) {
  std::map<std::uint64_t, const ListedFunction*> chosen;
  for (const std::string& pattern : patterns) {
    bool is_known = false, is_indirect = false;
    for (const ListedFunction& each : list.functions) {
      if (!is_named(each, pattern)) continue;
      is_indirect = is_indirect || each.is_indirect;
      if (each.is_indirect) continue;
      is_known = true;
      const ListedFunction*& best = chosen[each.offset];
      if (!best || (best->symbol != pattern && is_better(each, *best))) best = &each;
    }
    if (is_indirect && (!is_known || !is_glob(pattern))) {
      return not_found(pattern + " is chosen at run time: list '*" + pattern + "*' has variants");
    }
    if (!is_known) return no_function(list, pattern);
  }
  if (chosen.size() > kProbedMax) {
    return Error{ErrorCode::kTooBig, std::to_string(chosen.size()) +
                                         " functions have such names, and 4096 are probed at "
                                         "once: narrow the pattern"};
  }
  std::vector<ListedFunction> functions;
  for (const auto& [offset, each] : chosen) functions.push_back(*each);
  return functions;
}

}  // namespace tallyfs
