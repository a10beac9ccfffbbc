#include "threads.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace go {

void parallel_for(int n, int block, int threads, const std::function<void(int, int)>& work) {
  if (threads < 1 || threads > kMaxThreads) {
    throw std::invalid_argument("threads " + std::to_string(threads) + " is not in 1.." + std::to_string(kMaxThreads));
  }
  const int blocks = (n + block - 1) / block;
  std::atomic<int> next{0};
  std::exception_ptr error;
  std::mutex error_lock;
  const auto run = [&] {
    try {
      for (int i = next++; i < blocks; i = next++) work(i * block, std::min(n, (i + 1) * block));
    } catch (...) {
      next = blocks;
      const std::lock_guard guard(error_lock);
      if (!error) error = std::current_exception();
    }
  };
  std::vector<std::jthread> helpers;
  for (int i = 1; i < std::min(threads, blocks); ++i) helpers.emplace_back(run);
  run();
  helpers.clear(); // joins
  if (error) std::rethrow_exception(error);
}

} // namespace go
