#include "tools/past/database.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tallyfs::past {
namespace {

constexpr int kBusyMs = 1000;

Error error_of(sqlite3* file) {
  const std::string text = sqlite3_errmsg(file);
  switch (sqlite3_errcode(file) & 0xff) {
    case SQLITE_FULL:
      return {ErrorCode::kNoSpace, "the disk is full"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorCode::kBusy, "the store is in use: " + text};
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return {ErrorCode::kNoAccess, "no right to write the store: " + text};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return invalid("the store is damaged (" + text + "); move it away, and restart the recorder");
    default:
      return invalid("the store: " + text);
  }
}

Error error_of_open(const std::string& path, sqlite3* file) {
  if (file && sqlite3_errcode(file) != SQLITE_CANTOPEN) return error_of(file);
  const int number = errno;
  if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT) {
    return {ErrorCode::kNotFound, path + ": it is not there"};
  }
  const int code = ::access(path.c_str(), R_OK) != 0 ? errno : number;
  return {code == EACCES ? ErrorCode::kNoAccess : ErrorCode::kInvalid,
          path + ": " + std::strerror(code)};
}

// No code that a file contains can run here (SQLite's advice for untrusted files).
void distrust(sqlite3* file) {
  sqlite3_db_config(file, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(file, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(file, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(file, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
}

// A copy of a store has no -wal. Without it SQLite would want to write one.
std::string address_of(const std::string& path) {
  std::string made("file:");
  for (const char each : path) {
    if (each == '%' || each == '?' || each == '#') {
      constexpr std::string_view kHex = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(each);
      made.append("%").append(1, kHex[byte >> 4]).append(1, kHex[byte & 15]);
    } else {
      made.push_back(each);
    }
  }
  const bool is_copy = ::access((path + "-wal").c_str(), F_OK) != 0;
  return made.append(is_copy ? "?immutable=1" : "?mode=ro");
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement& Statement::bind(std::uint64_t value) {
  sqlite3_bind_int64(statement_.get(), ++bound_, static_cast<sqlite3_int64>(value));
  return *this;
}

Statement& Statement::bind(std::string_view text) {
  sqlite3_bind_text64(statement_.get(), ++bound_, text.data(), text.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind_bytes(std::string_view bytes) {
  sqlite3_bind_blob64(statement_.get(), ++bound_, bytes.data(), bytes.size(), SQLITE_STATIC);
  return *this;
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
  bound_ = 0;
}

Result<bool> Statement::step() {
  const int status = sqlite3_step(statement_.get());
  if (status == SQLITE_ROW) return true;
  const Error error =
      status == SQLITE_DONE ? Error{} : error_of(sqlite3_db_handle(statement_.get()));
  reset();
  if (status != SQLITE_DONE) return error;
  return false;
}

Result<void> Statement::run() {
  const auto row = step();
  if (!row) return row.error();
  if (row.value()) reset();
  return {};
}

std::uint64_t Statement::number(int column) const {
  return static_cast<std::uint64_t>(sqlite3_column_int64(statement_.get(), column));
}

std::string_view Statement::text(int column) const { return bytes(column); }

std::string_view Statement::bytes(int column) const {
  const void* const data = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (!data) return {};
  return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
}

void Database::Close::operator()(sqlite3* file) const { sqlite3_close_v2(file); }

Result<Database> Database::open(const std::string& path, int flags) {
  sqlite3* file = nullptr;
  const int status = sqlite3_open_v2(path.c_str(), &file,
                                     flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  Database made(file);
  if (status != SQLITE_OK) return error_of_open(path, file);
  sqlite3_busy_timeout(file, kBusyMs);
  distrust(file);
  return made;
}

Result<Database> Database::open_to_write(const std::string& path) {
  auto made = open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (!made) return made;
  ::chmod(path.c_str(), 0640);
  // Readers may have no right to make -wal and -shm: both stay when the writer ends.
  int persists = 1;
  sqlite3_file_control(made.value().file_.get(), "main", SQLITE_FCNTL_PERSIST_WAL, &persists);
  // A crash of the machine loses the newest transactions at most; a kill loses none.
  const auto done = made.value().run(
      "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
      "PRAGMA journal_size_limit=4194304; PRAGMA cell_size_check=ON");
  if (!done) return done.error();
  return made;
}

Result<Database> Database::open_to_read(const std::string& path) {
  auto made = open(address_of(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
  if (!made && ::access(path.c_str(), R_OK) != 0) return error_of_open(path, nullptr);
  if (!made) return made;
  const auto done = made.value().run("PRAGMA query_only=ON; PRAGMA cell_size_check=ON");
  if (!done) return done.error();
  return made;
}

Result<void> Database::run(const std::string& sql) {
  if (sqlite3_exec(file_.get(), sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return {};
  return error_of(file_.get());
}

Result<Statement> Database::prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const int status = sqlite3_prepare_v2(file_.get(), sql.c_str(), static_cast<int>(sql.size()),
                                        &statement, nullptr);
  if (status != SQLITE_OK) return error_of(file_.get());
  return Statement(statement);
}

Result<std::uint64_t> Database::number(const std::string& sql) {
  auto statement = prepare(sql);
  if (!statement) return statement.error();
  const auto row = statement.value().step();
  if (!row) return row.error();
  return row.value() ? statement.value().number(0) : 0;
}

Result<void> Database::checkpoint() {
  const int status =
      sqlite3_wal_checkpoint_v2(file_.get(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  if (status == SQLITE_OK) return {};
  return error_of(file_.get());
}

}  // namespace tallyfs::past
