#include "feeders/log/follow/missed_logs.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include "core/base/fd.h"
#include "feeders/log/follow/born_later.h"
#include "feeders/log/follow/log_paths.h"

namespace tallyfs::logs {
namespace {

// The last four bytes of a gzip(1) file, the lowest one first, are the log's size modulo 2^32 (RFC
// 1952).
std::optional<std::uint32_t> unpacked_bytes(const std::string& path) {
  if (!path.ends_with(".gz")) return std::nullopt;
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  const off_t end = fd.valid() ? ::lseek(fd.get(), 0, SEEK_END) : 0;
  std::array<unsigned char, 4> size{};
  if (end < 4 || ::pread(fd.get(), size.data(), size.size(), end - 4) != 4) return std::nullopt;
  return std::uint32_t{size[0]} | std::uint32_t{size[1]} << 8 | std::uint32_t{size[2]} << 16 |
         std::uint32_t{size[3]} << 24;
}

bool is_rotated(const std::string& compressed, const std::string& followed) {
  return is_numbered(compressed.substr(0, compressed.rfind('.')), followed);
}

struct CompressedLog {
  std::string path;
  std::chrono::nanoseconds written{0};
};

// The oldest first. Programs that compress give a file the time at which its log was written last.
std::vector<CompressedLog> compressed_logs(const std::vector<std::string>& followed) {
  std::vector<CompressedLog> found;
  for (const std::string& log : followed) {
    for (const std::string& path : matches_of(pattern_of_rotated(log))) {
      if (!is_compressed(path) || !is_rotated(path, log)) continue;
      if (const auto written = written_at(path)) found.push_back({path, *written});
    }
  }
  std::ranges::sort(found, {}, [](const auto& each) { return std::tie(each.written, each.path); });
  const auto is_same = [](const auto& a, const auto& b) { return a.path == b.path; };
  found.erase(std::unique(found.begin(), found.end(), is_same), found.end());
  return found;
}

}  // namespace

std::vector<std::string> missed_logs(const std::vector<std::string>& followed,
                                     const std::vector<LostLog>& lost,
                                     std::chrono::nanoseconds since) {
  std::vector<CompressedLog> compressed = compressed_logs(followed);
  std::vector<std::string> missed;
  for (const LostLog& each : lost) {
    const auto is_it = [&](const auto& log) { return is_rotated(log.path, each.path); };
    const auto is_all = [&](const auto& log) {
      return is_it(log) && unpacked_bytes(log.path) == static_cast<std::uint32_t>(each.offset);
    };
    const auto read = std::ranges::find_if(compressed, is_all);
    if (read != compressed.end()) {
      compressed.erase(read);
      continue;
    }
    missed.push_back(each.path + " from byte " + std::to_string(each.offset) + " on");
    const auto written = std::ranges::find_if(compressed, [&](const auto& log) {
      return is_it(log) && is_born_after(log.written, since);
    });
    if (written != compressed.end()) compressed.erase(written);
  }
  for (const CompressedLog& each : compressed) {
    if (is_born_after(each.written, since)) missed.push_back(each.path);
  }
  return missed;
}

}  // namespace tallyfs::logs
