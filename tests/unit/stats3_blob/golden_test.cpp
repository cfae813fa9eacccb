// Replays tests/golden/stats3, byte for byte: blobs, texts, visits, return values.
#include "tests/unit/stats3_blob/golden.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "core/stats3/blob/text.h"

namespace tallyfs::stats3::blob {
namespace {

std::string hex_of(const statsblob* sb) {
  std::string out;
  for (int i = 0; i < sb->cursz; ++i) {
    char piece[8];
    std::snprintf(piece, sizeof piece, "%02x%c", bytes_of(sb)[i], i % 16 == 15 ? '\n' : ' ');
    out += piece;
  }
  return out + "\n";
}

std::string visit_of(statsblob* sb) {
  std::string out;
  const auto callback = [](sb_visit* visit, void* context) {
    char line[160];
    std::snprintf(line, sizeof line,
                  "voi_id=%d voi_dtype=%s stype=%d dtype=%s dsz=%d errs=%u flags=0x%04x\n",
                  visit->voi_id, name_of_dtype(visit->voi_dtype), visit->vs_stype,
                  name_of_dtype(visit->vs_dtype), visit->vs_dsz, visit->vs_errs, visit->flags);
    *static_cast<std::string*>(context) += line;
    return 0;
  };
  const int result = stats_blob_visit(sb, callback, &out);
  return out + "ret=" + std::to_string(result) + "\n";
}

std::string without_address(std::string text) {
  const std::size_t at = text.find("@0x");
  if (at != text.npos)
    text.replace(at + 1, text.find_first_not_of("0123456789abcdef", at + 3) - at - 1, "ADDR");
  return text;
}

// A copy of a blob at one moment.
OwnedBlob copy_of(statsblob* sb) {
  statsblob* copy = nullptr;
  EXPECT_EQ(stats_blob_clone(&copy, 0, sb, SB_CLONE_ALLOCDST), 0);
  return OwnedBlob(copy);
}

class Replay {
 public:
  explicit Replay(const std::string& name) : directory_(kGolden + name + "/") {}

  void run() {
    std::istringstream ops(read_text(directory_ + "ops.txt"));
    for (std::string line; std::getline(ops, line);) obey(line);
    moments_["end"] = copy_of(blob());
    compare();
  }
  int files() const { return files_; }

 private:
  void obey(const std::string& line) {
    SCOPED_TRACE(line);
    if (line.starts_with("# vss")) return named_.define(line);
    if (line.starts_with('#') || line.empty()) return;
    if (line.starts_with("tpl_alloc")) return alloc(line);
    if (line.starts_with("tpl_add")) return add(line);
    if (line.starts_with("snapshot")) return snapshot(line);
    ASSERT_TRUE(line.starts_with("abs ") || line.starts_with("rel "))
        << "an op of which the test does not know";
    EXPECT_EQ(update(blob(), line.substr(0, 3), line.substr(4, line.find(' ', 4) - 4),
                     static_cast<int>(number_after(line, "voi=")), word_after(line, "val=")),
              number_after(line, "-> "));
  }

  void alloc(const std::string& line) {
    slot_ = stats_tpl_alloc(word_after(line, "name=").c_str(), 0);
    ASSERT_GE(slot_, 0);
    EXPECT_EQ(tpl().mb->tplhash, number_after(line, "template "));
  }

  void add(const std::string& line) {
    Specs specs;
    named_.append(specs, word_after(line, " : "));
    ASSERT_EQ(specs.size(), number_after(line, "nvss="));
    EXPECT_EQ(
        stats_tpl_add_voistats(
            static_cast<std::uint32_t>(slot_), static_cast<int>(number_after(line, "voi=")),
            word_after(line, "name=").c_str(), dtype_of(word_after(line, "dtype=")), specs.size(),
            specs.data(), static_cast<std::uint32_t>(number_after(line, "flags="))),
        number_after(line, "-> "));
    EXPECT_EQ(tpl().mb->tplhash, number_after(line, "hash now "));
    EXPECT_EQ(tpl().sb->cursz, number_after(line, "cursz "));
  }

