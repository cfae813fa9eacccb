#include "fs/daemon/state_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>

#include "core/base/descriptor_numbers.h"
#include "fs/daemon/absolute_path.h"

namespace tallyfs {
namespace {

constexpr const char* kTemporary = "state.tmp";
constexpr const char* kIncomplete = "state.incomplete";
constexpr std::string_view kPrefix = "state.";
constexpr std::uint64_t kStateBytesMax = std::uint64_t{4} << 30;

Error refused(const std::string& path, std::string reason,
              ErrorCode code = ErrorCode::kNotPermitted) {
  return {code, "--state: " + path + reason};
}

Error unusable(const std::string& path) {
  std::string reason = std::string(": ") + std::strerror(errno);
  if (errno == ENOENT) {
    const std::string above = std::filesystem::path(path).parent_path();
    reason.append("; the daemon makes the last directory alone: mkdir -p ").append(above);
  }
  return refused(path, reason, ErrorCode::kInvalid);
}

std::string name_of(std::uint64_t number) {
  return std::string(kPrefix).append(std::to_string(number));
}

// Of state.N; nothing for other names.
std::optional<std::uint64_t> number_of(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  if (name != std::to_string(number) || number == 0 || number + 1 == 0) return std::nullopt;
  return number;
}

// Nothing: it is there already, or its parent will be found missing.
Result<void> make(const std::string& path, const std::optional<Identity>& identity) {
  if (::mkdir(path.c_str(), 0700) != 0) {
    struct stat status {};
    const bool is_told_later = errno == ENOENT || errno == ENOTDIR || errno == EEXIST;
    const Error error = unusable(path);
    return is_told_later || ::lstat(path.c_str(), &status) == 0 ? Result<void>() : error;
  }
  if (!identity || ::lchown(path.c_str(), identity->uid, identity->gid) == 0) return {};
  const Error error = unusable(path);
  ::rmdir(path.c_str());
  return error;
}

Result<void> check(const Fd& directory, const std::string& path, std::optional<uid_t> owner) {
  struct stat status {};
  if (::fstat(directory.get(), &status) != 0) return unusable(path);
  if (owner && status.st_uid != *owner) {
    return refused(path, " belongs to uid " + std::to_string(status.st_uid) + "; the daemon has " +
                             std::to_string(*owner));
  }
  if ((status.st_mode & 0777) == 0700) return {};
  char mode[8];
  std::snprintf(mode, sizeof mode, "%o", status.st_mode & 07777);
  return refused(path, std::string(" has the mode ").append(mode).append("; it must be 700: ") +
                           "chmod 700 " + path);
}

// By its mode: what the daemon becomes has no group but this one. Root keeps the right to read all.
bool may_read_as(const struct stat& file, const Identity& reader) {
  if (reader.uid == 0) return true;
  if (file.st_uid == reader.uid) return (file.st_mode & S_IRUSR) != 0;
  return (file.st_mode & (file.st_gid == reader.gid ? S_IRGRP : S_IROTH)) != 0;
}

// As openat(2).
Fd open_at(const Fd& directory, const char* name, int flags, mode_t mode = 0) {
  return opened_unseen(::openat(directory.get(), name, flags, mode));
}

bool is_removed(const Fd& directory) {
  struct stat status {};
  return ::fstat(directory.get(), &status) == 0 && status.st_nlink == 0;
}

Result<void> write_all_of(std::string_view bytes, int fd) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return Error{ErrorCode::kNoSpace, std::strerror(errno)};
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return {};
}

}  // namespace

Result<StateDirectory> StateDirectory::open(const std::string& path,
                                            const std::optional<Identity>& identity) {
  std::error_code error;
  const std::string absolute = absolute_path(path, error);
  if (const auto made = make(absolute, identity); !made) return made.error();
  const uid_t reader = identity ? identity->uid : ::geteuid();
  auto fd = open_locked(absolute, reader);
  if (!fd) return fd.error();
  StateDirectory opened(std::move(fd.value()), absolute);
  if (const auto checked = opened.check_newest(identity); !checked) return checked.error();
  return opened;
}

