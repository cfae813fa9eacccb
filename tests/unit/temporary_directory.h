// A directory of a test, which goes with it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace tallyfs {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    char name[] = "/tmp/tallyfs-test-XXXXXX";
    if (::mkdtemp(name)) path_ = name;
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  std::string operator/(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace tallyfs
