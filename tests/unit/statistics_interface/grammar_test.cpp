// Does what the sessions in core/statistics/definition/GRAMMAR.md do, and compares.
#include <fstream>
#include <sstream>

#include "core/base/text.h"
#include "tests/unit/statistics_interface/fixture.h"

namespace tallyfs::statistics {
namespace {

constexpr std::chrono::seconds kFirstCommandAt(10);

// The blocks fenced as ```session.
std::vector<std::string> sessions() {
  std::ifstream file(TALLY_SOURCE_DIR "/core/statistics/definition/GRAMMAR.md");
  std::vector<std::string> found;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("```")) {
      inside = line == "```session";
      if (inside) found.emplace_back();
    } else if (inside) {
      found.back() += line + "\n";
    }
  }
  return found;
}

std::string show(std::string_view line, const Error& error) {
  return std::string(line) + "\n" + std::string(error.token_at, ' ') + "^ " + error.reason + "\n";
}

// What a terminal shows after the command.
std::string answer(Fixture& fixture, const std::string& command) {
  constexpr std::string_view kEcho = "echo ";
  constexpr std::string_view kTo = " > definition";
  if (command == "cat definition") return fixture.definition();
  if (command.starts_with(kEcho)) {
    const std::string line =
        command.substr(kEcho.size(), command.size() - kEcho.size() - kTo.size());
    const auto done = fixture.interface->define(line, fixture.clock.now());
    if (done) return "";
    const Error error = without_strict_mark(done.error(), line);
    return show(error.text.empty() ? line : error.text, error);
  }
  Tokens tokens(command);
  EXPECT_EQ(tokens.next()->text, "create");
  const Token name = *tokens.next();
  fixture.create(name.text, tokens.rest().text);
  return "";
}

TEST(GrammarTest, TheSessionsOfTheManualGoAsItSays) {
  const auto all = sessions();
  EXPECT_GE(all.size(), 4u);
  for (const std::string& session : all) {
    Fixture fixture;
    fixture.clock.advance(kFirstCommandAt);
    std::istringstream lines(session);
    std::string happened;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("$ ")) continue;
      happened += line + "\n" + answer(fixture, line.substr(2));
      fixture.clock.advance(std::chrono::seconds(1));
    }
    EXPECT_EQ(happened, session);
  }
}

}  // namespace
}  // namespace tallyfs::statistics
