// The leaves that wait for the networks, and the batches in which evaluators take them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "planes.hpp"
#include "search_tree.hpp"

namespace go {

struct Step {
  Node* node;
  Edge* edge;
};

// One position to evaluate: priors for `node`, the value of the position behind `edge`, or both; or one that a rollout
// is to be played from, by its `moves`.
struct LeafRequest {
  Node* node = nullptr;
  Edge* edge = nullptr;
  std::vector<Step> path; // from the root, for the value
  Colour first = kBlack;  // who moves at the root
  Colour to_play = kBlack;
  std::uint8_t policy_symmetry = 0; // under which the networks see the position
  std::uint8_t value_symmetry = 0;
  bool holds_visit = false; // the path's virtual losses stay until the value has come
  std::unique_ptr<Features> features;
  std::vector<std::uint16_t> moves; // of the path, for a rollout
};

// Requests in the hands of an evaluator.
struct LeafBatch {
  explicit LeafBatch(int board_size) : size(board_size) {}
  LeafBatch(const LeafBatch&) = delete;
  LeafBatch& operator=(const LeafBatch&) = delete;

  int size;
  bool cancelled = false; // by an advance; under the search's lock
  bool answered = false;
  std::vector<LeafRequest> requests;
  std::vector<int> policy_rows; // request of each row of policy_planes
  std::vector<int> value_rows;

  void number_rows(); // fills the rows from the requests
  // uint8[policy rows, 48, size, size] and uint8[value rows, 49, size, size]
  void write_planes(std::uint8_t* policy_planes, std::uint8_t* value_planes) const;
};

// Leaves in, batches out; any number of threads on both sides.
class LeafQueue {
public:
  explicit LeafQueue(int size) : size_(size) {}

  std::size_t waiting() const { return waiting_.load(std::memory_order_relaxed); }
  void push(LeafRequest&& request);
  // Takes up to max_leaves, waiting for the first one up to `seconds`. Null when none came or on interrupt.
  std::shared_ptr<LeafBatch> take(int max_leaves, double seconds);
  std::vector<LeafRequest> clear();                      // takes back all that wait
  std::vector<std::shared_ptr<LeafBatch>> outstanding(); // batches taken and not yet settled
  void settle(const LeafBatch& batch);                   // answered or cancelled
  bool wait_until_settled(double seconds);               // true when nothing is outstanding
  bool idle();                                           // nothing waits, nothing is outstanding
  void wait_for_change(double seconds);                  // until a batch is taken or settled
  void interrupt();                                      // wakes everybody

private:
  int size_;
  std::atomic<std::size_t> waiting_{0};
  std::mutex lock_;
  std::condition_variable filled_;
  std::condition_variable changed_;
  std::deque<LeafRequest> requests_;
  std::vector<std::shared_ptr<LeafBatch>> outstanding_;
  std::uint64_t interrupts_ = 0;
};

} // namespace go
