#include "program/untrusted/program_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <span>
#include <utility>

#include "core/base/text.h"
#include "core/tracing/probe/debug_files.h"
#include "program/untrusted/packed_symbols.h"

namespace tallyfs {
namespace {

constexpr long kFuse = 0x65735546;  // FUSE_SUPER_MAGIC

Error cannot_open(const std::string& path) {
  const int error = errno;
  const ErrorCode code = error == ENOENT || error == ENOTDIR ? ErrorCode::kNotFound
                         : error == EACCES || error == EPERM ? ErrorCode::kNoAccess
                                                             : ErrorCode::kInvalid;
  std::string reason = "cannot open " + path + ": " + std::strerror(error);
  // A feeder in a container may lack CAP_SYS_PTRACE, which another's /proc/PID/root takes.
  const bool is_of_process = code == ErrorCode::kNoAccess && path.starts_with("/proc/");
  if (is_of_process) reason.append(": write the path that the host has");
  return {.code = code, .reason = std::move(reason), .token_at = 0};
}

// Reading one's statistics would make some.
bool is_of_tallyfs(const Fd& file, const struct stat& status) {
  struct statfs system {};
  if (::fstatfs(file.get(), &system) != 0 || system.f_type != kFuse) return false;
  const std::string device =
      std::to_string(major(status.st_dev)) + ":" + std::to_string(minor(status.st_dev));
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    Tokens words(line);
    (void)words.next();
    (void)words.next();
    const auto third = words.next();
    if (!third || third->text != device) continue;
    return line.find(" - fuse.tallyfs ") != line.npos;
  }
  return false;
}

// It is not opened before it is known to be a file: a device might act on that.
Result<OpenedFile> open_file(const std::string& path) {
  const Fd at(::open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat status {};
  if (!at.valid() || ::fstat(at.get(), &status) != 0) return cannot_open(path);
  if (!S_ISREG(status.st_mode)) return invalid(path + " is no program: it is no file", 0);
  if (is_of_tallyfs(at, status)) return invalid(path + " is a file of tallyfs", 0);
  const std::string same = "/proc/self/fd/" + std::to_string(at.get());
  Fd fd(::open(same.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd.valid()) return cannot_open(path);
  return OpenedFile{std::move(fd), static_cast<std::uint64_t>(status.st_size)};
}

Result<tracing::ElfFile> open_elf(const OpenedFile& file) {
  const int fd = file.fd.get();
  return tracing::ElfFile::open(
      [fd](std::uint64_t offset, std::span<char> into) {
        std::size_t done = 0;
        while (done < into.size()) {
          const auto size = ::pread(fd, into.data() + done, into.size() - done,
                                    static_cast<off_t>(offset + done));
          if (size < 0 && errno == EINTR) continue;
          if (size <= 0) break;
          done += static_cast<std::size_t>(size);
        }
        return done;
      },
      file.bytes);
}

}  // namespace

std::vector<int> ProgramFiles::descriptors() const {
  std::vector<int> all = {program.fd.get()};
  for (const OpenedFile& each : debug) all.push_back(each.fd.get());
  return all;
}

Result<ProgramFiles> open_program(const std::string& path,
                                  const std::vector<std::string>& debug_files) {
  auto program = open_file(path);
  if (!program) return program.error();
  ProgramFiles files{.program = std::move(program.value())};
  for (const std::string& each : debug_files) {
    auto file = open_file(each);
    if (file) files.debug.push_back(std::move(file.value()));
  }
  return files;
}

Result<ReadProgram> read_program(const ProgramFiles& files) {
  auto program = open_elf(files.program);
  if (!program) return error_at(program.error(), 0);
  ReadProgram read{.program = std::move(program.value())};
  const std::string id = read.program.build_id();
  for (const OpenedFile& each : files.debug) {
    auto file = open_elf(each);
    if (id.empty() || !file || file.value().build_id() != id) continue;
    read.debug = std::move(file.value());
    break;
  }
  if (read.program.symbols() || read.debug) return read;
  auto packed = packed_symbols(read.program);
  if (packed) {
    read.packed = std::move(packed.value());
  } else {
    read.packed_fault = packed.error().reason;
  }
  return read;
}

std::string debug_hint(const ReadProgram& program) {
  if (program.program.symbols() || program.debug) return {};
  const std::string id = program.program.build_id();
  if (id.empty()) return {};
  const std::string name = program.program.debug_link();
  return "debug " + id + " " + (name.empty() ? "-" : name) + "\n";
}

std::vector<std::string> take_debug_hint(std::string_view& text, const std::string& program_path) {
  if (!text.starts_with("debug ")) return {};
  Tokens words(text.substr(0, text.find('\n')));
  (void)words.next();
  const auto id = words.next();
  const auto name = words.next();
  text.remove_prefix(std::min(text.find('\n') + 1, text.size()));
  if (!id || !name) return {};
  return tracing::debug_files_of(program_path, id->text, name->text);
}

void write_and_end(const std::string& text, int file) {
  for (std::string_view rest = text; !rest.empty();) {
    const auto size = ::write(file, rest.data(), rest.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    rest.remove_prefix(static_cast<std::size_t>(size));
  }
  ::syscall(SYS_exit_group, 0);
}

}  // namespace tallyfs
