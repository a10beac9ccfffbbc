#include "search.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "playout.hpp"
#include "search_worker.hpp"
#include "symmetry.hpp"

namespace go {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

// Would the move leave its own chain with a single liberty without taking anything?
bool puts_itself_in_atari(const Position& position, Point p, Colour colour) {
  if (position.neighbours(p, kEmpty) >= 2) return false;
  const int kEnough = 3; // p itself and two more
  Point found = kNoPoint;
  for (int offset : position.geometry().neighbour) {
    const Point q = static_cast<Point>(p + offset);
    const Colour c = position.colour(q);
    if (c == opponent(colour) && position.chain(q).in_atari()) return false;
    Point own[3];
    int count = 0;
    if (c == kEmpty) own[count++] = q;
    if (c == colour) count = position.liberties(q, kEnough, own);
    for (int i = 0; i < count; ++i) {
      if (own[i] == p || own[i] == found) continue;
      if (found != kNoPoint) return false;
      found = own[i];
    }
  }
  return true;
}

} // namespace

void SearchParams::check() const {
  auto require = [](bool good, const char* what) {
    if (!good) throw std::invalid_argument(std::string("search: ") + what);
  };
  require(c_puct >= 0 && std::isfinite(c_puct), "c_puct must be a number >= 0");
  require(beta > 0 && std::isfinite(beta), "beta must be a number > 0");
  require(mixing >= 0 && mixing <= 1, "mixing must lie in 0..1");
  require(virtual_loss >= 0 && virtual_loss <= 1000, "virtual_loss must lie in 0..1000");
  require(expansion_threshold >= 0, "expansion_threshold must be >= 0");
  require(memory_mb >= 1 && memory_mb <= 32768, "memory_mb must lie in 1..32768");
  require(queue_limit >= 1, "queue_limit must be >= 1");
  require(max_plies >= 0, "max_plies must be >= 0");
}

Search::Search(const Board& board, const SearchParams& params, const RolloutPolicy* rollout_policy,
               const RolloutPolicy* tree_policy)
    : params_(params), max_plies_(params.max_plies > 0 ? params.max_plies : playout_cap(board.size())),
      rollout_policy_(rollout_policy), tree_policy_(tree_policy), root_board_(board), queue_(board.size()),
      rollouts_(board.size()), threshold_(params.expansion_threshold) {
  params_.check();
  // What is not there has no weight, whatever was asked for.
  rule_.c_puct = static_cast<float>(params.c_puct);
  rule_.mixing = static_cast<float>(!params.use_value ? 1 : !params.use_rollouts ? 0 : params.mixing);
  workers_.push_back(std::make_unique<Worker>(root_board_));
  if (rollout_policy_ != nullptr && params_.use_rollouts && params_.use_replies) {
    replies_ = std::make_unique<ReplyTable>();
  }
  new_root();
}

Search::~Search() { stop(0); }

void Search::new_root() {
  tree_ = std::make_unique<Tree>(params_.memory_mb * kMegabyte);
  for (auto& worker : workers_) worker->cursor = {};
  answer_cursor_ = {};
  full_ = false;
  root_ = 0;
  if (over(root_board_)) return;
  workers_[0]->board = root_board_;
  root_ = make_node(*workers_[0]);
}

void Search::reset(const Board& board) {
  if (running()) throw std::logic_error("search: stop it before a reset");
  if (board.size() != root_board_.size()) throw std::invalid_argument("search: the board has another size");
  const std::lock_guard<std::mutex> guard(answers_);
  drop_requests();
  root_board_ = board;
  simulations_ = started_ = max_depth_ = 0;
  if (replies_ != nullptr) replies_->clear();
  new_root();
}

// The subtree below the move is copied into fresh memory, the rest goes with the old one.
void Search::advance(int move) {
  if (running()) throw std::logic_error("search: stop it before an advance");
  const std::lock_guard<std::mutex> guard(answers_);
  root_board_.play(move);
  drop_requests();
  simulations_ = started_ = max_depth_ = 0;
  const Edge* edge = root_ == 0 ? nullptr : tree_->find(tree_->node(root_), move);
  const Ref child = edge == nullptr ? 0 : edge->child.load();
  if (child == 0 || child == Edge::kClaimed || over(root_board_)) {
    new_root();
    return;
  }
  auto fresh = std::make_unique<Tree>(params_.memory_mb * kMegabyte);
  Arena::Cursor cursor;
  root_ = fresh->copy(cursor, *tree_, child);
  tree_ = std::move(fresh);
  for (auto& worker : workers_) worker->cursor = {};
  workers_[0]->cursor = cursor;
  answer_cursor_ = {};
  full_ = false;
  if (root_ == 0) new_root();
}

