// Searches of program files in processes of their own.
#include "feeders/kernel/place_finder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/tracing/probe/debug_files.h"
#include "tests/unit/fake_clock.h"
#include "tests/unit/temporary_directory.h"
#include "tests/unit/tracing/built_elf.h"

namespace tallyfs {
namespace {

using namespace std::chrono_literals;

constexpr int kLongMs = 20'000;

class PlaceFinderTest : public testing::Test {
 protected:
  PlaceFinder finder(PlaceFinder::Search search = search_and_end) {
    return {clock_, [this](const wire::Reply& reply) { replies_.push_back(reply); },
            std::move(search)};
  }
  // Until a search has got on as far as it goes.
  static void finish(PlaceFinder& finder) {
    while (finder.fd() >= 0) {
      pollfd waited{.fd = finder.fd(), .events = POLLIN, .revents = 0};
      ASSERT_GT(::poll(&waited, 1, kLongMs), 0);
      finder.step();
    }
  }
  // What is found, or the reason.
  std::string answer() {
    if (replies_.size() != 1) return std::to_string(replies_.size()) + " replies";
    const wire::Reply reply = std::move(replies_.front());
    replies_.clear();
    if (const auto* const found = std::get_if<wire::Found>(&reply)) return found->text;
    const auto* const refused = std::get_if<wire::Refused>(&reply);
    return refused ? refused->error.reason : "another reply";
  }
  std::string find(const std::string& place, char kind = 'p') {
    PlaceFinder finder = this->finder();
    finder.find({.number = 7, .kind = kind, .place = place});
    finish(finder);
    return answer();
  }
  std::string write(const char* name, const tracing::BuiltElf& elf) const {
    std::ofstream(directory_ / name, std::ios::binary) << elf.bytes();
    return directory_ / name;
  }

  const TemporaryDirectory directory_;
  FakeClock clock_{1h};
  std::vector<wire::Reply> replies_;
};

tracing::BuiltElf elf_of(std::vector<tracing::BuiltSymbol> symbols) {
  tracing::BuiltElf elf;
  elf.symbols = std::move(symbols);
  return elf;
}

TEST_F(PlaceFinderTest, FindsFunctionsAndMarkersOfAFile) {
  const std::string path = write("program", elf_of({{"alpha", 0x401010, 16}}));
  EXPECT_EQ(find(path + ":alpha"), "x86_64\n4112 0\n");
  EXPECT_EQ(find(path + ":alpha", 'r'), "x86_64\n4112 0\n");
  EXPECT_EQ(find(path + ":beta"), "no function beta");
  EXPECT_EQ(find(path + ":app:start"), "no marker app:start: the file has none");
}

TEST_F(PlaceFinderTest, SaysWhatIsWrongWithAFile) {
  EXPECT_EQ(find("/nowhere/x:f"), "cannot open /nowhere/x: No such file or directory");
  EXPECT_EQ(find("/tmp:f"), "/tmp is no program: it is no file");
  EXPECT_EQ(find("/dev/zero:f"), "/dev/zero is no program: it is no file");
  const std::string fifo = directory_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(find(fifo + ":f"), fifo + " is no program: it is no file");
  std::ofstream(directory_ / "script") << "#!/bin/sh\n";
  EXPECT_EQ(find((directory_ / "script") + ":f"), "no program: the file is not ELF");
}

std::string build_id_note(const std::string& id) {
  std::string note;
  ByteWriter out(note);
  for (const std::uint32_t word : {4U, static_cast<std::uint32_t>(id.size()), 3U}) out.put(word);
  return note + std::string("GNU", 4) + id;
}

TEST_F(PlaceFinderTest, AStrippedFileHasTheSymbolsOfTheDebugFileOfItsBuild) {
  tracing::BuiltElf program;
  program.more = {{.name = ".note", .bytes = build_id_note("12345678"), .type = 7},
                  {.name = ".gnu_debuglink", .bytes = std::string("program.debug\0\0\0\0", 17)}};
  const std::string path = write("program", program);
  EXPECT_EQ(find(path + ":hidden"), "no function hidden (the file is stripped)");
  tracing::BuiltElf debug = elf_of({{"hidden", 0x401020, 16}});
  debug.more = {{.name = ".note", .bytes = build_id_note("87654321"), .type = 7}};
  write("program.debug", debug);
  EXPECT_EQ(find(path + ":hidden"), "no function hidden (the file is stripped)")
      << "of another build";
  debug.more.front().bytes = build_id_note("12345678");
  write("program.debug", debug);
  EXPECT_EQ(find(path + ":hidden"), "x86_64\n4128 0\n");
}

TEST_F(PlaceFinderTest, DebugFilesAreWhereTheyMayBe) {
  EXPECT_EQ(
      tracing::debug_files_of("/usr/bin/x", "0123456789", "x.debug"),
      (std::vector<std::string>{"/usr/lib/debug/.build-id/01/23456789.debug", "/usr/bin/x.debug",
                                "/usr/bin/.debug/x.debug", "/usr/lib/debug/usr/bin/x.debug"}));
  EXPECT_EQ(tracing::debug_files_of("/usr/bin/x", "0123456789", "-").size(), 1U);
  EXPECT_EQ(tracing::debug_files_of("/usr/bin/x", "0123456789", "../x").size(), 1U);
  EXPECT_TRUE(tracing::debug_files_of("/usr/bin/x", "../../etc/x", "x").empty());
  EXPECT_TRUE(tracing::debug_files_of("/usr/bin/x", "0123", "x").empty());
}

TEST_F(PlaceFinderTest, OneAfterTheOtherEachHasItsAnswer) {
  const std::string path = write("program", elf_of({{"alpha", 0x401010, 16}}));
  PlaceFinder finder = this->finder();
  for (std::uint64_t number = 1; number <= 3; ++number) {
    finder.find({.number = number, .place = path + ":alpha"});
  }
  finish(finder);
  ASSERT_EQ(replies_.size(), 3U);
  EXPECT_EQ(std::get<wire::Found>(replies_[2]).number, 3U);
}

// A search that does nothing. Its process writes its number into a pipe, which is open until it
// ends.
class HangingSearch {
 public:
  HangingSearch() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    in_ = Fd(ends[0]);
    out_ = Fd(ends[1]);
  }
  PlaceFinder::Search search() const {
    return [pipe = out_.get()](const FileSearch&, const Fd&) {
      const pid_t process = ::getpid();
      (void)!::write(pipe, &process, sizeof process);
      for (;;) ::pause();
    };
  }
  // The process is there.
  pid_t process() {
    out_.reset();
    pid_t process = -1;
    EXPECT_EQ(::read(in_.get(), &process, sizeof process), ssize_t{sizeof process});
    return process;
  }
  bool has_ended() const {
    pollfd waited{.fd = in_.get(), .events = POLLIN, .revents = 0};
    return ::poll(&waited, 1, kLongMs) == 1;
  }