Result<StateDirectory> StateDirectory::open_of_any_owner(const std::string& path) {
  if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT) {
    return Error{ErrorCode::kNotFound, "`mkdir -m 700 " + path + "` makes the place for it"};
  }
  auto fd = open_locked(path, std::nullopt);
  if (!fd) return fd.error();
  return StateDirectory(std::move(fd.value()), path);
}

// Without it the daemon would begin anew, and what it saves then would hide that file for good.
Result<void> StateDirectory::check_newest(const std::optional<Identity>& identity) const {
  const auto known = numbers();
  struct stat status {};
  if (known.empty()) return {};
  const std::string name = name_of(known.front());
  if (::fstatat(fd_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return {};
  if (!S_ISREG(status.st_mode)) return {};
  const bool may_read = identity
                            ? may_read_as(status, *identity)
                            : ::faccessat(fd_.get(), name.c_str(), R_OK, AT_EACCESS) == 0;
  if (may_read) return {};
  const std::string uid = std::to_string(identity ? identity->uid : ::geteuid());
  return refused(path_ + "/" + name, " is not for uid " + uid + " to read, which the daemon has; " +
                                         "`chown -R " + uid + " " + path_ + "` makes it so");
}

Result<Fd> StateDirectory::open_locked(const std::string& path, std::optional<uid_t> owner) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) return unusable(path);
  if (const auto checked = check(fd, path, owner); !checked) return checked.error();
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
  if (errno != EWOULDBLOCK) return unusable(path);
  return refused(path, " is in use by another daemon", ErrorCode::kBusy);
}

// The link of a directory that was removed has a mark behind the path.
StateDirectory StateDirectory::adopt(Fd fd) {
  constexpr std::string_view kMark = " (deleted)";
  std::error_code error;
  std::string link("/proc/self/fd/");
  link.append(std::to_string(fd.get()));
  std::string path = std::filesystem::read_symlink(link, error);
  if (is_removed(fd) && path.ends_with(kMark)) path.resize(path.size() - kMark.size());
  StateDirectory adopted(std::move(fd), std::move(path));
  (void)adopted.find_again();
  return adopted;
}

Result<void> StateDirectory::find_again() {
  if (!is_removed(fd_)) return {};
  struct stat before {};
  if (::fstat(fd_.get(), &before) != 0) return unusable(path_);
  auto fd = open_locked(path_, before.st_uid);
  if (fd) {
    fd_ = std::move(fd.value());
    return {};
  }
  const bool is_missing = ::access(path_.c_str(), F_OK) != 0 && errno == ENOENT;
  if (!is_missing) return fd.error();
  return Error{ErrorCode::kNotFound,
               path_ + " was removed: made again, with the mode 700, it gets the state"};
}

Result<void> StateDirectory::check_writable() const {
  if (::faccessat(fd_.get(), ".", W_OK | X_OK, AT_EACCESS) == 0) return {};
  return refused(path_, std::string(" cannot be written: ") + std::strerror(errno),
                 ErrorCode::kInvalid);
}

bool StateDirectory::has_state() const { return !is_removed(fd_) && !numbers().empty(); }

std::string StateDirectory::path_of(std::uint64_t number) const {
  return path_ + "/" + name_of(number);
}

Error StateDirectory::failure(const std::string& what) const {
  return {ErrorCode::kInvalid, path_ + "/" + what + ": " + std::strerror(errno)};
}

std::vector<std::uint64_t> StateDirectory::numbers() const {
  std::vector<std::uint64_t> found;
  // Opened anew, since a directory's position is that of its open file.
  Fd again = open_at(fd_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::fdopendir(again.get()), ::closedir);
  if (!listing) return found;
  (void)again.release();
  while (const dirent* const entry = ::readdir(listing.get())) {
    if (const auto number = number_of(entry->d_name)) found.push_back(*number);
  }
  std::sort(found.begin(), found.end(), std::greater<>());
  return found;
}

