#include "search_queue.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace go {
namespace {

std::chrono::duration<double> duration(double seconds) { return std::chrono::duration<double>(seconds); }

} // namespace

void LeafBatch::number_rows() {
  for (int i = 0; i < static_cast<int>(requests.size()); ++i) {
    if (requests[i].node != nullptr) policy_rows.push_back(i);
    if (requests[i].edge != nullptr) value_rows.push_back(i);
  }
}

void LeafBatch::write_planes(std::uint8_t* policy_planes, std::uint8_t* value_planes) const {
  const std::size_t points = static_cast<std::size_t>(size) * size;
  for (int row : policy_rows) {
    requests[row].features->write(false, requests[row].policy_symmetry, policy_planes);
    policy_planes += kPlanes * points;
  }
  for (int row : value_rows) {
    requests[row].features->write(true, requests[row].value_symmetry, value_planes);
    value_planes += kPlanesWithColour * points;
  }
}

void LeafQueue::push(LeafRequest&& request) {
  {
    const std::lock_guard<std::mutex> guard(lock_);
    requests_.push_back(std::move(request));
    waiting_.store(requests_.size(), std::memory_order_relaxed);
  }
  filled_.notify_one();
}

std::shared_ptr<LeafBatch> LeafQueue::take(int max_leaves, double seconds) {
  auto batch = std::make_shared<LeafBatch>(size_);
  {
    std::unique_lock<std::mutex> guard(lock_);
    const std::uint64_t before = interrupts_;
    filled_.wait_for(guard, duration(seconds), [&] { return !requests_.empty() || interrupts_ != before; });
    if (requests_.empty()) return nullptr;
    const auto count = std::min<std::size_t>(requests_.size(), std::max(max_leaves, 1));
    for (std::size_t i = 0; i < count; ++i) {
      batch->requests.push_back(std::move(requests_.front()));
      requests_.pop_front();
    }
    waiting_.store(requests_.size(), std::memory_order_relaxed);
    outstanding_.push_back(batch);
  }
  changed_.notify_all();
  batch->number_rows();
  return batch;
}

std::vector<LeafRequest> LeafQueue::clear() {
  const std::lock_guard<std::mutex> guard(lock_);
  std::vector<LeafRequest> all(std::make_move_iterator(requests_.begin()), std::make_move_iterator(requests_.end()));
  requests_.clear();
  waiting_.store(0, std::memory_order_relaxed);
  return all;
}

std::vector<std::shared_ptr<LeafBatch>> LeafQueue::outstanding() {
  const std::lock_guard<std::mutex> guard(lock_);
  return outstanding_;
}

void LeafQueue::settle(const LeafBatch& batch) {
  {
    const std::lock_guard<std::mutex> guard(lock_);
    std::erase_if(outstanding_, [&](const std::shared_ptr<LeafBatch>& other) { return other.get() == &batch; });
  }
  changed_.notify_all();
}

bool LeafQueue::wait_until_settled(double seconds) {
  std::unique_lock<std::mutex> guard(lock_);
  return changed_.wait_for(guard, duration(seconds), [&] { return outstanding_.empty(); });
}

bool LeafQueue::idle() {
  const std::lock_guard<std::mutex> guard(lock_);
  return requests_.empty() && outstanding_.empty();
}

void LeafQueue::wait_for_change(double seconds) {
  std::unique_lock<std::mutex> guard(lock_);
  changed_.wait_for(guard, duration(seconds));
}

void LeafQueue::interrupt() {
  {
    const std::lock_guard<std::mutex> guard(lock_);
    ++interrupts_;
  }
  filled_.notify_all();
  changed_.notify_all();
}

} // namespace go
