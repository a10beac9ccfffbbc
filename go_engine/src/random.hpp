// Small seeded generators. Every game and every playout owns one, so results never depend on the number of threads.
#pragma once

#include <cstdint>

namespace go {

// SplitMix64 (Steele, Lea, Flood 2014): turns any number into a well mixed one; used for seeding.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// xoroshiro128+ (Blackman, Vigna 2018).
class Random {
public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0)
      : a_(mix(seed ^ mix(stream))), b_(mix(a_ + 0x632be59bd9b4e019ULL)) {}

  std::uint64_t next() {
    const std::uint64_t a = a_;
    std::uint64_t b = b_;
    const std::uint64_t result = a + b;
    b ^= a;
    a_ = rotate(a, 24) ^ b ^ (b << 16);
    b_ = rotate(b, 37);
    return result;
  }

  // Uniform in 0..n-1 (n < 2^32); the bias of the multiplication is below 2^-32 * n.
  std::uint32_t below(std::uint32_t n) {
    return static_cast<std::uint32_t>(((next() >> 32) * static_cast<std::uint64_t>(n)) >> 32);
  }

  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; } // in [0, 1)

private:
  static constexpr std::uint64_t rotate(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  std::uint64_t a_;
  std::uint64_t b_;
};

} // namespace go
