#include "rollout.hpp"

#include <algorithm>

#include "threads.hpp"

namespace go {

RolloutState::RolloutState(const RolloutPolicy& policy, const Board& board) : policy_(&policy), board_(board) {}

int RolloutState::choose(Random& random) const {
  std::array<float, kMaxMoves> probability;
  probabilities(probability.data());
  double left = random.uniform();
  int chosen = board_.pass_move();
  for (int move = 0; move < board_.pass_move(); ++move) {
    if (probability[static_cast<std::size_t>(move)] == 0) continue;
    chosen = move;
    left -= probability[static_cast<std::size_t>(move)];
    if (left < 0) break;
  }
  return chosen;
}

PlayoutResult RolloutState::finish(Random& random, int max_plies) {
  PlayoutResult result;
  while (!over() && result.moves < max_plies) {
    play(choose(random));
    ++result.moves;
  }
  const double score = board_.area_score();
  result.winner = (score > 0) - (score < 0);
  return result;
}

std::vector<PlayoutResult> rollout_playouts(const RolloutPolicy& policy, const Board& board, int n, std::uint64_t seed,
                                            int threads) {
  std::vector<PlayoutResult> results(static_cast<std::size_t>(std::max(n, 0)));
  constexpr int kBlock = 4; // playouts taken by a thread at a time
  parallel_for(n, kBlock, threads, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      Random random(seed, static_cast<std::uint64_t>(i));
      RolloutState state(policy, board);
      results[static_cast<std::size_t>(i)] = state.finish(random, playout_cap(board.size()));
    }
  });
  return results;
}

} // namespace go
