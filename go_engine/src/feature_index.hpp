// Numbers the features of a policy, so that training can keep all weights in one vector.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "pattern_table.hpp"
#include "rollout_policy.hpp"

namespace go {

using FeatureId = std::uint32_t;

class FeatureIndex {
public:
  static constexpr FeatureId kUnknown = 0; // patterns that are not kept; its weight stays 0
  static constexpr FeatureId kResponse = 1;
  static constexpr FeatureId kSaveAtari = 2;
  // The eight neighbours are two under the symmetries: beside the previous move and diagonal to it.
  static constexpr FeatureId kNeighbour = 3;
  static constexpr FeatureId kSelfAtari = 5;
  static constexpr FeatureId kDistance = 6;
  static constexpr FeatureId kPatterns = kDistance + kDistanceFeatures;
  static constexpr FeatureId kForbidden = ~FeatureId{0}; // for rings whose move is suicide or fills an own eye

  using ResponseRow = std::array<FeatureId, kDiamondPoints>; // kUnknown where no response pattern is kept

  // Numbers the patterns that `start` keeps; its weights are where training begins.
  explicit FeatureIndex(const RolloutWeights& start);

  bool tree() const { return layout_.tree; }
  std::size_t size() const { return size_; }
  FeatureId ring(std::uint32_t key) const {
    const FeatureId* id = rings_.find(key);
    if (id != nullptr) return *id;
    return ring_forbids(key) ? kForbidden : kUnknown;
  }
  FeatureId diamond(PatternKey key) const {
    const FeatureId* id = diamonds_.find(key);
    return id == nullptr ? kUnknown : *id;
  }
  const ResponseRow* responses(PatternKey diamond) const { // null if none is kept
    const std::uint32_t* row = response_rows_.find(diamond);
    return row == nullptr ? nullptr : &rows_[*row];
  }
  FeatureId nakade(PatternKey key) const {
    const std::ptrdiff_t i = layout_.nakade.find(key);
    return i < 0 ? kUnknown : kPatterns + static_cast<FeatureId>(i);
  }
  static FeatureId neighbour(int index) { return kNeighbour + static_cast<FeatureId>(index / 4); }

  std::vector<float> flatten() const;                                // the weights it was made with
  RolloutWeights unflatten(const std::vector<float>& weights) const; // back into tables

private:
  RolloutWeights layout_;
  std::size_t size_;
  PatternTable<std::uint32_t, FeatureId> rings_;
  PatternTable<PatternKey, FeatureId> diamonds_;
  PatternTable<PatternKey, std::uint32_t> response_rows_;
  std::vector<ResponseRow> rows_;
};

} // namespace go
