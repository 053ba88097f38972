// Memory and streams over several GPUs: two with peer access, otherwise one GPU that is listed
// twice.
#include "cuda/mesh_memory.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace {

using namespace dsl::detail::cuda;

constexpr std::size_t granule = 2 << 20;

std::vector<int> members() {
  int count = 0, reach = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) return {};
  if (count > 1) check(cudaDeviceCanAccessPeer(&reach, 0, 1), "cudaDeviceCanAccessPeer");
  return reach != 0 ? std::vector{0, 1} : std::vector{0, 0};
}

__global__ void number(unsigned* at, std::size_t first, std::size_t count) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    at[first + i] = static_cast<unsigned>(first + i);
}
__global__ void count_wrong(const unsigned* at, std::size_t count, unsigned plus, unsigned* wrong) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    if (at[i] != static_cast<unsigned>(i) + plus) atomicAdd_system(wrong, 1u);
}
__global__ void add(unsigned* at, std::size_t count, unsigned by) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    at[i] += by;
}
__global__ void wait_nanoseconds(unsigned long long how_many) {
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - begin < how_many);
}

class mesh_memory_test : public testing::Test {
 protected:
  void SetUp() override {
    if (members().empty()) GTEST_SKIP() << "no GPU";
  }
  // Counts the wrong elements, as one member reads them.
  static unsigned wrong(mesh_memory& memory, mesh_stream& on, const unsigned* at, std::size_t count,
                        int reader, unsigned plus = 0) {
    auto* const found = static_cast<unsigned*>(memory.allocate(sizeof(unsigned), on));
    unsigned answer = 1;
    on.queue(1ull << reader, touches::others, [&](int, cudaStream_t s) {
      cudaMemsetAsync(found, 0, sizeof(unsigned), s);
      count_wrong<<<256, 256, 0, s>>>(at, count, plus, found);
      check(cudaMemcpyAsync(&answer, found, sizeof answer, cudaMemcpyDeviceToHost, s), "a copy");
    });
    on.synchronize();
    memory.release(found, on);
    return answer;
  }
  static void number_parts(mesh_memory& memory, mesh_stream& on, unsigned* at, std::size_t count,
                           touches what) {
    for (const auto& p : memory.parts(at, count * sizeof(unsigned)))
      on.queue(1ull << p.member, what, [&](int, cudaStream_t s) {
        number<<<512, 256, 0, s>>>(at,
                                   static_cast<std::size_t>(reinterpret_cast<unsigned*>(p.at) - at),
                                   p.bytes / sizeof(unsigned));
      });
  }
};

TEST_F(mesh_memory_test, parts_are_even_and_all_members_reach_all) {
  mesh_memory memory(members());
  mesh_stream on(members(), true);
  for (const std::size_t count :
       {granule, granule + 1, 3 * granule / 4 + 77, 16 * granule + 12345}) {
    const std::size_t bytes = count * sizeof(unsigned);
    auto* const at = static_cast<unsigned*>(memory.allocate(bytes, on));
    ASSERT_NE(at, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % 256, 0u);
    std::vector<std::size_t> parts;
    for (const auto& p : memory.parts(at, bytes)) {
      EXPECT_EQ(p.member, static_cast<int>(parts.size()));
      cudaPointerAttributes where{};
      ASSERT_EQ(cudaPointerGetAttributes(&where, p.at), cudaSuccess);
      EXPECT_EQ(where.device, members()[static_cast<std::size_t>(p.member)]);
      parts.push_back(p.bytes);
    }
    if (bytes < 2 * granule) {
      EXPECT_EQ(parts.size(), 1u);
    } else {
      ASSERT_EQ(parts.size(), 2u);
      EXPECT_LE(parts[1] - parts[0], 512u);
    }
    EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), std::size_t{0}), bytes);
    number_parts(memory, on, at, count, touches::own);
    for (const int reader : {0, 1}) {
      on.mix();
      EXPECT_EQ(wrong(memory, on, at, count, reader), 0u) << count << " read by " << reader;
    }
    memory.release(at, on);
  }
}

TEST_F(mesh_memory_test, three_and_more_parts) {
  std::vector<int> many;
  for (const int gpu : {0, 1, 0, 1, 0}) many.push_back(members()[static_cast<std::size_t>(gpu)]);
  mesh_memory memory(many);
  mesh_stream on(many, true);
  const std::size_t count = 30 * granule / 4 + 999;
  auto* const at = static_cast<unsigned*>(memory.allocate(count * sizeof(unsigned), on));
  std::vector<std::size_t> parts;
  for (const auto& p : memory.parts(at, count * sizeof(unsigned))) parts.push_back(p.bytes);
  ASSERT_EQ(parts.size(), many.size());
  for (const std::size_t n : parts)
    EXPECT_NEAR(static_cast<double>(n), 6.0 * granule, 1.0 * granule);
  number_parts(memory, on, at, count, touches::others);
  for (int reader = 0; reader < 5; ++reader) EXPECT_EQ(wrong(memory, on, at, count, reader), 0u);
  memory.release(at, on);
}

