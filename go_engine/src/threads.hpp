// Splits a loop over independent items among a few threads; the caller's results must not depend on the split.
#pragma once

#include <functional>

namespace go {

inline constexpr int kMaxThreads = 256;

// Calls work(begin, end) for consecutive blocks of `block` items until all n are done. The first exception that a
// thread throws is thrown again here. Throws std::invalid_argument for threads out of 1..kMaxThreads.
void parallel_for(int n, int block, int threads, const std::function<void(int, int)>& work);

} // namespace go
