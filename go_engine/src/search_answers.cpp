// Batches out of the search and answers back into it, in lock-step and with threads.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <stdexcept>

#include "search_worker.hpp"
#include "symmetry.hpp"

namespace go {
namespace {

constexpr double kRetrySeconds = 0.001; // a blocked thread looks again after this long, answer or not

} // namespace

void Search::ask_root() {
  if (root_ == 0 || running() || !params_.use_policy) return;
  workers_[0]->board = root_board_;
  workers_[0]->random = Random(params_.seed, root_board_.hash());
  push(*workers_[0], &tree_->node(root_), nullptr, false);
}

std::shared_ptr<LeafBatch> Search::collect(int max_leaves, std::uint64_t max_simulations) {
  if (running()) throw std::logic_error("search: threads are running; use wait_batch");
  if (!queue_.outstanding().empty()) throw std::logic_error("search: the last batch has not been delivered");
  bounded_ = hands_out_ = false;
  while (root_ != 0 && simulations_ < max_simulations &&
         queue_.waiting() < static_cast<std::size_t>(std::max(max_leaves, 1))) {
    if (simulate(*workers_[0], simulations_) == Outcome::kBlocked) break;
    ++simulations_;
  }
  auto batch = queue_.take(std::max(max_leaves, 1), 0);
  return batch != nullptr ? batch : std::make_shared<LeafBatch>(root_board_.size());
}

// ---------------------------------------------------------------------------------------------------------- answers

void Search::answer_policy(const LeafRequest& request, const float* priors) {
  Node& node = *request.node;
  const MoveMap& map = symmetry_map(root_board_.size(), request.policy_symmetry);
  PriorList list;
  const PriorEntry* entry = tree_->entries(node.placeholder);
  for (int i = 0; i < node.count; ++i) list.moves.push_back(entry[i].move);
  share_priors(list, root_board_.pass_move(), params_.beta, [&](int move) { return std::max(priors[map[move]], 0.F); });
  if (!tree_->replace_priors(answer_cursor_, node, list)) full_ = true;
  node.policy.store(PolicyState::kAnswered, std::memory_order_relaxed);
}

void Search::deliver(LeafBatch& batch, const float* priors, const float* values) {
  const std::lock_guard<std::mutex> guard(answers_);
  if (batch.cancelled || batch.answered) return;
  const std::size_t points = static_cast<std::size_t>(root_board_.pass_move());
  auto finite = [](const float* numbers, std::size_t n) {
    return std::all_of(numbers, numbers + n, [](float x) { return std::isfinite(x); });
  };
  if (!finite(priors, batch.policy_rows.size() * points) || !finite(values, batch.value_rows.size())) {
    for (LeafRequest& request : batch.requests) take_back(request);
    batch.cancelled = true;
    queue_.settle(batch);
    throw std::invalid_argument("search: the evaluator's answer contains a number that is not finite");
  }
  for (std::size_t row = 0; row < batch.policy_rows.size(); ++row) {
    answer_policy(batch.requests[batch.policy_rows[row]], priors + row * points);
  }
  for (std::size_t row = 0; row < batch.value_rows.size(); ++row) {
    const LeafRequest& request = batch.requests[batch.value_rows[row]];
    const double value = std::clamp(values[row], -1.F, 1.F) * to_sign(request.to_play);
    back_up_value(request.path, request.first, value);
    if (request.holds_visit) back_up(request.path, request.first, 0);
  }
  batch.answered = true;
  queue_.settle(batch);
}

void Search::deliver_rollouts(LeafBatch& batch, const std::vector<int>& winners) {
  const std::lock_guard<std::mutex> guard(answers_);
  if (batch.cancelled || batch.answered) return;
  const bool known = std::all_of(winners.begin(), winners.end(), [](int w) { return -1 <= w && w <= 1; });
  if (winners.size() != batch.requests.size() || !known) {
    throw std::invalid_argument("search: a winner, 1, -1 or 0, is needed for each rollout");
  }
  for (std::size_t i = 0; i < winners.size(); ++i) {
    back_up(batch.requests[i].path, batch.requests[i].first, winners[i]);
  }
  batch.answered = true;
  rollouts_.settle(batch);
}

bool Search::cancel(LeafBatch& batch) {
  const std::lock_guard<std::mutex> guard(answers_);
  if (batch.cancelled || batch.answered) return false;
  for (LeafRequest& request : batch.requests) take_back(request);
  batch.cancelled = true;
  queue_.settle(batch);
  rollouts_.settle(batch);
  return true;
}

void Search::retry(LeafBatch& batch) {
  const std::lock_guard<std::mutex> guard(answers_);
  if (batch.cancelled || batch.answered) return;
  for (LeafRequest& request : batch.requests) {
    LeafQueue& queue = request.moves.empty() ? queue_ : rollouts_;
    queue.push(std::move(request));
  }
  batch.cancelled = true;
  queue_.settle(batch);
  rollouts_.settle(batch);
}

// As if it had never been asked.
void Search::take_back(LeafRequest& request) {
  if (request.node != nullptr) request.node->policy.store(PolicyState::kUnasked, std::memory_order_relaxed);
  if (request.edge != nullptr) request.edge->forget_value();
  if (request.holds_visit) undo(request.path);
}

void Search::drop_requests() { // under answers_
  for (LeafQueue* queue : {&queue_, &rollouts_}) {
    for (LeafRequest& request : queue->clear()) take_back(request);
    for (const auto& batch : queue->outstanding()) {
      for (LeafRequest& request : batch->requests) take_back(request);
      batch->cancelled = true;
      queue->settle(*batch);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------- threads

void Search::start(int threads, std::uint64_t max_simulations, bool hand_out_rollouts) {
  if (running()) throw std::logic_error("search: it is running already");
  if (threads < 1 || threads > kMaxSearchThreads) throw std::invalid_argument("search: threads must lie in 1..256");
  if (root_ == 0) return; // the game is over
  while (static_cast<int>(workers_.size()) < threads) workers_.push_back(std::make_unique<Worker>(root_board_));
  stop_ = false;
  bounded_ = true;
  hands_out_ = hand_out_rollouts;
  target_ = max_simulations == 0 ? 0 : started_ + max_simulations;
  {
    const std::lock_guard<std::mutex> guard(state_);
    failure_.clear();
    active_ = threads;
  }
  for (int i = 0; i < threads; ++i) threads_.emplace_back(&Search::work, this, i);
}

void Search::work(int thread) {
  try {
    while (!stop_) {
      const std::uint64_t number = started_.fetch_add(1);
      if (target_ != 0 && number >= target_) break;
      while (simulate(*workers_[thread], number) == Outcome::kBlocked && !stop_) {
        queue_.wait_for_change(kRetrySeconds);
      }
      simulations_.fetch_add(1, std::memory_order_relaxed);
    }
  } catch (const std::exception& error) {
    fail(error.what());
  }
  {
    const std::lock_guard<std::mutex> guard(state_);
    --active_;
  }
  idle_.notify_all();
}

bool Search::wait(double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  {
    std::unique_lock<std::mutex> guard(state_);
    if (!idle_.wait_until(guard, end, [&] { return active_ == 0; })) return false;
  }
  while (!stop_ && !rollouts_.idle()) {
    if (Clock::now() >= end) return false;
    rollouts_.wait_for_change(kRetrySeconds);
  }
  return true;
}

void Search::stop(double grace) {
  stop_ = true;
  interrupt();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  started_ = simulations_.load();
  if (grace > 0) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(grace);
    queue_.wait_until_settled(grace);
    rollouts_.wait_until_settled(std::chrono::duration<double>(end - std::chrono::steady_clock::now()).count());
  }
  const std::lock_guard<std::mutex> guard(answers_);
  drop_requests();
}

std::shared_ptr<LeafBatch> Search::wait_batch(int max_leaves, double seconds) {
  const std::size_t waiting = queue_.waiting();
  auto batch = queue_.take(max_leaves, seconds);
  if (batch != nullptr && params_.use_rollouts) adapt_threshold(waiting);
  return batch;
}

std::shared_ptr<LeafBatch> Search::wait_rollouts(int max_rollouts, double seconds) {
  return rollouts_.take(max_rollouts, seconds);
}

void Search::interrupt() {
  queue_.interrupt();
  rollouts_.interrupt();
}

void Search::fail(const std::string& message) {
  {
    const std::lock_guard<std::mutex> guard(state_);
    if (failure_.empty()) failure_ = message;
  }
  stop_ = true;
  interrupt();
}

std::string Search::failure() const {
  const std::lock_guard<std::mutex> guard(state_);
  return failure_;
}

// n_thr follows the queue: more than half full, and fewer positions become nodes; empty, and more do. Without rollouts
// it stays, since there a second visit to a position that is no node learns nothing.
void Search::adapt_threshold(std::size_t waiting) {
  constexpr int kStep = 8; // changes by an eighth
  const int now = threshold_.load(std::memory_order_relaxed);
  int next = now;
  if (waiting * 2 > static_cast<std::size_t>(params_.queue_limit)) {
    next = std::min(now + std::max(now / kStep, 1), std::max(params_.max_threshold, params_.expansion_threshold));
  } else if (waiting == 0) {
    next = std::max(now - std::max(now / kStep, 1), params_.expansion_threshold);
  }
  threshold_.store(next, std::memory_order_relaxed);
}

} // namespace go
