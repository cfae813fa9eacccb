// Where tallyfs was built with TALLYFS_PAST=OFF, this is compiled instead of database.cpp and
// compression.cpp: no store can be opened, and the reason says why.
#include "tools/past/compression.h"
#include "tools/past/database.h"

namespace tallyfs::past {
namespace {

const Error kAbsent{ErrorCode::kNoDevice,
                    "this program was built without the store of the past (TALLYFS_PAST=OFF)"};

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt*) const {}
Statement& Statement::bind(std::uint64_t) { return *this; }
Statement& Statement::bind(std::string_view) { return *this; }
Statement& Statement::bind_bytes(std::string_view) { return *this; }
Result<bool> Statement::step() { return kAbsent; }
Result<void> Statement::run() { return kAbsent; }
std::uint64_t Statement::number(int) const { return 0; }
std::string_view Statement::text(int) const { return {}; }
std::string_view Statement::bytes(int) const { return {}; }

void Database::Close::operator()(sqlite3*) const {}
Result<Database> Database::open_to_write(const std::string&) { return kAbsent; }
Result<Database> Database::open_to_read(const std::string&) { return kAbsent; }
Result<void> Database::run(const std::string&) { return kAbsent; }
Result<Statement> Database::prepare(const std::string&) { return kAbsent; }
Result<std::uint64_t> Database::number(const std::string&) { return kAbsent; }
Result<void> Database::checkpoint() { return kAbsent; }

std::string compress(std::string_view, Effort) { return {}; }
std::optional<std::string> decompress(std::string_view, std::size_t) { return std::nullopt; }

bool can_compress() { return false; }
void StreamPacker::Free::operator()(void*) const {}
StreamPacker::StreamPacker() = default;
std::string StreamPacker::add(std::string_view) { return {}; }
std::string StreamPacker::end() { return {}; }
void StreamUnpacker::Free::operator()(void*) const {}
StreamUnpacker::StreamUnpacker() = default;
bool StreamUnpacker::add(std::string_view, std::string&) { return false; }

}  // namespace tallyfs::past
