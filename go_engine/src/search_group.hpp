// Many searches in lock-step that share one network batch, for games played side by side.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "search.hpp"

namespace go {

// What the searches' batches ask, laid out as one.
struct GroupBatch {
  std::vector<Search*> searches;
  std::vector<std::shared_ptr<LeafBatch>> batches; // one for each search, perhaps empty
  std::size_t policy_rows = 0;
  std::size_t value_rows = 0;
  int size = 0;
  std::vector<std::uint8_t> policy_planes; // [policy_rows, 48, size, size]
  std::vector<std::uint8_t> value_planes;  // [value_rows, 49, size, size]
};

// Search::collect for each of them, in up to `threads` threads; the result does not depend on their number. Throws
// std::invalid_argument for boards of different sizes.
std::unique_ptr<GroupBatch> collect_many(const std::vector<Search*>& searches, int max_leaves,
                                         std::uint64_t max_simulations, int threads);
void deliver_many(GroupBatch& group, const float* priors, const float* values);
void cancel_many(GroupBatch& group); // gives back what has not been delivered

} // namespace go
