// Replays tests/golden/stats3/13_errors and 14_sample_rates: lists of calls, and what FreeBSD's
// code answered. What lies between the calls of 13 (which memory, which damage) is not in the file
// and stands here.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/stats3/blob/rates.h"
#include "tests/unit/stats3_blob/golden.h"

namespace tallyfs::stats3::blob {
namespace {

// The answers by what was called, in their order.
class Answers {
 public:
  explicit Answers(const std::string& path) {
    std::istringstream in(read_text(path));
    for (std::string line; std::getline(in, line);) {
      if (!line.starts_with('#')) lines_.push_back(line);
    }
  }
  void expect(const std::string& line) {
    ASSERT_LT(at_, lines_.size());
    EXPECT_EQ(line, lines_[at_++]);
  }
  bool done() const { return at_ == lines_.size(); }

 private:
  std::vector<std::string> lines_;
  std::size_t at_ = 0;
};

// A call as the file has it: no blanks behind commas and around `|`.
std::string as_in_file(std::string call) {
  for (const std::string_view spaced : {", ", " |", "| "}) {
    const char kept = spaced[0] == ' ' ? spaced[1] : spaced[0];
    for (std::size_t at; (at = call.find(spaced)) != call.npos;) call.replace(at, 2, 1, kept);
  }
  return call;
}

#define SAY(call) answers.expect(as_in_file(#call) + " = " + std::to_string(call))
#define SAY_AS(text, number) answers.expect(std::string(text) + std::to_string(number))

void call_for_templates(Answers& answers) {
  const std::string long_name(65, 'n');
  const char* const n65 = long_name.c_str();
  statsblob_tpl* tp = nullptr;
  char b[80];
  SAY(stats_tpl_alloc(NULL, 0));
  SAY(stats_tpl_alloc(n65, 0));
  SAY_AS("64-char name alloc >=0: ", stats_tpl_alloc(n65 + 1, 0) >= 0);
  SAY(stats_tpl_alloc("MANPAGE", 0));
  SAY_AS("empty name alloc >=0: ", stats_tpl_alloc("", 0) >= 0);
  SAY(stats_tpl_fetch_allocid("NOPE", 0));
  SAY(stats_tpl_fetch_allocid("MANPAGE", 0));
  SAY(stats_tpl_fetch_allocid("MANPAGE", 123));
  SAY(stats_tpl_fetch_allocid(NULL, 123));
  SAY(stats_tpl_fetch(-1, &tp));
  SAY(stats_tpl_fetch(9999, &tp));
  SAY(stats_tpl_id2name(0, b, 7));
  SAY(stats_tpl_id2name(0, b, 8));
  SAY(stats_tpl_id2name(9999, b, 8));
  SAY(stats_tpl_id2name(0, NULL, 80));
}

void call_for_specifications(Answers& answers, std::uint32_t t) {
  Specs sum, dv_specs, lin0, small, big;
  voistatspec* const s = sum.sum().data();
  voistatspec* const dv = dv_specs.usr(VSD_DTYPE_DVHIST32, VSD_HIST_LBOUND_INF, {{1, 1}}).data();
  voistatspec* const l0 = lin0.lin(VSD_DTYPE_CRHIST32, 0, 10, 0).data();
  voistatspec* const hq = small.lin(VSD_DTYPE_CRHIST32, 0, 10, 1).data();
  voistatspec* const bigh = big.lin(VSD_DTYPE_CRHIST32, 0, 5000, 1).data();
  SAY(stats_tpl_add_voistats(9999, 0, "x", VSD_DTYPE_INT_U32, 1, s, 0));
  SAY(stats_tpl_add_voistats(t, -1, "x", VSD_DTYPE_INT_U32, 1, s, 0));
  SAY(stats_tpl_add_voistats(t, 0, "x", VSD_DTYPE_INT_U32, 0, s, 0));
  SAY(stats_tpl_add_voistats(t, 0, "x", VSD_DTYPE_INT_U32, 1, s, 0));
  SAY(stats_tpl_add_voistats(t, 0, "x", VSD_DTYPE_INT_U32, 1, s, 0));
  SAY(stats_tpl_add_voistats(t, 8191, "big", VSD_DTYPE_INT_U32, 1, s, 0));
  SAY(stats_tpl_add_voistats(t, 1, "dv", VSD_DTYPE_INT_U32, 1, dv, 0));
  SAY(stats_tpl_add_voistats(t, 1, "lin step 0", VSD_DTYPE_INT_U32, 1, l0, 0));
  SAY(stats_tpl_add_voistats(t, 1, "dtype CRHIST32 as VOI", VSD_DTYPE_CRHIST32, 1, hq, 0));
  SAY(stats_tpl_add_voistats(t, 1, "5001 buckets", VSD_DTYPE_INT_U32, 1, bigh, 0));
  SAY_AS("blob_alloc(9999)==NULL: ", stats_blob_alloc(9999, 0) == nullptr);
}

void call_for_memory(Answers& answers, std::uint32_t t) {
  alignas(8) char memory[256] = {};
  auto* const s2 = reinterpret_cast<statsblob*>(memory);
  s2->maxsz = 59;
  SAY(stats_blob_init(s2, t, 0));
  s2->maxsz = 256;
  SAY(stats_blob_init(s2, t, 0));
  answers.expect("maxsz after init into 256-byte buffer: " + std::to_string(s2->maxsz) + " cursz " +
                 std::to_string(s2->cursz));
  SAY(stats_blob_init(NULL, t, 0));
  SAY(stats_blob_init(s2, 9999, 0));
}

void call_for_copies(Answers& answers, statsblob* sb) {
  alignas(8) char target[256] = {};
  statsblob* d = reinterpret_cast<statsblob*>(target);
  const auto say_after = [&](const std::string& what, bool abi) {
    answers.expect("after " + what +
                   " clone: " + (abi ? "abi " + std::to_string(d->abi) + " " : "") + "maxsz " +
                   std::to_string(d->maxsz) + " cursz " + std::to_string(d->cursz));
  };
  SAY(stats_blob_clone(&d, 0, NULL, 0));
  d = nullptr;
  SAY(stats_blob_clone(&d, 100, sb, 0));
  SAY(stats_blob_clone(&d, 0, sb, SB_CLONE_ALLOCDST | SB_CLONE_USRDST));
  d = reinterpret_cast<statsblob*>(target);
  SAY(stats_blob_clone(&d, 7, sb, 0));
  SAY(stats_blob_clone(&d, 8, sb, 0));
  say_after("8-byte", true);
  SAY(stats_blob_clone(&d, 256, sb, 0));
  say_after("256-byte", false);
  SAY(stats_blob_snapshot(&d, 256, NULL, 0));
}

// Leaves the blob with an ABI that there is not.
void call_for_updates(Answers& answers, statsblob* sb) {
  SAY(stats_voi_update_abs_u32(NULL, 0, 1));
  SAY(stats_voi_update_abs_u32(sb, 0, 1));
  SAY(stats_voi_update_abs_s32(sb, 0, 1));
  SAY(stats_voi_update_rel_u32(sb, 0, 1));
  SAY(stats_voi_update_abs_u32(sb, 1, 1));
  sb->abi = 2;
  SAY(stats_voi_update_abs_u32(sb, 0, 1));
}

// Of a blob with an ABI that there is not; leaves it sound.
void call_for_texts(Answers& answers, statsblob* sb) {
  sbuf* const bf = sbuf_new_auto();
  // The file has numbers for the format's names.
  constexpr auto freeform = SB_STRFMT_FREEFORM;
  answers.expect("stats_blob_tostr(sb,bf,0,0) = " +
                 std::to_string(stats_blob_tostr(sb, bf, freeform, 0)));
  sb->abi = STATS_ABI_V1;
  answers.expect("stats_blob_tostr(sb,bf,2,0) = " +
                 std::to_string(stats_blob_tostr(sb, bf, SB_STRFMT_NUM_FMTS, 0)));
  answers.expect("stats_blob_tostr(sb,NULL,0,0) = " +
                 std::to_string(stats_blob_tostr(sb, nullptr, freeform, 0)));
  header_of(sb).tplhash ^= 1;
  answers.expect("stats_blob_tostr(sb,bf,0,SB_TOSTR_META) = " +
                 std::to_string(stats_blob_tostr(sb, bf, freeform, SB_TOSTR_META)));
  header_of(sb).tplhash ^= 1;
  char short_text[10];
  sbuf* const fx = sbuf_new(nullptr, short_text, sizeof short_text, SBUF_FIXEDLEN);
  answers.expect("stats_blob_tostr(sb,fx,0,0) = " +
                 std::to_string(stats_blob_tostr(sb, fx, freeform, 0)));
  sbuf_delete(fx);
  sbuf_delete(bf);
}

void call_for_reading(Answers& answers, statsblob* sb) {
  std::uint32_t u32v = 0;
  std::int64_t s64v = 0;
  SAY(stats_voistat_fetch_u32(sb, 0, VS_STYPE_SUM, &u32v));
  SAY_AS("value ", u32v);
  SAY(stats_voistat_fetch_s64(sb, 0, VS_STYPE_SUM, &s64v));
  SAY(stats_voistat_fetch_u32(sb, 0, VS_STYPE_MAX, &u32v));
  SAY(stats_voistat_fetch_u32(sb, 0, VS_STYPE_VOISTATE, &u32v));
  vsd_dtype dt{};
  voistatdata* vd = nullptr;
  std::size_t sz = 1;
  SAY(stats_voistat_fetch_dptr(sb, 0, VS_STYPE_VOISTATE, &dt, &vd, &sz));
  answers.expect("vacant slot fetch_dptr: ptr-blob offset " +
                 std::to_string(reinterpret_cast<char*>(vd) - reinterpret_cast<char*>(sb)) +
                 " dtype " + std::to_string(dt) + " size " + std::to_string(sz));
  SAY(stats_voistat_fetch_dptr(sb, 0, VS_STYPE_SUM, NULL, NULL, NULL));
  const stats_blob_visitcb_t vcb = [](sb_visit*, void*) { return 0; };
  SAY(stats_blob_visit(NULL, vcb, NULL));
  SAY(stats_blob_visit(sb, NULL, NULL));
}

TEST(CallsGoldenTest, ErrorsAreThoseOfFreeBsd) {
  Fixture fixture;
  Answers answers(kGolden + "13_errors/ops.txt");
  ASSERT_EQ(stats_tpl_alloc("MANPAGE", 0), 0);
  call_for_templates(answers);
  const auto t = static_cast<std::uint32_t>(stats_tpl_alloc("t", 0));
  call_for_specifications(answers, t);
  call_for_memory(answers, t);
  const OwnedBlob owned(stats_blob_alloc(t, 0));
  call_for_copies(answers, owned.get());
  call_for_updates(answers, owned.get());
  call_for_texts(answers, owned.get());
  call_for_reading(answers, owned.get());
  EXPECT_TRUE(answers.done());
}

// A subsystem's list of rates.
stats_tpl_sample_rate* g_rates = nullptr;
int g_count = 0;

int rates_callback(stats_tpl_sr_cb_action action, stats_tpl_sample_rate** rates, int* count,
                   void*) {
  if (action == TPL_SR_RUNLOCK) return 0;
  if (action == TPL_SR_PUT) {
    std::swap(*rates, g_rates);
    std::swap(*count, g_count);
    return 0;
  }
  *rates = g_rates;
  *count = g_count;
  return 0;
}

int set_rates(const std::string& text) {
  sysctl_req request{};
  request.newptr = text.data();
  request.newlen = text.size();
  return stats_tpl_sample_rates(nullptr, reinterpret_cast<void*>(&rates_callback), 0, &request);
}

std::string get_rates() {
  char old[256] = {};
  sysctl_req request{};
  request.oldptr = old;
  request.oldlen = sizeof old;
  const int error =
      stats_tpl_sample_rates(nullptr, reinterpret_cast<void*>(&rates_callback), 0, &request);
  return "get -> " + std::to_string(error) + " len=" + std::to_string(request.oldidx) + " [" + old +
         "]";
}

TEST(CallsGoldenTest, SampleRatesAreReadAndWrittenAsFreeBsdDoes) {
  Fixture fixture;
  for (const std::string& name : {std::string("A"), std::string("BETA"), std::string(64, 'x')}) {
    Specs specs;
    const auto slot = static_cast<std::uint32_t>(stats_tpl_alloc(name.c_str(), 0));
    ASSERT_EQ(stats_tpl_add_voistats(slot, 0, "V", VSD_DTYPE_INT_U32, 1, specs.sum().data(), 0), 0);
  }
  std::istringstream in(read_text(kGolden + "14_sample_rates/ops.txt"));
  std::string line;
  std::getline(in, line);
  sbuf* const list = sbuf_new_auto();
  stats_tpl_list(list);
  sbuf_finish(list);
  EXPECT_EQ(std::string("kern.stats.templates = ") + sbuf_data(list), line);
  sbuf_delete(list);
  std::string before = get_rates();
  int lines = 0;
  while (std::getline(in, line) && line.starts_with("set ")) {
    SCOPED_TRACE(line);
    const std::size_t arrow = line.find("-> ");
    std::string text = line.substr(4, arrow - 4);
    if (text.find("(empty)") != text.npos) text.clear();
    const int error = set_rates(text);
    const std::string after = get_rates();
    if (text.find("BETA=-1") != text.npos) {
      // Their sum wraps at 32 bits; ours refuses.
      EXPECT_EQ(error, EINVAL);
      EXPECT_EQ(after, before);
    } else {
      EXPECT_EQ(error, std::stoi(line.substr(arrow + 3)));
      EXPECT_EQ(after, line.substr(line.find("get -> ")));
    }
    before = after;
    ++lines;
  }
  EXPECT_EQ(lines, 34);
  sysctl_req probe{};
  std::free(std::exchange(g_rates, nullptr));
  g_count = 0;
  const int error =
      stats_tpl_sample_rates(nullptr, reinterpret_cast<void*>(&rates_callback), 0, &probe);
  EXPECT_EQ("size probe (oldptr NULL, newptr NULL, nrates=0): ret " + std::to_string(error) +
                " len " + std::to_string(probe.oldidx),
            line);
}

// 15_rollthedice.txt shows what FreeBSD's shares are; ours are the rates.
TEST(RollTheDiceTest, GivesExactSharesOverHundredths) {
  const Rates rates = {{1, 10}, {2, 20}, {3, 0}, {4, 30}};
  std::map<int, int> chosen;
  for (unsigned i = 0; i < 100; ++i) ++chosen[choose(rates.data(), rates.size(), i)];
  EXPECT_EQ(chosen, (std::map<int, int>{{-1, 40}, {1, 10}, {2, 20}, {4, 30}}));
}

TEST(RollTheDiceTest, SpreadsSeedsOfAnyLengthEvenlyAndKeepsEachOnesChoice) {
  stats_tpl_sample_rate rates[] = {{1, 10}, {2, 20}, {3, 0}, {4, 30}};
  const auto share_of = [&](auto seed_of, int seeds) {
    std::map<int, double> chosen;
    for (int i = 0; i < seeds; ++i) {
      std::string seed = seed_of(i);
      const int id = stats_tpl_sample_rollthedice(rates, 4, seed.data(), seed.size());
      EXPECT_EQ(stats_tpl_sample_rollthedice(rates, 4, seed.data(), seed.size()), id);
      chosen[id] += 100.0 / seeds;
    }
    return chosen;
  };
  const auto ascii = [](int i) { return "conn-" + std::to_string(1'000'000 + i).substr(1); };
  const auto bytes = [](std::size_t length) {
    return [length](int i) {
      std::string seed(length, '\0');
      std::memcpy(seed.data(), &i, std::min(length, sizeof i));
      return seed;
    };
  };
  for (const auto& chosen :
       {share_of(ascii, 200'000), share_of(bytes(4), 200'000), share_of(bytes(8), 200'000),
        share_of(bytes(16), 200'000), share_of(bytes(2), 65'536)}) {
    EXPECT_NEAR(chosen.at(-1), 40, 0.8);
    EXPECT_NEAR(chosen.at(1), 10, 0.8);
    EXPECT_NEAR(chosen.at(2), 20, 0.8);
    EXPECT_NEAR(chosen.at(4), 30, 0.8);
    EXPECT_EQ(chosen.count(3), 0u);
  }
  EXPECT_GE(share_of(bytes(1), 256).size(), 4u);
}

TEST(RollTheDiceTest, TakesAllAtAHundredAndNoneAtZero) {
  stats_tpl_sample_rate all[] = {{7, 100}}, none[] = {{7, 0}}, some[] = {{7, 1}};
  int sometimes = 0;
  for (int i = 0; i < 100'000; ++i) {
    EXPECT_EQ(stats_tpl_sample_rollthedice(all, 1, nullptr, 0), 7);
    EXPECT_EQ(stats_tpl_sample_rollthedice(none, 1, nullptr, 0), -1);
    sometimes += stats_tpl_sample_rollthedice(some, 1, nullptr, 0) == 7;
  }
  EXPECT_NEAR(sometimes, 1000, 200);
  EXPECT_EQ(stats_tpl_sample_rollthedice(nullptr, 1, nullptr, 0), -1);
}

}  // namespace
}  // namespace tallyfs::stats3::blob
