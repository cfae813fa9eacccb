#include "feeders/intake/response_address.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/intake/intake_fixture.h"

namespace tallyfs {
namespace {

class ResponseAddressTest : public testing::Test {
 protected:
  static Origin origin(std::string_view path, uid_t uid = ::getuid()) {
    Origin made{.uid = uid};
    made.address.sun_family = AF_UNIX;
    path.copy(made.address.sun_path, sizeof made.address.sun_path);
    made.address_size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
    return made;
  }
  static Fd bound_to(const std::string& path) {
    Fd made(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const Origin at = origin(path);
    EXPECT_EQ(::bind(made.get(), reinterpret_cast<const sockaddr*>(&at.address), at.address_size),
              0);
    return made;
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_ / "peer";
};

TEST_F(ResponseAddressTest, AnAbstractAddressIsTheSenders) {
  const auto found = ResponseAddress::find(origin(std::string_view("\0abc", 4)));
  ASSERT_TRUE(found);
  EXPECT_EQ(std::memcmp(found->address().sun_path, "\0abc", 4), 0);
  EXPECT_FALSE(ResponseAddress::find(Origin{})) << "it is not bound";
}

TEST_F(ResponseAddressTest, APathLeadsToTheSendersOwnSocketOrNowhere) {
  const Fd peer = bound_to(path_);
  EXPECT_TRUE(ResponseAddress::find(origin(path_)));
  EXPECT_FALSE(ResponseAddress::find(origin(path_, ::getuid() + 1))) << "it is another user's";
  EXPECT_FALSE(ResponseAddress::find(origin(path_.substr(1)))) << "relative";
  EXPECT_FALSE(ResponseAddress::find(origin(path_ + "s"))) << "there is nothing";
  std::filesystem::create_symlink(path_, directory_ / "link");
  EXPECT_FALSE(ResponseAddress::find(origin(directory_ / "link")));
  std::ofstream(directory_ / "file") << "no socket";
  EXPECT_FALSE(ResponseAddress::find(origin(directory_ / "file")));
}

TEST_F(ResponseAddressTest, TheAnswerReachesTheSocketThatWasFoundWhateverTakesItsPlace) {
  const Fd peer = bound_to(path_);
  const auto found = ResponseAddress::find(origin(path_));
  ASSERT_TRUE(found);
  std::filesystem::rename(path_, path_ + ".old");
  const Fd other = bound_to(path_);
  const Fd sender(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto* to = reinterpret_cast<const sockaddr*>(&found->address());
  EXPECT_EQ(::sendto(sender.get(), "hello", 5, 0, to, found->size()), 5);
  std::array<char, 8> got{};
  EXPECT_EQ(::recv(other.get(), got.data(), got.size(), 0), -1);
  EXPECT_EQ(::recv(peer.get(), got.data(), got.size(), 0), 5);
}

}  // namespace
}  // namespace tallyfs
