#include <algorithm>
#include <array>
#include <cmath>

#include "playout.hpp"
#include "rollout.hpp"
#include "search_worker.hpp"

namespace go {

void tree_priors(const RolloutPolicy& policy, const Board& board, PriorList& list) {
  std::array<float, kMaxMoves> probabilities;
  policy.probabilities(board, probabilities.data());
  share_priors(list, board.pass_move(), 1, [&](int move) { return probabilities[move]; });
}

int Search::rollout(const Board& board, Random& random) const {
  if (rollout_policy_ != nullptr) {
    RolloutState state(*rollout_policy_, board);
    if (replies_ != nullptr) state.use_replies(replies_.get(), kReplyProbability);
    return state.finish(random, playout_cap(board.size())).winner;
  }
  Position position = board.position();
  return random_playout(position, board.to_play(), board.passes(), board.komi(), random).winner;
}

} // namespace go
