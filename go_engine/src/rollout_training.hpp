// Maximum likelihood training of the rollout and tree policies by stochastic gradient ascent.
//
// A round gives every shard some games. A shard starts from the common weights and makes one update for each position,
// a few games at a time turn about, so that neighbouring updates are of different games. Then each weight moves by the
// mean of the moves of the shards that changed it. How many threads share the shards changes nothing.
#pragma once

#include <vector>

#include "feature_index.hpp"
#include "training_state.hpp"

namespace go {

struct PolicyScore {
  double positions = 0;
  double log_likelihood = 0; // summed
  double correct = 0;        // moves predicted; k equally probable best moves count 1/k

  void add(const PolicyScore& other) {
    positions += other.positions;
    log_likelihood += other.log_likelihood;
    correct += other.correct;
  }
};

struct TrainingStep {
  float step_size = 0; // of the gradient of one position's log likelihood
  float l2 = 0;        // each position pulls every weight by step_size * l2 * weight towards 0
};

class RolloutTrainer {
public:
  // Keeps a reference to the games, whose moves and colours must be valid numbers.
  RolloutTrainer(const RolloutWeights& start, const std::vector<GameRecord>& games);

  // shards: the games of each. Returns the score of the moves before they were learnt.
  PolicyScore train_round(const std::vector<std::vector<int>>& shards, TrainingStep step, int threads);
  PolicyScore evaluate(const std::vector<int>& games, int threads) const;
  RolloutWeights weights() const { return features_.unflatten(weights_); }

private:
  struct Scratch;
  PolicyScore train_shard(const std::vector<int>& games, float step_size, std::vector<float>& weights) const;
  static void softmax(const Candidates& candidates, bool tree, const std::vector<float>& weights, Scratch& scratch);
  static PolicyScore score(const Candidates& candidates, int played, const Scratch& scratch);
  static void update(const Candidates& candidates, bool tree, int played, float step_size, const Scratch& scratch,
                     std::vector<float>& weights);
  void merge(const std::vector<std::vector<float>>& shards);

  FeatureIndex features_;
  const std::vector<GameRecord>* games_;
  std::vector<float> weights_;
};

} // namespace go
