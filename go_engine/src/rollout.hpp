// Playouts with a rollout policy, from any board to the end.
#pragma once

#include <cstdint>
#include <vector>

#include "playout.hpp"
#include "random.hpp"
#include "rollout_policy.hpp"

namespace go {

// A position being played on by a policy. Only simple ko is watched: superko would need the history.
class RolloutState {
public:
  RolloutState(const RolloutPolicy& policy, const Board& board);

  bool over() const { return board_.over(); }
  Colour to_play() const { return board_.to_play(); }
  void probabilities(float* out) const { policy_->probabilities(board_, out); }
  int choose(Random& random) const; // a move drawn from the policy; the pass when no move is sensible
  void play(int move) { board_.play(move); }
  PlayoutResult finish(Random& random, int max_plies); // to two passes or the cap, area score with the board's komi

private:
  const RolloutPolicy* policy_;
  Board board_;
};

// n playouts from the same board; playout i draws from its own generator (seed, i), so that the result does not depend
// on the number of threads.
std::vector<PlayoutResult> rollout_playouts(const RolloutPolicy& policy, const Board& board, int n, std::uint64_t seed,
                                            int threads);

} // namespace go
