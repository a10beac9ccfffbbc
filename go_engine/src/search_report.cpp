// What the search has found: the move to play, its value, and the statistics of any node.
#include <algorithm>
#include <array>

#include "search_worker.hpp"

namespace go {
namespace {

constexpr int kWellVisited = 10; // a move counts for resignation with a tenth of the visits of the most visited one

} // namespace

// Would a pass end the game and win it? Then nothing is better.
bool Search::pass_wins() const {
  return root_board_.passes() > 0 && root_board_.area_score() * to_sign(root_board_.to_play()) > 0;
}

bool Search::decided() const {
  const std::lock_guard<std::mutex> guard(answers_);
  return root_ == 0 || tree_->node(root_).count == 1 || pass_wins();
}

int Search::best_move() const {
  const std::lock_guard<std::mutex> guard(answers_);
  if (root_ == 0) return root_board_.pass_move();
  if (pass_wins()) return root_board_.pass_move();
  const Node& node = tree_->node(root_);
  const Edge* best = nullptr;
  EdgeCounts most;
  for (int i = 0; i < node.opened.load(std::memory_order_acquire); ++i) {
    const Edge& edge = tree_->edge(node, i);
    const EdgeCounts counts = edge.counts();
    if (best == nullptr || counts.rollouts > most.rollouts ||
        (counts.rollouts == most.rollouts && rule_.value(counts) > rule_.value(most))) {
      best = &edge;
      most = counts;
    }
  }
  return best != nullptr ? best->move() : tree_->entries(node.entries.load(std::memory_order_acquire))[0].move;
}

double Search::best_value() const {
  const std::lock_guard<std::mutex> guard(answers_);
  if (root_ == 0) return 0;
  const Node& node = tree_->node(root_);
  const int opened = node.opened.load(std::memory_order_acquire);
  int most = 0;
  for (int i = 0; i < opened; ++i) most = std::max(most, tree_->edge(node, i).counts().rollouts);
  bool any = false;
  double best = 0;
  for (int i = 0; i < opened; ++i) {
    const EdgeCounts counts = tree_->edge(node, i).counts();
    if (counts.rollouts == 0 || counts.rollouts * kWellVisited < most) continue;
    best = any ? std::max<double>(best, rule_.value(counts)) : rule_.value(counts);
    any = true;
  }
  return best;
}

bool Search::should_resign() const { return best_value() < params_.resign_threshold; }

bool Search::disagreement() const {
  const std::vector<EdgeReport> all = edges({});
  const auto visits = [](const EdgeReport& a, const EdgeReport& b) { return a.counts.rollouts < b.counts.rollouts; };
  const auto most = std::max_element(all.begin(), all.end(), visits);
  if (most == all.end()) return false;
  return std::any_of(all.begin(), all.end(), [&](const EdgeReport& e) {
    return e.counts.rollouts * kWellVisited >= most->counts.rollouts && e.value > most->value;
  });
}

const Node* Search::walk(const std::vector<int>& path) const {
  if (root_ == 0) return nullptr;
  const Node* node = &tree_->node(root_);
  for (int move : path) {
    const Edge* edge = tree_->find(*node, move);
    const Ref child = edge == nullptr ? 0 : edge->child.load(std::memory_order_acquire);
    if (child == 0 || child == Edge::kClaimed) return nullptr;
    node = &tree_->node(child);
  }
  return node;
}

EdgeReport Search::report(PriorEntry entry, float placeholder, const Edge* edge) const {
  EdgeReport report;
  report.move = entry.move;
  report.prior = decode_prior(entry.prior);
  report.placeholder = placeholder;
  if (edge == nullptr) return report;
  report.counts = edge->counts();
  report.value = rule_.value(report.counts);
  const Ref child = edge->child.load(std::memory_order_acquire);
  report.expanded = child != 0 && child != Edge::kClaimed;
  return report;
}

std::vector<EdgeReport> Search::edges(const std::vector<int>& path) const {
  const std::lock_guard<std::mutex> guard(answers_);
  std::vector<EdgeReport> all;
  const Node* node = walk(path);
  if (node == nullptr) return all;
  std::array<float, kMaxMoves + 1> placeholder{};
  std::array<const Edge*, kMaxMoves + 1> opened{};
  const PriorEntry* born = tree_->entries(node->placeholder);
  for (int i = 0; i < node->count; ++i) placeholder[born[i].move] = decode_prior(born[i].prior);
  for (int i = 0; i < node->opened.load(std::memory_order_acquire); ++i) {
    const Edge& edge = tree_->edge(*node, i);
    opened[edge.move()] = &edge;
  }
  const PriorEntry* now = tree_->entries(node->entries.load(std::memory_order_acquire));
  for (int i = 0; i < node->count; ++i) {
    all.push_back(report(now[i], placeholder[now[i].move], opened[now[i].move]));
  }
  return all;
}

SearchStats Search::stats() const {
  const std::lock_guard<std::mutex> guard(answers_);
  SearchStats stats;
  stats.simulations = simulations_;
  stats.leaves = leaves_;
  stats.skipped = skipped_;
  stats.nodes = tree_->nodes();
  stats.bytes = tree_->arena().used();
  stats.threshold = threshold_;
  stats.full = full_;
  stats.max_depth = max_depth_;
  return stats;
}

} // namespace go
