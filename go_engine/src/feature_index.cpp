#include "feature_index.hpp"

#include <algorithm>

namespace go {
namespace {

// The tables in the order in which their patterns are numbered.
template <typename Weights> auto tables(Weights& w) {
  return std::array{&w.nakade, &w.response_pattern, &w.pattern, &w.diamond};
}

} // namespace

FeatureIndex::FeatureIndex(const RolloutWeights& start)
    : layout_(start), rings_(start.pattern.size() * kSymmetries), diamonds_(start.diamond.size() * kSymmetries),
      response_rows_(start.response_pattern.size() * kSymmetries) {
  FeatureId next = kPatterns + static_cast<FeatureId>(layout_.nakade.size());
  for (const PatternKey key : layout_.response_pattern.keys) {
    const int index = static_cast<int>(key >> kResponseIndexShift);
    for (int symmetry = 0; symmetry < kSymmetries; ++symmetry) {
      const auto row = static_cast<std::uint32_t>(rows_.size());
      const std::uint32_t found = response_rows_.insert(transform(key & kDiamondMask, symmetry), row);
      if (found == row) rows_.push_back({});
      rows_[found][static_cast<std::size_t>(transform_index(index, symmetry))] = next;
    }
    ++next;
  }
  for (const PatternKey pattern : layout_.pattern.keys) {
    for (int symmetry = 0; symmetry < kSymmetries; ++symmetry) {
      const auto key = static_cast<std::uint32_t>(transform(pattern, symmetry));
      rings_.insert(key, ring_forbids(key) ? kForbidden : next);
    }
    ++next;
  }
  for (const PatternKey pattern : layout_.diamond.keys) {
    for (int symmetry = 0; symmetry < kSymmetries; ++symmetry) diamonds_.insert(transform(pattern, symmetry), next);
    ++next;
  }
  size_ = next;
}

std::vector<float> FeatureIndex::flatten() const {
  std::vector<float> flat(kPatterns);
  flat[kResponse] = layout_.response;
  flat[kSaveAtari] = layout_.save_atari;
  flat[kNeighbour] = layout_.neighbour.front();
  flat[kNeighbour + 1] = layout_.neighbour.back();
  flat[kSelfAtari] = layout_.self_atari;
  std::copy(layout_.distance.begin(), layout_.distance.end(), flat.begin() + kDistance);
  for (const PatternWeights* table : tables(layout_)) {
    flat.insert(flat.end(), table->weights.begin(), table->weights.end());
  }
  return flat;
}

RolloutWeights FeatureIndex::unflatten(const std::vector<float>& weights) const {
  RolloutWeights result = layout_;
  result.response = weights[kResponse];
  result.save_atari = weights[kSaveAtari];
  for (int i = 0; i < kNeighbourFeatures; ++i) result.neighbour[static_cast<std::size_t>(i)] = weights[neighbour(i)];
  result.self_atari = weights[kSelfAtari];
  std::copy_n(weights.begin() + kDistance, kDistanceFeatures, result.distance.begin());
  auto next = weights.begin() + kPatterns;
  for (PatternWeights* table : tables(result)) {
    std::copy_n(next, table->size(), table->weights.begin());
    next += static_cast<std::ptrdiff_t>(table->size());
  }
  return result;
}

} // namespace go
