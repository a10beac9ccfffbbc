// The rollout policy p_pi and the tree policy p_tau: a linear softmax over the features of every sensible move.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "rollout_features.hpp"
#include "rollout_tables.hpp"

namespace go {

// Pattern keys, ascending, and the weight of each.
struct PatternWeights {
  std::vector<PatternKey> keys;
  std::vector<float> weights;

  std::size_t size() const { return keys.size(); }
  std::ptrdiff_t find(PatternKey key) const; // -1 for a pattern that is not kept
  float weight(PatternKey key) const {
    const std::ptrdiff_t i = find(key);
    return i < 0 ? 0.0F : weights[static_cast<std::size_t>(i)];
  }
};

struct RolloutWeights {
  bool tree = false; // has the second set of features
  float response = 0;
  float save_atari = 0;
  std::array<float, kNeighbourFeatures> neighbour{};
  PatternWeights nakade;
  PatternWeights response_pattern;
  PatternWeights pattern;
  float self_atari = 0;
  std::array<float, kDistanceFeatures> distance{};
  PatternWeights diamond;
};

class RolloutPolicy {
public:
  explicit RolloutPolicy(RolloutWeights weights); // throws std::invalid_argument for tables that are not in order

  const RolloutWeights& weights() const { return weights_; }
  const RolloutTables& tables() const { return tables_; }
  bool tree() const { return weights_.tree; }

  // Probability of every sensible move of the player to move, 0 for all else: float[size * size]. All zero when there
  // is no sensible move (the player passes then).
  void probabilities(const Board& board, float* out) const;
  void slow_probabilities(const Board& board, float* out) const; // straight from the definition, for tests

private:
  float score(const BoardFeatures& features, Point move) const;

  RolloutWeights weights_;
  RolloutTables tables_;
};

} // namespace go
