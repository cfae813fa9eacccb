// The directory of --state: files state.N, of which the highest N is the newest. A file is written
// as state.tmp, flushed to the disk, and then renamed, so that each state.N was complete when it
// got its name. The last kKept are kept, and those that the daemon may not read.
//
// The directory belongs to the daemon's uid, is for no other (0700), and is locked (flock) while
// this object lives: a second daemon is refused. Neither it nor a file in it is reached by a
// symbolic link. If it is removed, one that is made again at its path takes its place. Confined to
// one thread at a time. No function waits for a lock, all for the disk.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "core/branch/state.h"
#include "fs/daemon/privileges.h"

namespace tallyfs {

// The service's. Root's daemon on the service's mount point uses it if it is there.
inline constexpr const char* kDefaultState = "/var/lib/tallyfs";

class StateDirectory {
 public:
  static constexpr std::size_t kKept = 3;

  // Makes the directory if only that is missing. identity: what the daemon becomes; nothing: it
  // stays what it is. Called while it may still do everything, and behind the fork of processes
  // that outlive the daemon, as a lock is shared with children. kBusy: another daemon has it;
  // kNotPermitted: it belongs to another uid, or others may enter it, or the newest file in it is
  // not for the daemon to read; kInvalid: with the system's reason.
  static Result<StateDirectory> open(const std::string& path,
                                     const std::optional<Identity>& identity);
  // As open(), by root, of a directory that is there and may belong to any uid, which gets what is
  // written: the service that runs as that uid reads it later.
  static Result<StateDirectory> open_of_any_owner(const std::string& path);

  // Of another program, which took over the process of the one that opened it.
  static StateDirectory adopt(Fd fd);

  // One that was removed is opened anew, if there is one again. kNotFound; as open().
  Result<void> find_again();
  // kInvalid, with the reason: no file can be made in it at present.
  Result<void> check_writable() const;

  // Whether what is written is given to another uid.
  bool is_of_another() const;

  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }
  std::string path_of(std::uint64_t number) const;

  // Whether it was not removed, and has a file.
  bool has_state() const;
  // Of the files that are there, the newest first.
  std::vector<std::uint64_t> numbers() const;
  // When the newest file was written, on the wall clock; without one, when the directory was made,
  // or last changed. Nothing: the system does not say.
  std::optional<std::chrono::nanoseconds> last_written() const;
  // The size of the newest file; nothing: there is none.
  std::optional<std::uint64_t> newest_bytes() const;
  // A whole file. kInvalid, kTooBig.
  Result<std::string> read(std::uint64_t number) const;
  // Gives the file a second name, state.incomplete, under which it stays when newer ones come.
  void set_aside(std::uint64_t number) const;

  // What write_all passes to its argument becomes the newest file. After an error the directory is
  // as before.
  using WriteAll = std::function<Result<SavedState>(const StateOutput&)>;
  Result<SavedState> write(const WriteAll& write_all);

 private:
  StateDirectory(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  // owner: the uid that it must belong to; nothing: any.
  static Result<Fd> open_locked(const std::string& path, std::optional<uid_t> owner);
  Result<void> check_newest(const std::optional<Identity>& identity) const;
  Result<SavedState> write_temporary(const WriteAll& write_all) const;
  Result<void> give_to_owner(const Fd& file) const;
  Result<void> publish() const;
  void remove_old() const;
  Error failure(const std::string& what) const;

  Fd fd_;
  std::string path_;
};

}  // namespace tallyfs
