// APV-MCTS: the asynchronous policy and value search of the paper's Methods.
//
// A simulation descends from the root by Q + u with virtual losses, asks for the value of the position that it reaches
// (once per position), plays one rollout from there and gives the result back along its path; values come back along
// theirs when an evaluator has answered. A position visited more than `expansion_threshold` times becomes a node, with
// placeholder priors from the tree policy until the network's have come.
//
// What the networks are to answer gathers in a queue (search_queue.hpp). It is emptied either in lock-step (`collect`,
// then `deliver`: one thread, the same tree for the same seed) or by evaluator threads while search threads run
// (`start`, `wait_batch`, `deliver`, `stop`). Rollouts are played by the search threads; or, when `start` is told so,
// they gather in a queue of their own for whoever plays them (`wait_rollouts`, `deliver_rollouts`).
//
// Passing: the networks have no pass, and a player passes when nothing sensible is left. A pass is one of a node's
// moves (1) when there is no sensible move, (2) after the other side's pass, where it ends the game, and (3) when every
// sensible move puts its own chain into atari without taking anything, as in a seki. An ended game counts with its
// exact score at every visit. Where the networks give priors the pass gets an equal share, 1 / number of moves.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "board.hpp"
#include "random.hpp"
#include "reply_table.hpp"
#include "search_queue.hpp"
#include "search_tree.hpp"

namespace go {

class RolloutPolicy;

struct SearchParams {
  double c_puct = 5;              // weight of exploration in u
  double beta = 0.67;             // network priors are p^beta, normalised
  double mixing = 0.5;            // lambda: weight of rollouts against values
  int virtual_loss = 3;           // n_vl
  int expansion_threshold = 40;   // n_thr: more visits than this make a node; 0 = the first visit
  int max_threshold = 400;        // n_thr adapts between the two; equal or less switches adaptation off
  bool use_policy = true;         // network priors; otherwise the placeholders stay
  bool use_value = true;          // network values
  bool use_rollouts = true;       // rollouts
  bool use_replies = true;        // rollouts by a policy play the tree's moves where the context is the same
  bool wait_for_priors = false;   // stop at a node whose network priors are outstanding instead of using placeholders
  double resign_threshold = -0.8; // resign when no well visited move has a higher Q; below -1: never
  std::uint64_t seed = 0;
  int memory_mb = 256;   // bound of the tree; when it is full the search goes on without growing
  int queue_limit = 256; // leaves waiting for search threads' evaluators; beyond it values are skipped
  int max_plies = 0;     // a game this long is scored as it stands; 0 = 2 * size * size

  void check() const; // throws std::invalid_argument naming the parameter
};

inline constexpr int kResign = -1;
inline constexpr int kMaxSearchThreads = 256;

struct EdgeReport {
  int move = 0;
  float placeholder = 0; // prior before the network answered
  float prior = 0;
  EdgeCounts counts;
  float value = 0; // Q
  bool expanded = false;
};

struct SearchStats {
  std::uint64_t simulations = 0; // since the last reset or advance
  std::uint64_t leaves = 0;      // evaluations asked for
  std::uint64_t skipped = 0;     // values not asked for because the queue was full
  std::size_t nodes = 0;
  std::size_t bytes = 0;
  int threshold = 0; // n_thr as it is now
  bool full = false; // the memory bound was reached
  int max_depth = 0;
};

class Search {
public:
  // Policies may be null: uniform playouts, uniform placeholders. They must outlive the search.
  Search(const Board& board, const SearchParams& params, const RolloutPolicy* rollout_policy,
         const RolloutPolicy* tree_policy);
  ~Search();
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  const Board& board() const { return root_board_; }
  const SearchParams& params() const { return params_; }
  void reset(const Board& board); // forgets the tree
  void advance(int move);         // plays at the root and keeps the subtree; drops unanswered requests
  // Goes on from this board, which may be the root's own or up to two moves later, and keeps the subtree; a board that
  // is anything else means a reset. Returns whether the tree was kept.
  bool follow(const Board& board);

  void ask_root(); // puts the root's priors into the queue, if a network is to give them and has not been asked

  // Lock-step. Runs simulations until max_leaves evaluations wait, max_simulations are done, or nothing can go on
  // without answers; returns what waits (perhaps nothing). The batch must be delivered before the next collect.
  std::shared_ptr<LeafBatch> collect(int max_leaves, std::uint64_t max_simulations);