std::optional<std::uint64_t> StateDirectory::newest_bytes() const {
  const auto known = numbers();
  struct stat status {};
  if (known.empty()) return std::nullopt;
  const std::string name = name_of(known.front());
  if (::fstatat(fd_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

std::optional<std::chrono::nanoseconds> StateDirectory::last_written() const {
  const auto known = numbers();
  const std::string name = known.empty() ? "." : name_of(known.front());
  struct stat status {};
  if (::fstatat(fd_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  return std::chrono::seconds(status.st_mtim.tv_sec) +
         std::chrono::nanoseconds(status.st_mtim.tv_nsec);
}

Result<std::string> StateDirectory::read(std::uint64_t number) const {
  const std::string name = name_of(number);
  const Fd file = open_at(fd_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat status {};
  if (!file.valid() || ::fstat(file.get(), &status) != 0) return failure(name);
  if (!S_ISREG(status.st_mode)) return Error{ErrorCode::kInvalid, path_of(number) + " is no file"};
  if (static_cast<std::uint64_t>(status.st_size) > kStateBytesMax) {
    return Error{ErrorCode::kTooBig, path_of(number) + " is longer than 4 GiB"};
  }
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failure(name);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  bytes.resize(size);
  return bytes;
}

void StateDirectory::set_aside(std::uint64_t number) const {
  ::unlinkat(fd_.get(), kIncomplete, 0);
  (void)!::linkat(fd_.get(), name_of(number).c_str(), fd_.get(), kIncomplete, 0);
}

Result<SavedState> StateDirectory::write(const WriteAll& write_all) {
  if (const auto found = find_again(); !found) return found.error();
  auto written = write_temporary(write_all);
  if (!written) {
    ::unlinkat(fd_.get(), kTemporary, 0);
    return written;
  }
  if (const auto published = publish(); !published) return published.error();
  remove_old();
  return written;
}

Result<SavedState> StateDirectory::write_temporary(const WriteAll& write_all) const {
  // What a killed daemon has left.
  ::unlinkat(fd_.get(), kTemporary, 0);
  const Fd file =
      open_at(fd_, kTemporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (!file.valid()) return failure(kTemporary);
  std::uint64_t bytes = 0;
  auto written = write_all([&](std::string_view some) -> Result<void> {
    bytes += some.size();
    if (bytes > kStateBytesMax) return Error{ErrorCode::kTooBig, "the state is longer than 4 GiB"};
    return write_all_of(some, file.get());
  });
  if (!written) return Error{written.error().code, path_ + ": " + written.error().reason};
  if (const auto given = give_to_owner(file); !given) return given.error();
  if (::fsync(file.get()) != 0) return failure(kTemporary);
  return written;
}

bool StateDirectory::is_of_another() const {
  struct stat status {};
  return ::fstat(fd_.get(), &status) == 0 && status.st_uid != ::geteuid();
}

Result<void> StateDirectory::give_to_owner(const Fd& file) const {
  struct stat directory {}, made {};
  if (::fstat(fd_.get(), &directory) != 0) return failure(".");
  if (::fstat(file.get(), &made) != 0) return failure(kTemporary);
  if (made.st_uid == directory.st_uid) return {};
  if (::fchown(file.get(), directory.st_uid, directory.st_gid) != 0) return failure(kTemporary);
  return {};
}

Result<void> StateDirectory::publish() const {
  const auto known = numbers();
  const std::string name = name_of(known.empty() ? 1 : known.front() + 1);
  if (::renameat(fd_.get(), kTemporary, fd_.get(), name.c_str()) != 0) {
    const Error error = failure(name);
    ::unlinkat(fd_.get(), kTemporary, 0);
    return error;
  }
  if (::fsync(fd_.get()) != 0) return failure(name);
  return {};
}

void StateDirectory::remove_old() const {
  const auto known = numbers();
  for (std::size_t i = kKept; i < known.size(); ++i) {
    const std::string name = name_of(known[i]);
    // What could not be read was not loaded.
    if (::faccessat(fd_.get(), name.c_str(), R_OK, AT_EACCESS) != 0 && errno == EACCES) continue;
    ::unlinkat(fd_.get(), name.c_str(), 0);
  }
}

}  // namespace tallyfs