bool Search::follow(const Board& board) {
  auto same = [](const Board& a, const Board& b) {
    return a.hash() == b.hash() && a.to_play() == b.to_play() && a.move_number() == b.move_number() &&
           a.passes() == b.passes() && a.position().ko() == b.position().ko() && a.komi() == b.komi() &&
           a.ko_rule() == b.ko_rule() && a.size() == b.size();
  };
  const int ahead = board.move_number() - root_board_.move_number();
  std::vector<int> moves;
  if (ahead == 2) moves.push_back(board.move_before_last());
  if (ahead == 1 || ahead == 2) moves.push_back(board.last_move());
  Board trial = root_board_;
  for (int move : moves) {
    if (!trial.legal(move, trial.to_play())) break;
    trial.play(move);
  }
  if (!same(trial, board)) {
    reset(board);
    return false;
  }
  for (int move : moves) advance(move);
  return true;
}

// ------------------------------------------------------------------------------------------------------ simulation

Search::Outcome Search::simulate(Worker& worker, std::uint64_t number) {
  if (hands_out_ && rollouts_.waiting() >= static_cast<std::size_t>(params_.queue_limit)) return Outcome::kBlocked;
  worker.random = Random(params_.seed ^ mix(static_cast<std::uint64_t>(root_board_.move_number())), number);
  worker.board = root_board_;
  worker.path.clear();
  Node* node = &tree_->node(root_);
  for (;;) {
    if (params_.use_policy && node->policy.load(std::memory_order_relaxed) == PolicyState::kUnasked) {
      ask_policy(worker, *node);
    }
    if (params_.wait_for_priors && node->policy.load(std::memory_order_relaxed) == PolicyState::kPending) {
      undo(worker.path);
      return Outcome::kBlocked;
    }
    if (replies_ != nullptr) remember_reply(worker.board, *node);
    Edge* edge = tree_->select(worker.cursor, *node, rule_);
    if (edge == nullptr) { // no memory for even one edge: the position above is as far as it goes
      full_ = true;
      return evaluate(worker, nullptr);
    }
    edge->add_rollouts(params_.virtual_loss, -params_.virtual_loss);
    node->visits.fetch_add(params_.virtual_loss, std::memory_order_relaxed);
    worker.path.push_back({node, edge});
    worker.board.play(edge->move());
    const Ref child = edge->child.load(std::memory_order_acquire);
    if (child == 0 || child == Edge::kClaimed) return evaluate(worker, edge);
    node = &tree_->node(child);
  }
}

void Search::remember_reply(const Board& board, const Node& node) {
  const int move = tree_->entries(node.entries.load(std::memory_order_acquire))[0].move;
  const int previous = board.last_move();
  if (previous < 0 || previous == board.pass_move() || move == board.pass_move()) return;
  const auto& point_of = board.geometry().point_of;
  replies_->store(board.position(), board.to_play(), point_of[previous], point_of[move]);
}

// The simulation has arrived: evaluates the position of worker.board, behind `edge` if there is one.
Search::Outcome Search::evaluate(Worker& worker, Edge* edge) {
  const Colour first = root_board_.to_play();
  const int depth = static_cast<int>(worker.path.size());
  if (depth > max_depth_.load(std::memory_order_relaxed)) max_depth_.store(depth, std::memory_order_relaxed);
  if (over(worker.board)) { // exact, and as sure the tenth time as the first
    const double score = worker.board.area_score();
    const int winner = (score > 0) - (score < 0);
    back_up(worker.path, first, winner);
    back_up_value(worker.path, first, winner);
    return Outcome::kDone;
  }
  bool holds_visit = false;
  if (edge != nullptr) {
    const bool wants_value = params_.use_value && edge->ask_value();
    const bool room = has_room();
    if (wants_value && !room) {
      edge->forget_value();
      skipped_.fetch_add(1, std::memory_order_relaxed);
      if (!params_.use_rollouts) { // nothing else could be learned here
        undo(worker.path);
        return Outcome::kBlocked;
      }
    }
    const int visits = edge->counts().rollouts - params_.virtual_loss + 1;
    Node* fresh = visits > threshold_.load(std::memory_order_relaxed) ? expand(worker, *edge) : nullptr;
    const bool wants_policy =
        fresh != nullptr && room && fresh->policy.load(std::memory_order_relaxed) == PolicyState::kUnasked;
    holds_visit = wants_value && room && !params_.use_rollouts;
    if ((wants_value && room) || wants_policy) {
      push(worker, wants_policy ? fresh : nullptr, wants_value && room ? edge : nullptr, holds_visit);
    }
  }
  if (params_.use_rollouts && hands_out_ && !worker.path.empty()) {
    push_rollout(worker);
  } else if (params_.use_rollouts) {
    back_up(worker.path, first, rollout(worker.board, worker.random));
  } else if (!holds_visit) {
    back_up(worker.path, first, 0);
  }
  return Outcome::kDone;
}

