// The weights of a policy as its playouts read them: exponentials, by the pattern just as it lies on the board.
//
// Each canonical pattern is entered under all of its symmetric forms, so that a look-up needs no symmetry.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "pattern.hpp"
#include "pattern_table.hpp"
#include "rollout_features.hpp"

namespace go {

struct RolloutWeights;

// Is a move with this ring (as its mover sees it) suicide, or does it fill an own eye? Both show in the ring.
bool ring_forbids(std::uint32_t ring);
bool ring_is_suicide(std::uint32_t ring);
// False where the ring alone shows that the move's chain will have two liberties.
bool ring_may_be_self_atari(std::uint32_t ring);

class RolloutTables {
public:
  using Row = std::array<float, 16>; // factor of each point of a diamond; twelve are used

  explicit RolloutTables(const RolloutWeights& weights);

  // exp of the weight of a ring, 0 where the move is forbidden.
  float ring(std::uint32_t key) const {
    if (const float* known = rings_.find(key)) return *known;
    return ring_forbids(key) ? 0.0F : 1.0F;
  }
  float diamond(PatternKey key) const {
    const float* known = diamonds_.find(key);
    return known == nullptr ? 1.0F : *known;
  }
  // Response and neighbour features together: the factors around the previous move.
  const Row& response(PatternKey diamond) const {
    const std::uint32_t* row = response_rows_.find(diamond);
    return rows_[row == nullptr ? 0 : *row];
  }
  float save_atari = 1;
  float self_atari = 1;
  float lone_nakade = 1; // the most frequent shape: a single stone
  std::array<float, kDistanceFeatures> distance{};

private:
  void add_rings(const RolloutWeights& weights);
  void add_responses(const RolloutWeights& weights);
  void add_diamonds(const RolloutWeights& weights);

  PatternTable<std::uint32_t, float> rings_;
  PatternTable<PatternKey, float> diamonds_;
  PatternTable<PatternKey, std::uint32_t> response_rows_;
  std::vector<Row> rows_; // row 0: no pattern known
};

} // namespace go
