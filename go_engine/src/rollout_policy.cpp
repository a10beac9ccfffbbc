#include "rollout_policy.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "rollout.hpp"

namespace go {
namespace {

void check(const PatternWeights& table, const char* name) {
  if (table.keys.size() != table.weights.size()) {
    throw std::invalid_argument(std::string(name) + ": " + std::to_string(table.keys.size()) + " patterns but " +
                                std::to_string(table.weights.size()) + " weights");
  }
  if (!std::ranges::is_sorted(table.keys, std::ranges::less_equal{})) {
    throw std::invalid_argument(std::string(name) + ": pattern keys are not in ascending order");
  }
}

RolloutWeights checked(RolloutWeights weights) {
  check(weights.nakade, "nakade");
  check(weights.response_pattern, "response_pattern");
  check(weights.pattern, "pattern");
  check(weights.diamond, "diamond");
  return weights;
}

} // namespace

std::ptrdiff_t PatternWeights::find(PatternKey key) const {
  const auto found = std::ranges::lower_bound(keys, key);
  return found != keys.end() && *found == key ? found - keys.begin() : -1;
}

RolloutPolicy::RolloutPolicy(RolloutWeights weights) : weights_(checked(std::move(weights))), tables_(weights_) {}

float RolloutPolicy::score(const BoardFeatures& features, Point move) const {
  std::vector<FeatureKey> present;
  features.collect(move, weights_.tree, present);
  float sum = 0;
  for (const auto& [kind, key] : present) {
    switch (kind) {
    case Feature::kSaveAtari: sum += weights_.save_atari; break;
    case Feature::kNeighbour: sum += weights_.neighbour[key]; break;
    case Feature::kNakade: sum += weights_.nakade.weight(key); break;
    case Feature::kResponsePattern:
      if (weights_.response_pattern.find(key) >= 0) sum += weights_.response + weights_.response_pattern.weight(key);
      break;
    case Feature::kPattern: sum += weights_.pattern.weight(key); break;
    case Feature::kSelfAtari: sum += weights_.self_atari; break;
    case Feature::kDistance: sum += weights_.distance[key]; break;
    case Feature::kDiamond: sum += weights_.diamond.weight(key); break;
    }
  }
  return sum;
}

void RolloutPolicy::probabilities(const Board& board, float* out) const {
  RolloutState state(*this, board);
  state.probabilities(out);
  if (board.ko_rule() == KoRule::kSimple) return;
  const Geometry& g = board.geometry();
  double left = 0;
  bool refused = false;
  for (int move = 0; move < g.moves; ++move) {
    if (out[move] == 0) continue;
    if (board.legal_point(g.point_of[move], board.to_play())) {
      left += out[move];
    } else { // superko
      out[move] = 0;
      refused = true;
    }
  }
  if (!refused || left == 0) return;
  for (int move = 0; move < g.moves; ++move) out[move] = static_cast<float>(out[move] / left);
}

void RolloutPolicy::slow_probabilities(const Board& board, float* out) const {
  const Geometry& g = board.geometry();
  const BoardFeatures features(board);
  double total = 0;
  for (int move = 0; move < g.moves; ++move) {
    const Point p = g.point_of[move];
    out[move] = board.sensible_point(p, board.to_play()) ? std::exp(score(features, p)) : 0.0F;
    total += out[move];
  }
  if (total == 0) return;
  for (int move = 0; move < g.moves; ++move) out[move] = static_cast<float>(out[move] / total);
}

} // namespace go
