#include "tools/ctl/facts.h"

#include <algorithm>

#include "core/base/text.h"
#include "tools/ctl/commands.h"
#include "tools/display/summary.h"

namespace tallyfs {
namespace {

constexpr std::size_t kFactsShown = 10;

// The store may be of another machine: its texts must not control the terminal.
void append_whole(std::string& text, const std::string& part) {
  constexpr std::size_t kEscape = 4;  // bytes for one
  append_escaped(text, part, kEscape * part.size(), 0);
}

}  // namespace

std::string fact_text(const past::Fact& fact, const view::Look& look) {
  std::string text = look.moment(fact.span.begin_us);
  if (fact.span.end_us != fact.span.begin_us) {
    text.append(" to ").append(look.moment(fact.span.end_us));
  }
  if (!fact.interface.empty()) {
    text.append("  ");
    append_whole(text, view::shown_name(fact.interface, fact.statistic));
  }
  append_whole(text.append(": "), fact.reason);
  return text;
}

void put_facts(view::Grid& grid, const std::vector<past::Fact>& facts, const Session& session) {
  const std::size_t most = session.options.all ? facts.size() : kFactsShown;
  for (std::size_t i = 0; i < std::min(most, facts.size()); ++i) {
    grid.put_line(fact_text(facts[i], session.look), {view::Tone::kWarning});
  }
  if (facts.size() > most) {
    grid.put_line("(" + std::to_string(facts.size() - most) + " more: --all)",
                  {view::Tone::kDim});
  }
}

void complain_of_facts(const std::vector<past::Fact>& facts, const view::Look& look) {
  for (const past::Fact& each : facts) complain(kDone, fact_text(each, look));
}

void print_facts(Session& session, const Concerns& concerns) {
  session.add_damaged();
  std::vector<past::Fact> facts = session.facts;
  std::erase_if(facts, [&](const past::Fact& each) {
    return !each.interface.empty() && !concerns(each.interface, each.statistic);
  });
  if (facts.empty()) return;
  if (session.options.json) return complain_of_facts(facts, session.look);
  view::Grid grid = session.grid();
  put_facts(grid, facts, session);
  print(grid, session.terminal);
}

}  // namespace tallyfs
