// `top` as it draws a recording, at three widths and in each kind of colours, beside
// tests/golden/ctl/top.*.txt. With TALLY_GOLDEN=write in the environment the pictures are written.
#include <gtest/gtest.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>

#include "tools/ctl/top_draw.h"
#include "tools/ctl/top_model.h"
#include "tools/display/terminal_text.h"
#include "tools/tree/source.h"

namespace tallyfs {
namespace {

const std::string kPictures = TALLY_SOURCE_DIR "/tests/golden/ctl/";

// At its last moment.
TopModel played_recording() {
  TopModel model;
  const auto source = open_recording(kPictures + "all.jsonl");
  EXPECT_TRUE(source);
  for (auto next = Source::Next::kMoment; next == Source::Next::kMoment;
       next = source.value()->next({}).value()) {
    model.take(read_tree(*source.value()).value());
    model.take(read_interface(*source.value(), model.selected()).value(), 1'000'000);
  }
  return model;
}

std::string clock_of(std::uint64_t realtime_us) {
  const std::uint64_t second = realtime_us / 1'000'000 % 86'400;
  return std::to_string(second / 3600) + ":" + std::to_string(second / 60 % 60) + ":" +
         std::to_string(second % 60);
}

class TopPictureTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::setlocale(LC_CTYPE, "C.UTF-8")) GTEST_SKIP() << "no locale C.UTF-8";
  }

  std::string picture(int width, view::Colours colours, TopScreen::Page page, TopScreen::Picture of,
                      view::Charset charset = view::Charset::kUtf8, int height = 20) {
    TopScreen screen{.height = height, .where = "/run/tallyfs/mnt", .every = "1s"};
    screen.page = page;
    screen.picture = of;
    const view::Look look{.width = width, .charset = charset, .cut = true, .clock = clock_of};
    view::Grid grid(width, charset);
    draw_top(grid, model_, screen, colours, look);
    return view::terminal_text(grid, colours, view::Theme::kDark);
  }
  // All pages, one below the other.
  std::string pictures(int width, view::Colours colours) {
    using Page = TopScreen::Page;
    using Picture = TopScreen::Picture;
    std::string all = picture(width, colours, Page::kList, Picture::kHeat);
    all.append(picture(width, colours, Page::kList, Picture::kBars));
    all.append(picture(width, colours, Page::kZoom, Picture::kHeat));
    if (colours != view::Colours::kNone) return all;
    all.append(picture(width, colours, Page::kZoom, Picture::kBars));
    all.append(picture(width, colours, Page::kHelp, Picture::kHeat));
    return all.append(picture(width, colours, Page::kList, Picture::kHeat, view::Charset::kAscii));
  }
  static void expect_same(const std::string& name, const std::string& shown) {
    const char* const wanted = std::getenv("TALLY_GOLDEN");
    if (wanted && std::string_view(wanted) == "write") std::ofstream(kPictures + name) << shown;
    std::ifstream kept(kPictures + name);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(kept), {}), shown) << name;
  }

  TopModel model_ = played_recording();
};

TEST_F(TopPictureTest, FitsItsWidth) {
  for (const int width : {60, 100, 200}) {
    expect_same("top." + std::to_string(width) + ".txt", pictures(width, view::Colours::kNone));
  }
}

// What the terminal of most people has.
TEST_F(TopPictureTest, FitsEightyByTwentyFour) {
  using Page = TopScreen::Page;
  using Picture = TopScreen::Picture;
  std::string all;
  model_.set_filter("web");
  for (const Page page : {Page::kList, Page::kZoom, Page::kHelp}) {
    const std::string shown =
        picture(80, view::Colours::kNone, page, Picture::kHeat, view::Charset::kUtf8, 24);
    EXPECT_EQ(std::ranges::count(shown, '\n'), 24);
    all.append(shown);
  }
  expect_same("top.80.txt", all);
}

TEST_F(TopPictureTest, HasTheColoursOfItsTerminal) {
  for (const auto& [name, colours] :
       {std::pair("top.256.txt", view::Colours::k256), {"top.16.txt", view::Colours::k16}}) {
    std::string all;
    for (const int width : {60, 100, 200}) all.append(pictures(width, colours));
    expect_same(name, all);
  }
}

}  // namespace
}  // namespace tallyfs