void Search::ask_policy(Worker& worker, Node& node) {
  if (has_room()) push(worker, &node, nullptr, false);
}

// Several threads may come to ask for one node's priors; the first one does.
void Search::push(Worker& worker, Node* node, Edge* edge, bool holds_visit) {
  PolicyState expected = PolicyState::kUnasked;
  if (node != nullptr && !node->policy.compare_exchange_strong(expected, PolicyState::kPending)) node = nullptr;
  if (node == nullptr && edge == nullptr) return;
  LeafRequest request;
  request.node = node;
  request.edge = edge;
  request.first = root_board_.to_play();
  request.to_play = worker.board.to_play();
  request.policy_symmetry = static_cast<std::uint8_t>(worker.random.below(kSymmetries));
  request.value_symmetry = static_cast<std::uint8_t>(worker.random.below(kSymmetries));
  request.holds_visit = holds_visit;
  if (edge != nullptr) request.path = worker.path;
  request.features = std::make_unique<Features>(worker.board);
  leaves_.fetch_add(1, std::memory_order_relaxed);
  queue_.push(std::move(request));
}

void Search::push_rollout(const Worker& worker) {
  LeafRequest request;
  request.first = root_board_.to_play();
  request.to_play = worker.board.to_play();
  request.holds_visit = true;
  request.path = worker.path;
  for (const Step& step : worker.path) request.moves.push_back(static_cast<std::uint16_t>(step.edge->move()));
  rollouts_.push(std::move(request));
}

Node* Search::expand(Worker& worker, Edge& edge) {
  Ref expected = 0;
  if (full_.load(std::memory_order_relaxed)) return nullptr;
  if (!edge.child.compare_exchange_strong(expected, Edge::kClaimed)) return nullptr; // another thread is at it
  const Ref ref = make_node(worker);
  if (ref == 0) full_ = true;
  edge.child.store(ref, std::memory_order_release);
  return ref == 0 ? nullptr : &tree_->node(ref);
}

Ref Search::make_node(Worker& worker) {
  list_moves(worker.board, worker.list);
  const Ref ref = tree_->create(worker.cursor, worker.list);
  const bool asks = params_.use_policy && worker.list.moves.size() > 1;
  if (ref != 0 && !asks) tree_->node(ref).policy = PolicyState::kAnswered;
  return ref;
}

// The moves of a node with their placeholder priors; see the top of search.hpp for the pass.
void Search::list_moves(const Board& board, PriorList& list) const {
  const Geometry& g = board.geometry();
  const Colour colour = board.to_play();
  list.moves.clear();
  bool only_self_atari = true;
  for (int move = 0; move < g.moves; ++move) {
    const Point p = g.point_of[move];
    if (board.position().colour(p) != kEmpty || !board.sensible_point(p, colour)) continue;
    list.moves.push_back(static_cast<std::uint16_t>(move));
    only_self_atari = only_self_atari && puts_itself_in_atari(board.position(), p, colour);
  }
  const bool passes = only_self_atari || board.passes() > 0;
  if (tree_policy_ == nullptr) { // uniform; a seeded order, so that no corner is preferred
    if (passes) list.moves.push_back(static_cast<std::uint16_t>(g.moves));
    Random random(params_.seed, board.hash());
    for (std::size_t i = list.moves.size(); i > 1; --i) {
      std::swap(list.moves[i - 1], list.moves[random.below(static_cast<std::uint32_t>(i))]);
    }
    list.priors.assign(list.moves.size(), 1.F / static_cast<float>(list.moves.size()));
    return;
  }
  if (passes) list.moves.push_back(static_cast<std::uint16_t>(g.moves));
  tree_priors(*tree_policy_, board, list);
}

// ---------------------------------------------------------------------------------------------------------- backup

void Search::undo(const std::vector<Step>& path) {
  for (const Step& step : path) {
    step.edge->add_rollouts(-params_.virtual_loss, params_.virtual_loss);
    step.node->visits.fetch_sub(params_.virtual_loss, std::memory_order_relaxed);
  }
}

// One more visit with this winner (1 Black, -1 White, 0 neither) in the place of the virtual losses.
void Search::back_up(const std::vector<Step>& path, Colour first, int winner) {
  int sign = to_sign(first);
  for (const Step& step : path) {
    step.edge->add_rollouts(1 - params_.virtual_loss, sign * winner + params_.virtual_loss);
    step.node->visits.fetch_add(1 - params_.virtual_loss, std::memory_order_relaxed);
    sign = -sign;
  }
}

void Search::back_up_value(const std::vector<Step>& path, Colour first, double black_value) {
  int sign = to_sign(first);
  for (const Step& step : path) {
    step.edge->add_value(sign * black_value);
    sign = -sign;
  }
}

} // namespace go
