// inotify(7): which followed files were written, and which names have changed in their folders.
// There is a descriptor for each: files may be written all the time, and wait to be read together,
// while the copy of a log that is cut may be compressed within milliseconds.
// Bounds: 1,024 renames under way, and as many files that were renamed before they were opened.
// Confined to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/fd.h"

struct inotify_event;

namespace tallyfs::logs {

class ChangeWatch {
 public:
  using IsFollowed = std::function<bool(const std::string& path)>;

  // may_be_copy: whether a rotation may have made it of a followed file.
  ChangeWatch(IsFollowed is_followed, IsFollowed may_be_copy);

  // Becomes readable when a file was written; -1: there is no inotify.
  int files_fd() const { return files_inotify_.get(); }
  // Becomes readable when a name has changed; -1 as well.
  int names_fd() const { return folders_inotify_.get(); }

  // -1: its changes are not reported.
  int watch_file(int fd);
  void forget_file(int watch);
  // The file was written, and no writer has closed it since, as far as was reported.
  bool has_writer(int watch) const { return written_.contains(watch); }
  // The folder of that path. False: changes in it are not reported.
  bool watch_folder(const std::string& path);

  struct Changes {
    std::vector<int> files{};  // the watches of those that were written
    bool has_names = false;
    bool has_copies = false;
    bool is_incomplete = false;  // the kernel has dropped events: anything may have changed
  };
  Changes read();
  // Files that had followed names, and got others before they were opened: the names that they have
  // now, and those that they had.
  std::map<std::string, std::string> take_renamed();

 private:
  enum class Of { kFolders, kFiles };
  void read(Of of, Changes& changes);
  void read_event(Of of, const inotify_event& event, const std::string& name, Changes& changes);
  void read_folder_event(const inotify_event& event, const std::string& name, Changes& changes);
  void read_file_event(const inotify_event& event, Changes& changes);
  void note_rename(const inotify_event& event, const std::string& path);
  void begin_rename(const inotify_event& event, const std::string& path);

  const IsFollowed is_followed_;
  const IsFollowed may_be_copy_;
  Fd files_inotify_;
  Fd folders_inotify_;
  std::map<int, std::string> folders_;  // by their watches
  std::set<int> written_;               // the watches of files that have writers
  std::map<std::uint32_t, std::string> renames_;  // of followed names, under way
  std::map<std::string, std::string> renamed_;
};

}  // namespace tallyfs::logs
