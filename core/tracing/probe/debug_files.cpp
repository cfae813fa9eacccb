#include "core/tracing/probe/debug_files.h"

namespace tallyfs::tracing {
namespace {

constexpr std::size_t kBuildIdDigitsMin = 8;
constexpr std::size_t kBuildIdDigitsMax = 128;

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == text.npos;
}

}  // namespace

std::vector<std::string> debug_files_of(const std::string& path, std::string_view build_id,
                                        std::string_view name) {
  if (build_id.size() < kBuildIdDigitsMin || build_id.size() > kBuildIdDigitsMax ||
      !is_hex(build_id) || !path.starts_with('/')) {
    return {};
  }
  const std::string root = "/usr/lib/debug";
  std::vector<std::string> files = {root + "/.build-id/" + std::string(build_id.substr(0, 2)) +
                                    "/" + std::string(build_id.substr(2)) + ".debug"};
  if (name == "-" || name.empty() || name.find('/') != name.npos) return files;
  const std::string directory = path.substr(0, path.rfind('/') + 1);
  const std::string file(name);
  for (const std::string& each :
       {directory + file, directory + ".debug/" + file, root + directory + file}) {
    files.push_back(each);
  }
  return files;
}

}  // namespace tallyfs::tracing
