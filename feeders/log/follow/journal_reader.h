// Entries of systemd's journal, by libsystemd: their message as a line, and the fields that rules
// name. Confined to one thread.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

struct sd_journal;

namespace tallyfs::logs {

class JournalReader {
 public:
  // The cursor where there was no entry yet: all that come are new.
  static constexpr std::string_view kHead = "head";

  struct Settings {
    std::string directory{};           // empty: the system's
    std::vector<std::string> units{};  // empty: entries of all
    std::vector<std::string> fields{};
    std::string cursor{};  // after which it continues; empty: as is_from_start says
    bool is_from_start = false;
  };
  // kInvalid: there is no journal, or this user may not read it.
  static Result<JournalReader> open(Settings settings);

  // Where it began.
  struct Place {
    std::string cursor{};  // of the entry before, or kHead; empty: there is none
    bool is_lost = false;  // the entry of the settings' cursor is gone
  };
  const Place& place() const { return place_; }

  int fd() const;
  struct Entry {
    std::string_view message;
    std::span<const std::optional<std::string_view>> fields;  // by the settings
    std::string_view cursor;                                  // of it
    bool is_cut = false;  // the message, which is longer than a line of a file may be
  };
  // The next one, whose texts live until the next call. Nothing: there is none for now.
  std::optional<Entry> next();
  // errno of the last next(), 0 if it has not failed.
  int error() const { return error_; }
  // Acknowledges the readiness of fd(), so that it can become readable again.
  void acknowledge();
  void set_fields(std::vector<std::string> fields);

 private:
  struct Close {
    void operator()(sd_journal* journal) const;
  };
  explicit JournalReader(sd_journal* journal) : journal_(journal) {}
  int begin(const Settings& settings);
  int continue_after(const std::string& cursor);
  int add_units(const std::vector<std::string>& units);
  std::string current_cursor() const;
  // The field up to the bytes of a line, and one more if it has more.
  std::optional<std::string> field(const std::string& name);

  std::unique_ptr<sd_journal, Close> journal_;
  std::vector<std::string> fields_;
  std::vector<std::optional<std::string>> texts_;
  std::vector<std::optional<std::string_view>> values_;
  std::optional<std::string> message_;
  std::string cursor_;
  Place place_;
  int error_ = 0;
};

}  // namespace tallyfs::logs
