// Feeds the interface `example` from two threads with what it costs to sort numbers.
//   c++ -std=c++20 feeder.cpp -o feeder $(pkg-config --cflags --libs tally) && ./feeder
#include <algorithm>
#include <chrono>
#include <iostream>
#include <random>
#include <tally/statistic.hpp>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

int main() {
  const tally::Interface interface("example");
  tally::Statistic sorting(interface, "sorting_us",
                           {.units = "microseconds/sorts",
                            .type = tally::Array{.range = {0, 100'000}, .base_interval = 10},
                            .begin = tally::Begin::kOn});
  tally::Statistic sizes(interface, "sizes", {.units = "numbers/sorts",
                                              .type = tally::History{.period = 100ms},
                                              .begin = tally::Begin::kOn,
                                              .help = "How many numbers were sorted"});
  const auto work = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 500; ++i) {
      std::vector<unsigned> numbers(random() % 1000);
      std::ranges::generate(numbers, random);
      const tally::Timer timer(sorting);  // adds how long the block took
      std::ranges::sort(numbers);
      sizes.inc(static_cast<std::int64_t>(numbers.size()));
    }
  };
  std::jthread one(work, 1), two(work, 2);
  one.join();
  two.join();
  const auto error = tally::sync(10s);
  std::cout << (error ? error.message() : "1000 samples are in statistics/example/data") << '\n';
  return error ? 1 : 0;
}
