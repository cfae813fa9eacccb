#include "fs/daemon/absolute_path.h"

namespace tallyfs {

std::filesystem::path absolute_path(const std::string& path, std::error_code& error) {
  auto absolute = std::filesystem::absolute(path, error).lexically_normal();
  if (!absolute.has_filename()) absolute = absolute.parent_path();
  return absolute;
}

}  // namespace tallyfs
