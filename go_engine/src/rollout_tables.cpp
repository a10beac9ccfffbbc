#include "rollout_tables.hpp"

#include <cmath>

#include "rollout_policy.hpp"

namespace go {
namespace {

constexpr int kHalfBits = kCodeBits * 4; // four points beside the centre, four diagonal ones
constexpr std::size_t kHalves = std::size_t{1} << kHalfBits;

struct RingRules {
  std::array<bool, kHalves> suicide{};    // by the points beside the centre
  std::array<bool, kHalves> surrounded{}; // only own stones and the edge beside the centre
  std::array<bool, kHalves> may_be_self_atari{};
  std::array<bool, kHalves> real_eye{}; // by the diagonal points

  constexpr RingRules() {
    for (std::size_t half = 0; half < kHalves; ++half) {
      bool breathes = false;
      bool own_only = true;
      int enemies = 0;
      bool edge = false;
      int liberties_left = 0; // empty points, stones taken, and what own chains bring along
      for (int i = 0; i < 4; ++i) {
        const unsigned code = (half >> (kCodeBits * i)) & 7;
        const unsigned liberties = code & 3;
        const bool own = code < 4 && liberties > 0;
        const bool enemy = code > kWallCode;
        breathes |= code == 0 || (own && liberties > 1) || (enemy && liberties == 1);
        if (code == 0 || (enemy && liberties == 1)) ++liberties_left;
        if (own && liberties == kLibertyClasses) liberties_left += kLibertyClasses - 1;
        own_only &= own || code == kWallCode;
        enemies += enemy;
        edge |= code == kWallCode;
      }
      may_be_self_atari[half] = liberties_left < 2;
      suicide[half] = !breathes;
      surrounded[half] = own_only;
      real_eye[half] = enemies + edge < 2;
    }
  }
};

constexpr RingRules kRingRules;

} // namespace

bool ring_forbids(std::uint32_t ring) {
  const std::size_t beside = ring & (kHalves - 1);
  const std::size_t diagonal = ring >> kHalfBits;
  return kRingRules.suicide[beside] || (kRingRules.surrounded[beside] && kRingRules.real_eye[diagonal]);
}

bool ring_is_suicide(std::uint32_t ring) { return kRingRules.suicide[ring & (kHalves - 1)]; }

bool ring_may_be_self_atari(std::uint32_t ring) { return kRingRules.may_be_self_atari[ring & (kHalves - 1)]; }

RolloutTables::RolloutTables(const RolloutWeights& weights)
    : rings_(weights.pattern.size() * kSymmetries), diamonds_(weights.diamond.size() * kSymmetries),
      response_rows_(weights.response_pattern.size() * kSymmetries) {
  save_atari = std::exp(weights.save_atari);
  self_atari = std::exp(weights.self_atari);
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
    for (int symmetry = 0; symmetry < kSymmetries; ++symmetry) {
      const auto key = static_cast<std::uint32_t>(transform(weights.pattern.keys[i], symmetry));
      rings_.insert(key, ring_forbids(key) ? 0.0F : factor);
    }
  }
}

void RolloutTables::add_diamonds(const RolloutWeights& weights) {
  for (std::size_t i = 0; i < weights.diamond.size(); ++i) {
    const float factor = std::exp(weights.diamond.weights[i]);
    for (int symmetry = 0; symmetry < kSymmetries; ++symmetry) {
      diamonds_.insert(transform(weights.diamond.keys[i], symmetry), factor);
    }
  }
}

void RolloutTables::add_responses(const RolloutWeights& weights) {
  Row unknown{};
  for (int i = 0; i < kDiamondPoints; ++i) {
    unknown[static_cast<std::size_t>(i)] =
        i < kNeighbourFeatures ? std::exp(weights.neighbour[static_cast<std::size_t>(i)]) : 1.0F;
  }
  rows_.push_back(unknown);
  const PatternWeights& table = weights.response_pattern;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const float factor = std::exp(weights.response + table.weights[i]);
    const PatternKey diamond = table.keys[i] & kDiamondMask;
    const int index = static_cast<int>(table.keys[i] >> kResponseIndexShift);
    for (int symmetry = 0; symmetry < kSymmetries; ++symmetry) {
      const auto next = static_cast<std::uint32_t>(rows_.size());
      const std::uint32_t row = response_rows_.insert(transform(diamond, symmetry), next);
      if (row == next) rows_.push_back(unknown);
      const auto place = static_cast<std::size_t>(transform_index(index, symmetry));
      rows_[row][place] = unknown[place] * factor;
    }
  }
}

} // namespace go
