// Draws numbers, and says with which seed when the test fails: TALLY_SEED=n repeats it.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

namespace tallyfs {

class Random {
 public:
  std::uint64_t below(std::uint64_t end) { return engine_() % end; }
  std::uint64_t any() { return engine_(); }
  std::string seed() const { return std::string("TALLY_SEED=").append(std::to_string(seed_)); }

 private:
  static std::uint64_t draw() {
    const char* const given = std::getenv("TALLY_SEED");
    return given ? std::strtoull(given, nullptr, 0) : std::random_device{}();
  }

  const std::uint64_t seed_ = draw();
  std::mt19937_64 engine_{seed_};
};

}  // namespace tallyfs
