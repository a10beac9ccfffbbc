#include "rollout_training.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <memory>

#include "threads.hpp"

namespace go {
namespace {

constexpr std::size_t kGamesAtOnce = 8; // of a shard, replayed turn about
constexpr int kEvaluationBlock = 16;    // games

// exp to a relative error of about 2e-7 for |x| < 80, in a form that compiles to vector instructions.
inline float fast_exp(float x) {
  constexpr float kLog2 = 1.44269504F;
  constexpr float kRound = 12582912.0F; // 1.5 * 2^23: adding it leaves the nearest whole number in the low bits
  x = std::min(std::max(x, -80.0F), 80.0F);
  const float scaled = x * kLog2;
  const float whole = (scaled + kRound) - kRound;
  const float f = (scaled - whole) * 0.693147181F; // in +-log(2)/2
  const float series =
      1 + f * (1 + f * (0.5F + f * (0.166666667F + f * (0.0416666667F + f * (0.00833333333F + f * 0.00138888889F)))));
  return series * std::bit_cast<float>((static_cast<std::int32_t>(whole) + 127) << 23);
}

} // namespace

struct RolloutTrainer::Scratch {
  std::array<float, kMaxMoves> score;
  std::array<float, kMaxMoves> probability;
  float total = 0; // of exp(score - best)
  float best = 0;
};

RolloutTrainer::RolloutTrainer(const RolloutWeights& start, const std::vector<GameRecord>& games)
    : features_(start), games_(&games), weights_(features_.flatten()) {}

void RolloutTrainer::softmax(const Candidates& c, bool tree, const std::vector<float>& weights, Scratch& scratch) {
  auto& score = scratch.score;
  for (int k = 0; k < c.count; ++k) score[k] = weights[c.ring[k]];
  for (std::size_t i = 0; i < c.extra_count; ++i) score[c.extra[i].candidate] += weights[c.extra[i].feature];
  if (tree) {
    for (int k = 0; k < c.count; ++k) score[k] += weights[c.diamond[k]];
    for (int k = 0; k < c.count; ++k) score[k] += c.self_atari[k] ? weights[FeatureIndex::kSelfAtari] : 0.0F;
    for (std::size_t which = 0; which < 2; ++which) {
      if (!c.has_distance[which]) continue;
      const float* distance = weights.data() + FeatureIndex::kDistance + which * kDistances;
      for (int k = 0; k < c.count; ++k) score[k] += distance[c.distance[which][k]];
    }
  }
  scratch.best = *std::max_element(score.begin(), score.begin() + c.count);
  for (int k = 0; k < c.count; ++k) scratch.probability[k] = fast_exp(score[k] - scratch.best);
  float total = 0;
  for (int k = 0; k < c.count; ++k) total += scratch.probability[k];
  scratch.total = total;
  const float scale = 1 / total;
  for (int k = 0; k < c.count; ++k) scratch.probability[k] *= scale;
}

PolicyScore RolloutTrainer::score(const Candidates& c, int played, const Scratch& scratch) {
  PolicyScore result;
  result.positions = 1;
  result.log_likelihood = scratch.score[played] - scratch.best - std::log(scratch.total);
  if (scratch.score[played] == scratch.best) {
    const auto end = scratch.score.begin() + c.count;
    result.correct = 1.0 / static_cast<double>(std::count(scratch.score.begin(), end, scratch.best));
  }
  return result;
}

// Adds step_size times the gradient: the features of the move that was played, less those expected.
void RolloutTrainer::update(const Candidates& c, bool tree, int played, float step_size, const Scratch& scratch,
                            std::vector<float>& weights) {
  auto change = [&](int k) { return step_size * ((k == played) - scratch.probability[k]); };
  for (int k = 0; k < c.count; ++k) weights[c.ring[k]] += change(k);
  for (std::size_t i = 0; i < c.extra_count; ++i) weights[c.extra[i].feature] += change(c.extra[i].candidate);
  if (tree) {
    for (int k = 0; k < c.count; ++k) weights[c.diamond[k]] += change(k);
    for (int k = 0; k < c.count; ++k) {
      if (c.self_atari[k]) weights[FeatureIndex::kSelfAtari] += change(k);
    }
    for (std::size_t which = 0; which < 2; ++which) {
      if (!c.has_distance[which]) continue;
      float* distance = weights.data() + FeatureIndex::kDistance + which * kDistances;
      for (int k = 0; k < c.count; ++k) distance[c.distance[which][k]] += change(k);
    }
  }
  weights[FeatureIndex::kUnknown] = 0;
}

PolicyScore RolloutTrainer::train_shard(const std::vector<int>& games, float step_size,
                                        std::vector<float>& weights) const {
  PolicyScore result;
  const auto candidates = std::make_unique<Candidates>();
  const auto scratch = std::make_unique<Scratch>();
  std::deque<TrainingState> running;
  std::size_t started = 0;
  while (true) {
    while (running.size() < kGamesAtOnce && started < games.size()) {
      running.emplace_back(features_, (*games_)[static_cast<std::size_t>(games[started++])]);
    }
    if (running.empty()) return result;
    for (auto state = running.begin(); state != running.end();) {
      if (!state->next()) {
        state = running.erase(state);
        continue;
      }
      state->candidates(*candidates);
      const int played = candidates->index[state->move()];
      softmax(*candidates, features_.tree(), weights, *scratch);
      result.add(score(*candidates, played, *scratch));
      update(*candidates, features_.tree(), played, step_size, *scratch, weights);
      ++state;
    }
  }
}

void RolloutTrainer::merge(const std::vector<std::vector<float>>& shards) {
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    double change = 0;
    int changed = 0;
    for (const auto& shard : shards) {
      if (shard[i] == weights_[i]) continue;
      change += shard[i] - weights_[i];
      ++changed;
    }
    if (changed > 0) weights_[i] += static_cast<float>(change / changed);
  }
}

PolicyScore RolloutTrainer::train_round(const std::vector<std::vector<int>>& shards, TrainingStep step, int threads) {
  std::vector<std::vector<float>> weights(shards.size(), weights_);
  std::vector<PolicyScore> scores(shards.size());
  parallel_for(static_cast<int>(shards.size()), 1, threads, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const auto shard = static_cast<std::size_t>(i);
      scores[shard] = train_shard(shards[shard], step.step_size, weights[shard]);
    }
  });
  PolicyScore total;
  for (const PolicyScore& one : scores) total.add(one);
  if (shards.empty()) return total;
  merge(weights);
  const double each = total.positions / static_cast<double>(shards.size()); // updates made one after the other
  const auto keep = static_cast<float>(std::exp(-each * step.step_size * step.l2));
  for (float& weight : weights_) weight *= keep;
  return total;
}

PolicyScore RolloutTrainer::evaluate(const std::vector<int>& games, int threads) const {
  std::vector<PolicyScore> scores(games.size());
  parallel_for(static_cast<int>(games.size()), kEvaluationBlock, threads, [&](int begin, int end) {
    const auto candidates = std::make_unique<Candidates>();
    const auto scratch = std::make_unique<Scratch>();
    for (int i = begin; i < end; ++i) {
      const auto game = static_cast<std::size_t>(i);
      TrainingState state(features_, (*games_)[static_cast<std::size_t>(games[game])]);
      while (state.next()) {
        state.candidates(*candidates);
        softmax(*candidates, features_.tree(), weights_, *scratch);
        scores[game].add(score(*candidates, candidates->index[state.move()], *scratch));
      }
    }
  });
  PolicyScore total;
  for (const PolicyScore& one : scores) total.add(one);
  return total;
}

} // namespace go
