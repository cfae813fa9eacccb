#include "core/tracing/print/pointer_hash.h"

#include <bit>
#include <random>

namespace tallyfs::tracing {
namespace {

constexpr std::uint64_t kErrorsMax = 4095;

struct SipState {
  std::uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1;
    v2 += v3;
    v1 = std::rotl(v1, 13) ^ v0;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 = std::rotl(v0, 32);
    v2 += v1;
    v0 += v3;
    v1 = std::rotl(v1, 17) ^ v2;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 = std::rotl(v2, 32);
  }
  void take(std::uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
};

}  // namespace

std::uint64_t sip_hash(PointerHash::Key key, std::uint64_t number) {
  constexpr std::uint64_t kLengthWord = std::uint64_t{8} << 56;
  SipState state{key.first ^ 0x736f6d6570736575, key.second ^ 0x646f72616e646f6d,
                 key.first ^ 0x6c7967656e657261, key.second ^ 0x7465646279746573};
  state.take(number);
  state.take(kLengthWord);
  state.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

PointerHash PointerHash::make_random() {
  std::random_device device;
  const auto number = [&] { return std::uint64_t{device()} << 32 | device(); };
  const std::uint64_t first = number();
  return PointerHash({first, number()});
}

std::uint64_t PointerHash::shown(std::uint64_t address) const {
  if (address == 0 || address >= 0 - kErrorsMax) return address;
  return sip_hash(key_, address) & 0xffffffff;
}

}  // namespace tallyfs::tracing
