// The doors for people and for programs, on the stand of the statistics/ branch.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "core/base/text.h"
#include "core/tree/error_log.h"
#include "tests/unit/statistics_branch/statistics_fixture.h"

namespace tallyfs::statistics {

class StrictDoorTest : public StatisticsTest {
 protected:
  StrictDoorTest() : StatisticsTest({.errors = &log_}) {}

  // As a library's registration.
  Result<Done> register_line(std::string_view line) {
    auto parsed = wire::parse_line(line);
    auto& command = std::get<wire::CommandLine>(parsed.value());
    command.door = wire::Door::kProgram;
    return statistics_.execute(command, kAlice, clock_.now());
  }
  std::string warning(std::string_view line) {
    const auto done = execute(line);
    if (!done) return "refused: " + done.error().reason;
    return done.value().warning.empty() ? "no warning" : done.value().warning;
  }
  std::string refusal(std::string_view line) {
    const auto done = execute(line);
    return done ? "accepted" : std::to_string(done.error().token_at) + ": " + done.error().reason;
  }
  // As a line of the definition file, or of the rules.
  Result<void> write(NodeId directory, std::string_view file, std::string_view line) {
    const auto node = tree_.lookup(directory, file).value().id;
    return tree_.file(node).value()->write_line(line, clock_.now());
  }
  std::string refusal_in_file(std::string_view line) {
    const auto done = write_definition(line);
    return done ? "accepted" : std::to_string(done.error().token_at) + ": " + done.error().reason;
  }
  std::string remark_in_file(std::string_view line) {
    if (const auto done = write_definition(line); !done) return "refused: " + done.error().reason;
    const auto statistics = tree_.lookup(Tree::kRoot, "statistics").value().id;
    const auto web = tree_.lookup(statistics, "web").value().id;
    const auto file = tree_.file(tree_.lookup(web, "definition").value().id).value();
    const auto remark = file->reviewer()->remark(line);
    return remark ? std::to_string(remark->token_at) + ": " + remark->reason : "no remark";
  }
  Result<void> write_rule(std::string_view line) { return write(Tree::kRoot, "rules", line); }
  Result<void> write_definition(std::string_view line) {
    const auto statistics = tree_.lookup(Tree::kRoot, "statistics").value().id;
    return write(tree_.lookup(statistics, "web").value().id, "definition", line);
  }
  std::string definition_names(const std::string& interface) {
    const std::string text = read(interface, "definition");
    std::string names;
    Tokens tokens(text);
    while (const auto token = tokens.next()) {
      if (token->text.starts_with("name=")) names.append(token->text.substr(5)).append(" ");
    }
    return names;
  }
  std::string logged() { return log_.render(clock_.now(), 1 << 16).value(); }

  ErrorLog log_{clock_.now()};
};

}  // namespace tallyfs::statistics