  // Threads. `start` returns at once; `wait` returns true when the simulations (0 = no end) are done and
  // all rollouts that were handed out have come back.
  // With `hand_out_rollouts` a simulation is done when its rollout waits in the queue; its virtual losses stay until
  // the winner is known, and no more than queue_limit wait.
  void start(int threads, std::uint64_t max_simulations, bool hand_out_rollouts = false);
  bool wait(double seconds);
  // Ends the threads, waits up to `grace` seconds for the batches that evaluators hold and takes back all leaves that
  // are unanswered then, so that no virtual loss is left. Idempotent.
  void stop(double grace);
  bool running() const { return !threads_.empty(); }
  std::shared_ptr<LeafBatch> wait_batch(int max_leaves, double seconds); // null after the time or when interrupted
  std::shared_ptr<LeafBatch> wait_rollouts(int max_rollouts, double seconds);
  void interrupt();                      // wakes everybody in wait_batch and wait_rollouts
  void fail(const std::string& message); // an evaluator is lost: ends the search, which keeps what it has
  std::string failure() const;           // empty if none

  // Answers. Rows in the batch's order; priors are the network's probabilities for the transformed positions, values
  // are from the view of the player to move. A batch from before an advance or reset is ignored. Throws
  // std::invalid_argument, and cancels the batch, for a number that is not finite.
  void deliver(LeafBatch& batch, const float* priors, const float* values);
  void deliver_rollouts(LeafBatch& batch, const std::vector<int>& winners); // 1 Black, -1 White, 0 neither
  // Gives the leaves back unanswered; they are asked for again when visited. False for a batch that nobody waits for.
  bool cancel(LeafBatch& batch);
  void retry(LeafBatch& batch); // into the queue again, for another evaluator: this one has been lost

  int best_move() const;     // most visited; the most probable when nothing was visited; pass if that wins at once
  bool decided() const;      // best_move is known without a search: a single move, or a pass that wins at once
  double best_value() const; // highest Q among the well visited moves of the root, 0 without visits
  bool should_resign() const;
  bool disagreement() const; // the most visited move is not the one with the best value
  std::vector<EdgeReport> edges(const std::vector<int>& path) const; // of the node after these moves; empty if none
  SearchStats stats() const;

private:
  enum class Outcome { kDone, kBlocked };
  struct Worker;

  Outcome simulate(Worker& worker, std::uint64_t number);
  Outcome evaluate(Worker& worker, Edge* edge);
  void remember_reply(const Board& board, const Node& node);
  void ask_policy(Worker& worker, Node& node);
  void push(Worker& worker, Node* node, Edge* edge, bool holds_visit);
  void push_rollout(const Worker& worker);
  bool has_room() const { return !bounded_ || queue_.waiting() < static_cast<std::size_t>(params_.queue_limit); }
  Node* expand(Worker& worker, Edge& edge);
  Ref make_node(Worker& worker);
  void list_moves(const Board& board, PriorList& list) const;
  void undo(const std::vector<Step>& path);
  void back_up(const std::vector<Step>& path, Colour first, int winner);
  void back_up_value(const std::vector<Step>& path, Colour first, double black_value);
  bool pass_wins() const;
  bool over(const Board& board) const { return board.over() || board.move_number() >= max_plies_; }
  int rollout(const Board& board, Random& random) const; // 1 Black has won, -1 White
  void answer_policy(const LeafRequest& request, const float* priors);
  void take_back(LeafRequest& request);
  void drop_requests();
  void new_root();
  void work(int thread);
  void adapt_threshold(std::size_t waiting);
  const Node* walk(const std::vector<int>& path) const;
  EdgeReport report(PriorEntry entry, float placeholder, const Edge* edge) const;

  SearchParams params_;
  SelectionRule rule_;
  int max_plies_;
  const RolloutPolicy* rollout_policy_;
  const RolloutPolicy* tree_policy_;
  Board root_board_;
  std::unique_ptr<ReplyTable> replies_; // null when unused
  std::unique_ptr<Tree> tree_;
  Ref root_ = 0; // 0 when the game is over
  LeafQueue queue_;
  LeafQueue rollouts_;                           // that are handed out
  std::vector<std::unique_ptr<Worker>> workers_; // the first also serves lock-step
  mutable std::mutex answers_;                   // deliver, advance, reset and reports exclude each other
  Arena::Cursor answer_cursor_;                  // under answers_

  std::atomic<int> threshold_;
  std::atomic<bool> full_{false};
  std::atomic<bool> stop_{false};
  std::atomic<bool> bounded_{false};
  std::atomic<bool> hands_out_{false};
  std::atomic<std::uint64_t> started_{0};
  std::atomic<std::uint64_t> simulations_{0};
  std::atomic<std::uint64_t> leaves_{0};
  std::atomic<std::uint64_t> skipped_{0};
  std::atomic<int> max_depth_{0};
  std::uint64_t target_ = 0; // of `start`, in terms of started_

  std::vector<std::thread> threads_;
  int active_ = 0; // under state_
  std::string failure_;
  mutable std::mutex state_;
  std::condition_variable idle_;
};

} // namespace go
