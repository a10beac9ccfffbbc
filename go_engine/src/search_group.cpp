#include "search_group.hpp"

#include <stdexcept>

#include "threads.hpp"

namespace go {

std::unique_ptr<GroupBatch> collect_many(const std::vector<Search*>& searches, int max_leaves,
                                         std::uint64_t max_simulations, int threads) {
  auto group = std::make_unique<GroupBatch>();
  const int count = static_cast<int>(searches.size());
  if (count == 0) return group;
  group->size = searches[0]->board().size();
  for (const Search* search : searches) {
    if (search->board().size() != group->size) throw std::invalid_argument("searches on boards of different sizes");
  }
  group->searches = searches;
  group->batches.resize(count);
  parallel_for(count, 1, threads, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) group->batches[i] = searches[i]->collect(max_leaves, max_simulations);
  });

  std::vector<std::size_t> policy_at(count);
  std::vector<std::size_t> value_at(count);
  for (int i = 0; i < count; ++i) {
    policy_at[i] = group->policy_rows;
    value_at[i] = group->value_rows;
    group->policy_rows += group->batches[i]->policy_rows.size();
    group->value_rows += group->batches[i]->value_rows.size();
  }
  const std::size_t points = static_cast<std::size_t>(group->size) * group->size;
  group->policy_planes.resize(group->policy_rows * kPlanes * points);
  group->value_planes.resize(group->value_rows * kPlanesWithColour * points);
  parallel_for(count, 1, threads, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      group->batches[i]->write_planes(group->policy_planes.data() + policy_at[i] * kPlanes * points,
                                      group->value_planes.data() + value_at[i] * kPlanesWithColour * points);
    }
  });
  return group;
}

void deliver_many(GroupBatch& group, const float* priors, const float* values) {
  const std::size_t points = static_cast<std::size_t>(group.size) * group.size;
  for (std::size_t i = 0; i < group.searches.size(); ++i) {
    group.searches[i]->deliver(*group.batches[i], priors, values);
    priors += group.batches[i]->policy_rows.size() * points;
    values += group.batches[i]->value_rows.size();
  }
}

void cancel_many(GroupBatch& group) {
  for (std::size_t i = 0; i < group.searches.size(); ++i) group.searches[i]->cancel(*group.batches[i]);
}

} // namespace go
