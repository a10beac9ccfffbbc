#include "rollout.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

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
  result.capped = !over();
  const double score = board_.area_score();
  result.winner = (score > 0) - (score < 0);
  return result;
}

std::vector<PlayoutResult> rollout_playouts(const RolloutPolicy& policy, const Board& board, int n, std::uint64_t seed,
                                            int threads) {
  std::vector<PlayoutResult> results(static_cast<std::size_t>(std::max(n, 0)));
  std::atomic<int> next = 0;
  auto work = [&] {
    for (int i = next++; i < n; i = next++) {
      Random random(seed, static_cast<std::uint64_t>(i));
      RolloutState state(policy, board);
      results[static_cast<std::size_t>(i)] = state.finish(random, playout_cap(board.size()));
    }
  };
  std::vector<std::jthread> helpers;
  for (int t = 1; t < std::min(threads, n); ++t) helpers.emplace_back(work);
  work();
  return results;
}

} // namespace go
