// Work shared out over threads for the duration of one call.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace go {

// Calls body(i) for i in 0..count-1 from up to `threads` threads, which take blocks of `grain` turns each. The bodies
// must not depend on their order. The first exception is thrown again here, after all threads have ended.
template <typename Body> void parallel_for(int count, int threads, int grain, const Body& body) {
  const int blocks = (count + grain - 1) / grain;
  threads = std::min(threads, blocks);
  if (threads <= 1) {
    for (int i = 0; i < count; ++i) body(i);
    return;
  }
  std::atomic<int> next{0};
  std::exception_ptr error;
  std::mutex error_lock;
  auto work = [&] {
    for (int block = next++; block < blocks; block = next++) {
      try {
        for (int i = block * grain; i < std::min(count, (block + 1) * grain); ++i) body(i);
      } catch (...) {
        const std::lock_guard<std::mutex> guard(error_lock);
        if (!error) error = std::current_exception();
        next = blocks;
      }
    }
  };
  std::vector<std::thread> helpers;
  helpers.reserve(threads - 1);
  for (int t = 1; t < threads; ++t) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
  if (error) std::rethrow_exception(error);
}

} // namespace go
