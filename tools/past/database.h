// SQLite, for the store: a file that is open, and statements on it. Errors say what to do.
//
// kNoSpace: the disk is full. kBusy: another program holds what is needed. kNotFound, kNoAccess:
// the file cannot be opened. kInvalid: all else, damage too. Confined to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tallyfs::past {

// Texts and bytes that are bound live until the next step() has returned.
class Statement {
 public:
  Statement& bind(std::uint64_t value);
  Statement& bind(std::string_view text);
  Statement& bind_bytes(std::string_view bytes);

  // True: there is a row. After the last one, and after an error, it may be bound again.
  Result<bool> step();
  // Runs a statement without rows.
  Result<void> run();
  // Visits each row; the visit reads the columns.
  template <typename Visit>
  Result<void> each_row(const Visit& visit) {
    for (;;) {
      const auto found = step();
      if (!found) return found.error();
      if (!found.value()) return {};
      visit();
    }
  }

  // A column of the row; a text is good until the next step().
  std::uint64_t number(int column) const;
  std::string_view text(int column) const;
  std::string_view bytes(int column) const;

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}

 private:
  void reset();

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bound_ = 0;
};

class Database {
 public:
  // Makes the file where there is none, 0640, and opens it for one writer beside readers (WAL).
  static Result<Database> open_to_write(const std::string& path);
  // Changes nothing, whatever the file says.
  static Result<Database> open_to_read(const std::string& path);

  // One or more statements without parameters and rows.
  Result<void> run(const std::string& sql);
  Result<Statement> prepare(const std::string& sql);
  // Returns the only column of the only row.
  Result<std::uint64_t> number(const std::string& sql);
  // Moves what was written into the file, as far as no reader holds it.
  Result<void> checkpoint();

  struct Close {
    void operator()(sqlite3* file) const;
  };

 private:
  explicit Database(sqlite3* file) : file_(file) {}
  static Result<Database> open(const std::string& path, int flags);

  std::unique_ptr<sqlite3, Close> file_;
};

}  // namespace tallyfs::past