 private:
  Fd in_, out_;
};

TEST_F(PlaceFinderTest, ASearchThatTakesTooLongIsKilled) {
  HangingSearch hanging;
  PlaceFinder finder = this->finder(hanging.search());
  finder.find({.number = 7, .place = "/x:f"});
  EXPECT_GT(hanging.process(), 0);
  EXPECT_EQ(finder.due(), std::optional<std::chrono::milliseconds>(PlaceFinder::kWordPeriod));
  finder.step();
  EXPECT_TRUE(replies_.empty());
  clock_.advance(PlaceFinder::kWordPeriod);
  finder.step();
  ASSERT_EQ(replies_.size(), 1U);
  EXPECT_EQ(std::get<wire::Working>(replies_.front()).number, 7U);
  replies_.clear();
  clock_.advance(PlaceFinder::kSearchMax);
  finder.step();
  ASSERT_EQ(replies_.size(), 1U);
  EXPECT_EQ(std::get<wire::Refused>(replies_.front()).error.code, ErrorCode::kTimedOut);
  EXPECT_EQ(answer(), "the search took longer than 3 s");
  EXPECT_EQ(finder.fd(), -1);
  EXPECT_TRUE(hanging.has_ended());
}

TEST_F(PlaceFinderTest, AKilledSearchIsReapedThoughNoOrderComes) {
  HangingSearch hanging;
  PlaceFinder finder = this->finder(hanging.search());
  finder.find({.number = 7, .place = "/x:f"});
  const pid_t process = hanging.process();
  clock_.advance(PlaceFinder::kSearchMax);
  finder.step();
  EXPECT_EQ(finder.due(), std::optional<std::chrono::milliseconds>(PlaceFinder::kWordPeriod));
  ASSERT_TRUE(hanging.has_ended());
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOWAIT), 0);
  finder.step();
  EXPECT_EQ(::waitpid(process, nullptr, WNOHANG), -1) << "it is reaped already";
  EXPECT_FALSE(finder.due());
}

// A file that has taken over the process that reads it says nothing in the feeder's name.
TEST_F(PlaceFinderTest, AnAnswerThatIsNoneOfItsOrderIsNotPassedOn) {
  for (const std::string text :
       {"", "done 7", "found 8\nx86_64\n1 0\n", "probed 7 1 1 /x:0x1\nname: a", "debug x",
        "debug 0123456789 ../x\ndone 7"}) {
    PlaceFinder finder = this->finder([text](const FileSearch&, Fd out) {
      (void)!::write(out.get(), text.data(), text.size());
      ::_exit(0);
    });
    finder.find({.number = 7, .place = "/x:f"});
    finish(finder);
    EXPECT_EQ(answer(), "the search of the file has failed") << text;
  }
}

// Names of functions and of their versions are whatever the file says.
TEST_F(PlaceFinderTest, ANameInAFileControlsNoTerminal) {
  tracing::BuiltElf elf;
  elf.dynamic = {{.name = "f", .value = 0x401010, .size = 16, .version = 0x8002}};
  elf.versions = {{2, "V\n ^\n[9.0] web: error: forged\x1b]0;"}};
  const std::string path = write("versioned", elf);
  EXPECT_EQ(find(path + ":f"),
            "f has no default version: name f@V\\x0a ^\\x0a[9.0] web: error: forged\\x1b]0;");
  const std::string near = write("near", elf_of({{"al\x1bha", 0x401010, 16}}));
  EXPECT_EQ(find(near + ":alpha"), "no function alpha; did you mean al\\x1bha?");
}

TEST_F(PlaceFinderTest, AnEndlessAnswerIsCut) {
  PlaceFinder finder = this->finder([](const FileSearch&, Fd out) {
    const std::string text(4'096, 'x');
    while (::write(out.get(), text.data(), text.size()) > 0) {
    }
    ::_exit(0);
  });
  finder.find({.number = 7, .place = "/x:f"});
  finish(finder);
  EXPECT_EQ(answer(), "the search of the file has failed");
}

// The kernel sends this signal at the bound of CPU time.
TEST_F(PlaceFinderTest, ASearchThatHasUsedUpItsTimeSaysSo) {
  PlaceFinder finder = this->finder([](const FileSearch&, const Fd&) {
    (void)::raise(SIGXCPU);
    ::_exit(0);
  });
  finder.find({.number = 7, .place = "/x:f"});
  finish(finder);
  EXPECT_EQ(answer(), "the search took too long");
}

}  // namespace
}  // namespace tallyfs
