// Steps many games side by side, all in C++: what benchmarks/engine.py does with GameBatch from Python.
// usage: batch_step GAMES STEPS ROUNDS; prints one rate (game steps per CPU second) a line.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <numeric>
#include <vector>

#include "../go_engine/src/game_batch.hpp"

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int games = std::atoi(argv[1]);
  const int steps = std::atoi(argv[2]);
  constexpr int kSize = 19;
  constexpr int kPoints = kSize * kSize;
  std::vector<std::int32_t> all(games);
  std::iota(all.begin(), all.end(), 0);
  const std::vector<std::uint64_t> seeds(all.begin(), all.end());
  const std::vector<float> flat(static_cast<std::size_t>(games) * kPoints, 1.0F / kPoints);
  std::vector<std::uint8_t> planes(static_cast<std::size_t>(games) * 48 * kPoints);
  const auto masks = std::make_unique<bool[]>(static_cast<std::size_t>(games) * kPoints);
  std::vector<std::int32_t> moves(games);
  for (int round = 0; round < std::atoi(argv[3]); ++round) {
    go::GameBatch batch(games, kSize, 7.5, go::KoRule::kPositional, 0);
    const std::clock_t start = std::clock();
    for (int step = 0; step < steps; ++step) {
      batch.planes(all.data(), games, false, planes.data(), 1);
      batch.sensible(all.data(), games, masks.get(), 1);
      batch.sample(all.data(), games, flat.data(), 1.0, seeds.data(), moves.data(), 1);
      batch.play(all.data(), moves.data(), games);
    }
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    std::printf("%f\n", static_cast<double>(games) * steps / seconds);
  }
}
