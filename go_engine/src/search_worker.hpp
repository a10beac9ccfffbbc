// What one search thread owns, and the two uses that a search makes of linear policies.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "random.hpp"
#include "search.hpp"

namespace go {

struct Search::Worker {
  explicit Worker(const Board& root) : board(root) {}

  Board board; // of the simulation under way
  Arena::Cursor cursor;
  Random random{0};
  std::vector<Step> path;
  PriorList list;
};

// Gives every move of the list p^beta, normalised, where p comes by the number of the move; a pass in the list gets an
// equal share first.
template <typename Probability>
void share_priors(PriorList& list, int pass_move, double beta, const Probability& probability) {
  const std::size_t n = list.moves.size();
  const float equal = 1.F / static_cast<float>(n);
  const bool passes = std::find(list.moves.begin(), list.moves.end(), pass_move) != list.moves.end();
  list.priors.resize(n);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (list.moves[i] == pass_move) continue;
    const double p = probability(list.moves[i]);
    list.priors[i] = static_cast<float>(beta == 1 ? p : std::pow(p, beta));
    sum += list.priors[i];
  }
  const double scale = sum > 0 ? (passes ? 1 - equal : 1) / sum : 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (list.moves[i] == pass_move || sum <= 0) {
      list.priors[i] = equal;
    } else {
      list.priors[i] = static_cast<float>(list.priors[i] * scale);
    }
  }
}

void tree_priors(const RolloutPolicy& policy, const Board& board, PriorList& list);

} // namespace go