TEST_F(mesh_memory_test, what_is_freed_is_used_again_behind_its_readers) {
  mesh_memory memory(members());
  mesh_stream on(members(), true), other(members(), false);
  const std::size_t count = 8 * granule, bytes = count * sizeof(unsigned);
  auto* const first = static_cast<unsigned*>(memory.allocate(bytes, on));
  number_parts(memory, on, first, count, touches::own);
  // The second member still uses the memory when it is freed and when the first one writes to
  // memory that reuses its address.
  on.queue(2, touches::own, [&](int, cudaStream_t s) {
    wait_nanoseconds<<<1, 1, 0, s>>>(20'000'000);
    add<<<512, 256, 0, s>>>(first, count, 5);
  });
  memory.release(first, on);
  auto* const again = static_cast<unsigned*>(memory.allocate(bytes - 4096, on));
  EXPECT_EQ(memory.usage().reserved - memory.usage().used < 5 * granule, true) << "no second range";
  on.queue(1, touches::own,
           [&](int, cudaStream_t s) { number<<<512, 256, 0, s>>>(again, 0, count - 1024); });
  EXPECT_EQ(wrong(memory, on, again, count - 1024, 1), 0u);

  // The same on another stream.
  on.queue(2, touches::own, [&](int, cudaStream_t s) {
    wait_nanoseconds<<<1, 1, 0, s>>>(20'000'000);
    add<<<512, 256, 0, s>>>(again, count - 1024, 5);
  });
  memory.release(again, on);
  auto* const third = static_cast<unsigned*>(memory.allocate(bytes, other));
  number_parts(memory, other, third, count, touches::own);
  EXPECT_EQ(wrong(memory, other, third, count, 0), 0u);
  memory.release(third, other);
  memory.forget(other);
  EXPECT_LT(memory.usage().used, granule);
  EXPECT_GE(memory.usage().reserved, bytes);
  memory.give_back();
  EXPECT_LT(memory.usage().reserved, bytes);
}

TEST_F(mesh_memory_test, a_threshold_gives_back_what_has_ended) {
  mesh_memory memory(members());
  mesh_stream on(members(), true);
  memory.set_release_threshold(10 * granule);
  std::vector<void*> all;
  for (int k = 0; k < 4; ++k) all.push_back(memory.allocate(6 * granule, on));
  on.queue(on.all(), touches::own,
           [](int, cudaStream_t s) { wait_nanoseconds<<<1, 1, 0, s>>>(5'000'000); });
  for (void* each : all) memory.release(each, on);
  memory.trim();
  EXPECT_GE(memory.usage().reserved, 24 * granule) << "not before its work has ended";
  on.synchronize();
  memory.trim();
  EXPECT_LE(memory.usage().reserved, 12 * granule);
}

TEST_F(mesh_memory_test, too_much_is_null_and_leaves_nothing_behind) {
  mesh_memory memory(members());
  mesh_stream on(members(), true);
  EXPECT_EQ(memory.allocate(std::size_t{1} << 40, on), nullptr);
  EXPECT_EQ(memory.usage().reserved, 0u);
  void* const some = memory.allocate(64 * granule, on);
  EXPECT_NE(some, nullptr);
  memory.release(some, on);
}

TEST_F(mesh_memory_test, members_wait_for_what_may_touch_the_same) {
  mesh_memory memory(members());
  mesh_stream on(members(), true);
  const std::size_t count = 4 * granule;
  auto* const at = static_cast<unsigned*>(memory.allocate(count * sizeof(unsigned), on));
  for (int round = 0; round < 3; ++round) {
    // One member writes all elements, late; the other adds to all, then each adds to its part.
    on.queue(1ull << round % 2, touches::others, [&](int, cudaStream_t s) {
      wait_nanoseconds<<<1, 1, 0, s>>>(5'000'000);
      number<<<512, 256, 0, s>>>(at, 0, count);
    });
    on.queue(1ull << (round + 1) % 2, touches::others,
             [&](int, cudaStream_t s) { add<<<512, 256, 0, s>>>(at, count, 3); });
    on.queue(on.all(), touches::own, [&](int m, cudaStream_t s) {
      if (m == round % 2) wait_nanoseconds<<<1, 1, 0, s>>>(5'000'000);
      add<<<512, 256, 0, s>>>(at + (m == 0 ? 0 : count / 2), count / 2, 4);
    });
    EXPECT_EQ(wrong(memory, on, at, count, round % 2, 7), 0u);
  }
  memory.release(at, on);
}

TEST_F(mesh_memory_test, streams_of_a_mesh_wait_for_each_other) {
  mesh_memory memory(members());
  mesh_stream on(members(), true), other(members(), false);
  const std::size_t count = 4 * granule;
  auto* const at = static_cast<unsigned*>(memory.allocate(count * sizeof(unsigned), on));
  on.queue(on.all(), touches::own, [&](int m, cudaStream_t s) {
    if (m == 1) wait_nanoseconds<<<1, 1, 0, s>>>(10'000'000);
    number<<<512, 256, 0, s>>>(at, m == 0 ? 0 : count / 2, count / 2);
  });
  other.wait_for(on);
  EXPECT_EQ(wrong(memory, other, at, count, 0), 0u);
  on.queue(2, touches::own, [&](int, cudaStream_t s) {
    wait_nanoseconds<<<1, 1, 0, s>>>(10'000'000);
    add<<<512, 256, 0, s>>>(at, count, 1);
  });
  const std::vector<cudaEvent_t> behind = on.record();
  other.wait_for(behind);
  EXPECT_EQ(wrong(memory, other, at, count, 0, 1), 0u);
  for (const cudaEvent_t each : behind) cudaEventDestroy(each);
  memory.release(at, on);
  memory.forget(other);
}

}  // namespace
