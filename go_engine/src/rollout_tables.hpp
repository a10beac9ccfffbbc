// The weights of a policy as its playouts read them: exponentials, by the pattern just as it lies on the board.
//
// Each canonical pattern is entered under all of its symmetric forms, so that a look-up needs no symmetry. Most of the
// time of a playout is spent waiting for these tables to come out of memory; hence the prefetching and the tight slots.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "packed_table.hpp"
#include "pattern.hpp"
#include "pattern_table.hpp"
#include "ring_rules.hpp"
#include "rollout_features.hpp"

namespace go {

struct RolloutWeights;

class RolloutTables {
public:
  struct alignas(64) Row {
    std::array<float, kDiamondPoints> factor; // by the points of the canonical diamond
  };
  struct Response {
    const Row* row;
    const std::uint8_t* place; // where the canonical diamond's points lie in the one on the board
  };

  explicit RolloutTables(const RolloutWeights& weights);

  void prefetch_ring(std::uint32_t key) const { rings_.prefetch(key); }
  // exp of the weight of a ring, 0 where the move is forbidden.
  float ring(std::uint32_t key) const {
    if (const float* known = rings_.find(key)) return *known;
    return ring_forbids(key) ? 0.0F : 1.0F;
  }
  float diamond(PatternKey key) const {
    const float* known = diamonds_.find(key);
    return known == nullptr ? 1.0F : *known;
  }
  void prefetch_response(PatternKey diamond) const { responses_.prefetch(diamond); }
  // The factors of the response features around the previous move.
  Response response(PatternKey diamond) const {
    const std::uint32_t found = responses_.find(diamond);
    const Row* row = &rows_[found / kSymmetries];
    __builtin_prefetch(row);
    return {row, places_[found % kSymmetries].data()};
  }

  float save_atari = 1;
  float self_atari = 1;
  float lone_nakade = 1;                         // the most frequent shape: a single stone
  std::array<float, kDiamondPoints> neighbour{}; // 1 for the points two away
  std::array<float, kDistanceFeatures> distance{};

private:
  void add_rings(const RolloutWeights& weights);
  void add_responses(const RolloutWeights& weights);
  void add_diamonds(const RolloutWeights& weights);

  PatternTable<std::uint32_t, float> rings_;
  PatternTable<PatternKey, float> diamonds_;
  PackedTable responses_; // row * 8 + symmetry
  std::vector<Row> rows_; // by canonical diamond; row 0: no pattern known
  std::array<std::array<std::uint8_t, kDiamondPoints>, kSymmetries> places_;
};

} // namespace go
