// A search by eight threads with two evaluators, advances and reports between and during them, for ThreadSanitizer.
// Prints "ok" and exits 0 when every simulation is accounted for; the sanitizer makes the exit status 66 for a race.
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include "rollout_policy.hpp"
#include "search.hpp"

namespace {

constexpr int kThreads = 8;
constexpr int kEvaluators = 2;
constexpr int kSimulations = 1500;
constexpr int kMoves = 4;
constexpr int kLost = 5; // every so many batches of rollouts come back unplayed

enum class Rollouts { kNone, kHere, kElsewhere };

void evaluate(go::Search& search, const std::atomic<bool>& closed) {
  while (!closed) {
    const auto batch = search.wait_batch(8, 0.01);
    if (batch == nullptr) continue;
    const std::size_t points = static_cast<std::size_t>(batch->size) * batch->size;
    const std::vector<float> priors(batch->policy_rows.size() * points, 1.F / static_cast<float>(points));
    const std::vector<float> values(batch->value_rows.size(), 0.25F);
    search.deliver(*batch, priors.data(), values.data());
  }
}

void play(go::Search& search, const std::atomic<bool>& closed) {
  for (int number = 1; !closed; ++number) {
    const auto batch = search.wait_rollouts(8, 0.01);
    if (batch == nullptr) continue;
    if (number % kLost == 0) {
      search.retry(*batch);
    } else {
      search.deliver_rollouts(*batch, std::vector<int>(batch->requests.size(), number % 2 == 0 ? 1 : -1));
    }
  }
}

long visits(const go::Search& search) {
  long sum = 0;
  for (const go::EdgeReport& edge : search.edges({})) sum += edge.counts.rollouts;
  return sum;
}

bool run(Rollouts kind) {
  const bool rollouts = kind != Rollouts::kNone;
  go::SearchParams params;
  params.expansion_threshold = 1;
  params.max_threshold = 20;
  params.queue_limit = 32;
  params.use_rollouts = rollouts;
  params.wait_for_priors = !rollouts;
  const go::RolloutPolicy policy(go::RolloutWeights{}); // by a policy, so that the table of replies is used too
  go::Search search(go::Board(7), params, &policy, nullptr);
  std::atomic<bool> closed{false};
  std::vector<std::thread> evaluators;
  for (int i = 0; i < kEvaluators; ++i) {
    evaluators.emplace_back([&] { evaluate(search, closed); });
    evaluators.emplace_back([&] { play(search, closed); });
  }
  bool good = true;
  for (int move = 0; move < kMoves; ++move) {
    const long before = visits(search);
    search.start(kThreads, kSimulations, kind == Rollouts::kElsewhere);
    while (!search.wait(0.02)) {
      search.stats();
      search.edges({search.best_move()});
    }
    search.stop(1);
    const long added = visits(search) - before;
    good = good && (rollouts ? added == kSimulations : added <= kSimulations && added > 0);
    search.advance(search.best_move());
  }
  closed = true;
  search.interrupt();
  for (std::thread& evaluator : evaluators) evaluator.join();
  return good;
}

} // namespace

int main() {
  const bool good = run(Rollouts::kHere) && run(Rollouts::kElsewhere) && run(Rollouts::kNone);
  std::puts(good ? "ok" : "simulations were lost");
  return good ? 0 : 1;
}
