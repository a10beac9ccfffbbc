#include "playout.hpp"

#include "threads.hpp"

namespace go {

// Draws empty points without replacement until one will do: those refused go behind a shrinking end of the list.
Point random_sensible_move(Position& position, Colour colour, Random& random) {
  for (int left = position.empty_count(); left > 0; --left) {
    const int i = static_cast<int>(random.below(static_cast<std::uint32_t>(left)));
    const Point p = position.empty(i);
    if (!position.eye(p, colour) && position.legal(p, colour)) return p;
    position.swap_empty(i, left - 1);
  }
  return kNoPoint;
}

PlayoutResult random_playout(Position& position, Colour to_play, int passes, double komi, Random& random) {
  const int cap = playout_cap(position.size());
  int plies = 0;
  while (passes < 2 && plies < cap) {
    const Point p = random_sensible_move(position, to_play, random);
    if (p == kNoPoint) {
      position.pass();
      ++passes;
    } else {
      position.play(p, to_play);
      passes = 0;
    }
    to_play = opponent(to_play);
    ++plies;
  }
  const double score = position.area() - komi;
  return {score > 0 ? 1 : score < 0 ? -1 : 0, plies};
}

void random_playouts(const Board& board, int n, std::uint64_t seed, int threads, std::int8_t* winners,
                     std::int32_t* moves) {
  constexpr int kBlock = 8; // playouts taken by a thread at a time
  const Position start = board.position();
  parallel_for(n, kBlock, threads, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      Position position = start;
      Random random(seed, static_cast<std::uint64_t>(i));
      const PlayoutResult result = random_playout(position, board.to_play(), board.passes(), board.komi(), random);
      winners[i] = static_cast<std::int8_t>(result.winner);
      moves[i] = result.moves;
    }
  });
}

} // namespace go
