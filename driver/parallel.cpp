#include "driver/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace exocheck::driver {

void for_each_index(std::size_t count, unsigned jobs, const std::function<void(std::size_t)>& work) {
  const std::size_t workers = std::min<std::size_t>(std::max(jobs, 1u), count);
  if (workers < 2) {
    for (std::size_t i = 0; i < count; ++i) work(i);
    return;
  }
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::map<std::size_t, std::exception_ptr> failed;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        failed.emplace(i, std::current_exception());
        next = count;
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t w = 1; w < workers; ++w) threads.emplace_back(run);
    run();
  }
  if (!failed.empty()) std::rethrow_exception(failed.begin()->second);
}

}  // namespace exocheck::driver
