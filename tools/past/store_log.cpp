#include "tools/past/store_log.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

#include "core/base/text.h"
#include "tools/past/store.h"

namespace tallyfs::past {
namespace {

// The bytes of past.sqlite-shm that a transaction locks for reading, and the one of the writer
// ("WAL-mode File Format" of SQLite's documentation).
constexpr std::uint64_t kWriterLock = 120;
constexpr std::uint64_t kFirstLock = 123;
constexpr std::uint64_t kLastLock = 127;

// Where past.sqlite-shm has numbers of frames: the newest that was committed, those that are in the
// database, and the newest one of each lock for reading. Numbers have 32 bits, in this machine's
// order of bytes.
constexpr std::size_t kCommitted = 16;
constexpr std::size_t kInDatabase = 96;
constexpr std::size_t kReadMarks = 100;
constexpr std::size_t kIndexBytes = 136;

std::optional<struct stat> status_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

std::uint64_t number_at(std::string_view index, std::size_t at) {
  std::uint32_t number = 0;
  if (at + sizeof number > index.size()) return 0;
  std::memcpy(&number, index.data() + at, sizeof number);
  return number;
}

// The first lock is of readers that need the database alone.
LogHolder holder_of(int process, std::uint64_t byte, std::string_view index) {
  const std::size_t mark = kReadMarks + (byte - kFirstLock) * sizeof(std::uint32_t);
  const std::uint64_t frame = number_at(index, byte == kFirstLock ? kInDatabase : mark);
  return {process, byte, frame, frame < number_at(index, kCommitted)};
}

std::string first_bytes(const std::string& path, std::size_t bytes) {
  std::string made(bytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(made.data(), static_cast<std::streamsize>(bytes));
  made.resize(static_cast<std::size_t>(file.gcount()));
  return made;
}

struct Lock {
  int process = 0;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

// The words of "7: POSIX  ADVISORY  READ  1234 08:01:4711 124 124"; a lock that is waited for has
// "->" before POSIX. The device is not compared: of some file systems stat() has another one.
std::optional<Lock> lock_of(std::string_view line, std::uint64_t inode) {
  Tokens tokens(line);
  std::vector<std::string_view> words;
  while (const auto token = tokens.next()) words.push_back(token->text);
  if (words.size() != 8 || words[1] != "POSIX") return std::nullopt;
  const std::string_view file = words[5];
  const auto number = parse_unsigned(file.substr(file.rfind(':') + 1));
  const auto first = parse_unsigned(words[6]);
  const auto last = parse_unsigned(words[7]);
  const auto process = parse_unsigned(words[4]);
  if (number != inode || !first || !last || !process || *process == 0) return std::nullopt;
  return Lock{static_cast<int>(*process), *first, *last};
}

}  // namespace

std::string log_of(const std::string& directory) { return file_of(directory) + "-wal"; }

std::uint64_t log_bytes(const std::string& directory) {
  const auto status = status_of(log_of(directory));
  return status ? static_cast<std::uint64_t>(status->st_size) : 0;
}

std::vector<LogHolder> log_holders_of(std::string_view locks, std::uint64_t inode,
                                      std::string_view index) {
  std::vector<LogHolder> made;
  std::vector<int> writers;
  while (!locks.empty()) {
    const std::string_view line = locks.substr(0, locks.find('\n'));
    locks.remove_prefix(std::min(line.size() + 1, locks.size()));
    const auto lock = lock_of(line, inode);
    if (!lock) continue;
    if (lock->first <= kWriterLock && lock->last >= kWriterLock) writers.push_back(lock->process);
    if (lock->first > kLastLock || lock->last < kFirstLock) continue;
    const LogHolder holder =
        holder_of(lock->process, std::max(lock->first, kFirstLock), index);
    if (std::ranges::count(made, holder) == 0) made.push_back(holder);
  }
  std::erase_if(made, [&](const LogHolder& each) {
    return std::ranges::count(writers, each.process) != 0;
  });
  return made;
}

std::vector<LogHolder> log_holders(const std::string& directory) {
  const std::string index = file_of(directory) + "-shm";
  const auto status = status_of(index);
  if (!status) return {};
  std::ifstream file("/proc/locks");
  const std::string locks{std::istreambuf_iterator<char>(file), {}};
  return log_holders_of(locks, status->st_ino, first_bytes(index, kIndexBytes));
}

}  // namespace tallyfs::past
