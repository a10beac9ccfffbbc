#include "rollout_tables.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "rollout_policy.hpp"

namespace go {

RolloutTables::RolloutTables(const RolloutWeights& weights)
    : rings_(weights.pattern.size() * kSymmetries), diamonds_(weights.diamond.size() * kSymmetries),
      responses_(weights.response_pattern.size() * kSymmetries) {
  save_atari = std::exp(weights.save_atari);
  self_atari = std::exp(weights.self_atari);
  for (int i = 0; i < kDiamondPoints; ++i) {
    neighbour[i] = i < kNeighbourFeatures ? std::exp(weights.neighbour[i]) : 1.0F;
  }
  for (std::size_t i = 0; i < distance.size(); ++i) distance[i] = std::exp(weights.distance[i]);
  const std::array<int, 1> stone = {0};
  lone_nakade = std::exp(weights.nakade.weight(nakade_key(stone, 0, kMaxSize)));
  add_rings(weights);
  add_responses(weights);
  add_diamonds(weights);
}

void RolloutTables::add_rings(const RolloutWeights& weights) {
  for (std::size_t i = 0; i < weights.pattern.size(); ++i) {
    const float factor = std::exp(weights.pattern.weights[i]);
    for (const PatternKey form : all_forms(weights.pattern.keys[i])) {
      const auto key = static_cast<std::uint32_t>(form);
      rings_.insert(key, ring_forbids(key) ? 0.0F : factor);
    }
  }
}

void RolloutTables::add_diamonds(const RolloutWeights& weights) {
  for (std::size_t i = 0; i < weights.diamond.size(); ++i) {
    const float factor = std::exp(weights.diamond.weights[i]);
    for (const PatternKey form : all_forms(weights.diamond.keys[i])) diamonds_.insert(form, factor);
  }
}

void RolloutTables::add_responses(const RolloutWeights& weights) {
  for (int symmetry = 0; symmetry < kSymmetries; ++symmetry) {
    for (int i = 0; i < kDiamondPoints; ++i) {
      places_[symmetry][i] = static_cast<std::uint8_t>(transform_index(i, symmetry));
    }
  }
  Row unknown;
  unknown.factor.fill(1);
  rows_.push_back(unknown);
  std::unordered_map<PatternKey, std::size_t> row_of;
  const PatternWeights& table = weights.response_pattern;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const float factor = std::exp(weights.response + table.weights[i]);
    const PatternKey diamond = table.keys[i] & kDiamondMask;
    const auto index = static_cast<std::size_t>(table.keys[i] >> kResponseIndexShift);
    const auto forms = all_forms(diamond);
    const PatternKey smallest = std::ranges::min(forms);
    const auto [found, fresh] = row_of.try_emplace(smallest, rows_.size());
    if (fresh) {
      rows_.push_back(unknown);
      for (int symmetry = 0; symmetry < kSymmetries; ++symmetry) {
        const auto value =
            static_cast<std::uint32_t>(found->second * kSymmetries) + static_cast<std::uint32_t>(symmetry);
        responses_.insert(transform(smallest, symmetry), value);
      }
    }
    for (int symmetry = 0; symmetry < kSymmetries; ++symmetry) { // a diamond may be symmetric in itself
      if (forms[static_cast<std::size_t>(symmetry)] == smallest)
        rows_[found->second].factor[places_[symmetry][index]] = factor;
    }
  }
}

} // namespace go