  void snapshot(const std::string& line) {
    moments_["before"] = copy_of(blob());
    const std::string wanted = word_after(line, "snapshot ");
    std::uint32_t flags = 0;
    if (wanted.find("ALLOCDST") != wanted.npos) flags |= SB_CLONE_ALLOCDST;
    if (wanted.find("RSTSRC") != wanted.npos) flags |= SB_CLONE_RSTSRC;
    const std::chrono::duration<double> time(std::stod(word_after(line, "t=")));
    fixture_.clock.advance(std::chrono::duration_cast<std::chrono::nanoseconds>(time) -
                           fixture_.clock.now().monotonic);
    statsblob* taken = nullptr;
    EXPECT_EQ(stats_blob_snapshot(&taken, 0, blob(), flags), number_after(line, "-> "));
    moments_["snapshot"] = OwnedBlob(taken);
    moments_["src_after_reset"] = copy_of(blob());
  }

  // Which state a file shows is in its name, behind a letter: a_fresh_..., b_updated_...; the last
  // one if there is none.
  void compare() {
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
      const std::string name = entry.path().stem();
      if (name == "ops") continue;
      SCOPED_TRACE(entry.path().string());
      std::string moment = "end";
      for (const auto& [known, unused] : moments_) {
        if (name.find("_" + known + "_") != name.npos &&
            known.size() > (moment == "end" ? 0 : moment.size()))
          moment = known;
      }
      if (name.starts_with("a_") && name.ends_with("visit")) moment = "fresh";
      if (name.find("src_rel2_after_reset") != name.npos) moment = "end";
      statsblob* const sb = moments_.at(moment).get();
      EXPECT_EQ(produced(sb, name), read_text(entry.path()));
      ++files_;
    }
  }

  static std::string produced(statsblob* sb, const std::string& name) {
    if (name.ends_with("blob")) return hex_of(sb);
    if (name.ends_with("visit")) return visit_of(sb);
    std::uint32_t flags = 0;
    if (name.find("_meta") != name.npos) flags |= SB_TOSTR_META;
    if (name.find("_objdump") != name.npos) flags |= SB_TOSTR_OBJDUMP;
    const auto format = name.find("json") != name.npos ? SB_STRFMT_JSON : SB_STRFMT_FREEFORM;
    return without_address(text_of(sb, format, flags));
  }

  statsblob_tpl& tpl() {
    statsblob_tpl* tpl = nullptr;
    EXPECT_EQ(stats_tpl_fetch(slot_, &tpl), 0);
    return *tpl;
  }
  // Made when the first op needs it.
  statsblob* blob() {
    if (!blob_) {
      blob_.reset(stats_blob_alloc(static_cast<std::uint32_t>(slot_), 0));
      moments_["fresh"] = copy_of(blob_.get());
    }
    return blob_.get();
  }

  std::string directory_;
  Fixture fixture_;
  NamedSpecs named_;
  int slot_ = -1;
  int files_ = 0;
  OwnedBlob blob_;
  std::map<std::string, OwnedBlob> moments_;
};

TEST(GoldenTest, EveryBlobAndTextComesOutAsFreeBsdMadeIt) {
  int files = 0, cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kGolden)) {
    const std::string name = entry.path().filename();
    // 13 and 14 are lists of calls (calls_golden_test.cpp); what has no directory is about dice.
    if (!entry.is_directory() || name.starts_with("13_") || name.starts_with("14_")) continue;
    SCOPED_TRACE(name);
    Replay replay(name);
    replay.run();
    files += replay.files();
    ++cases;
  }
  EXPECT_GE(cases, 5);
  EXPECT_GE(files, 83);
}

TEST(FormatTest, TheWorkedExampleIsWhatTheCallsMake) {
  std::istringstream in(read_text(TALLY_SOURCE_DIR "/core/stats3/blob/FORMAT.md"));
  std::string line, wanted, made;
  while (std::getline(in, line) && line != "```hex") {
  }
  while (std::getline(in, line) && line != "```") wanted += line.substr(0, line.find(' '));
  Fixture fixture;
  Specs specs;
  const auto sb = make_blob(VSD_DTYPE_INT_U32, specs.sum());
  ASSERT_EQ(stats_voi_update_abs_u32(sb.get(), 0, 7), 0);
  for (const char c : hex_of(sb.get())) {
    if (!std::isspace(static_cast<unsigned char>(c))) made += c;
  }
  EXPECT_EQ(made, wanted);
}

}  // namespace
}  // namespace tallyfs::stats3::blob
