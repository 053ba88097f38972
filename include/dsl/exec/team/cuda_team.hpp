// A kernel's team on the GPU, for files that nvcc compiles.
#pragma once

#include <dsl/exec/team/cuda_memory.hpp>
#include <dsl/exec/team/team.hpp>

namespace dsl::detail {

#if defined(__CUDACC__)

#if DSL_DETAIL_ON_DEVICE

// Stores and loads 16 bytes, visible to the blocks of one GPU ("gpu") or of all ("sys").
#define DSL_DETAIL_STORE_WORD(scope, to, value)                                                    \
  asm volatile(                                                                                    \
      "{ .reg .b128 w; .reg .b64 lo, hi; mov.b64 lo, {%1, %2}; mov.b64 hi, {%3, %4}; mov.b128 w, " \
      "{lo, hi}; "                                                                                 \
      "st.relaxed." scope ".global.b128 [%0], w; }" ::"l"(to),                                     \
      "r"((value).x), "r"((value).y), "r"((value).z), "r"((value).w)                               \
      : "memory")
#define DSL_DETAIL_LOAD_WORD(scope, value, from)                                                  \
  asm volatile(                                                                                   \
      "{ .reg .b128 w; .reg .b64 lo, hi; ld.relaxed." scope                                       \
      ".global.b128 w, [%4]; mov.b128 {lo, hi}, w; mov.b64 {%0, %1}, lo; mov.b64 {%2, %3}, hi; }" \
      : "=r"((value).x), "=r"((value).y), "=r"((value).z), "=r"((value).w)                        \
      : "l"(from)                                                                                 \
      : "memory")

struct device_team {
  static constexpr int warp_size = 32;
  using lane_mask = unsigned;
  const block_range& range;  // In the kernel's parameters.

  friend DSL_DETAIL_FN device_team team_of_launch(const block_range& of);
  DSL_DETAIL_FN int thread() const { return static_cast<int>(threadIdx.x); }
  DSL_DETAIL_FN int threads() const { return static_cast<int>(blockDim.x); }
  DSL_DETAIL_FN int lane() const {
    // Unsigned %: the signed one takes more registers.
    return static_cast<int>(threadIdx.x % warp_size);
  }
  DSL_DETAIL_FN int warp() const { return static_cast<int>(threadIdx.x / warp_size); }
  DSL_DETAIL_FN std::int64_t block() const { return range.first + blockIdx.x; }
  DSL_DETAIL_FN std::int64_t blocks() const { return range.blocks; }
  DSL_DETAIL_FN int member() const { return range.member; }
  DSL_DETAIL_FN int members() const { return range.members; }
  DSL_DETAIL_FN std::int64_t first_block() const { return range.first; }
  DSL_DETAIL_FN std::int64_t own_blocks() const { return gridDim.x; }

  DSL_DETAIL_FN void synchronize() const { __syncthreads(); }
  DSL_DETAIL_FN void synchronize_warp() const { __syncwarp(); }
  // The hardware's barrier 0 is the whole block's. Arriving orders earlier accesses as waiting does
  // (PTX ISA, "bar, barrier"), so no fence is needed; racecheck does not see that
  // (tests/racecheck/unseen.txt).
  DSL_DETAIL_FN void pass_turn(int warp) const {
    __syncwarp();
    asm volatile("barrier.cta.arrive %0, 64;" ::"r"(warp + 1) : "memory");
  }
  DSL_DETAIL_FN void await_turn() const {
    __syncwarp();
    asm volatile("barrier.cta.sync %0, 64;" ::"r"(warp() + 1) : "memory");
  }

  template <class T> DSL_DETAIL_FN T from_lane(const T& value, int lane) const {
    return by_words(value, [lane](unsigned word) { return __shfl_sync(0xffffffffu, word, lane); });
  }
  template <class T> DSL_DETAIL_FN T shift_down(const T& value, int step) const {
    return by_words(value, [step](unsigned word) {
      return __shfl_down_sync(0xffffffffu, word, static_cast<unsigned>(step));
    });
  }
  template <class T> DSL_DETAIL_FN T shift_up(const T& value, int step) const {
    return by_words(value, [step](unsigned word) {
      return __shfl_up_sync(0xffffffffu, word, static_cast<unsigned>(step));
    });
  }
  DSL_DETAIL_FN lane_mask match(unsigned number) const {
    return __match_any_sync(0xffffffffu, number);
  }
  DSL_DETAIL_FN lane_mask ballot(bool mine) const { return __ballot_sync(0xffffffffu, mine); }

  DSL_DETAIL_FN unsigned atomic_add(unsigned* at, unsigned value) const {
    return atomicAdd(at, value);
  }
  DSL_DETAIL_FN unsigned atomic_exchange(unsigned* at, unsigned value) const {
    return atomicExch(at, value);
  }

  DSL_DETAIL_FN void refuse_key(std::int64_t, std::int64_t) const {}

  // GPU scope where the grid has one GPU: system scope takes longer.
  DSL_DETAIL_FN unsigned next_ticket(unsigned* counter) const {
    return is_mesh() ? atomicAdd_system(counter, 1u) : atomicAdd(counter, 1u);
  }
  // No block waits for another. Writes before a barrier become visible with the fence of the thread
  // that continues after it. On an H200, 1,056 blocks that counted on another GPU took 12
  // microseconds.
  DSL_DETAIL_FN bool is_last(unsigned* counter, unsigned count,
                             const member_tickets& own = {}) const {
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) {
      if (is_mesh()) {
        bool speaks_for_member = true;
        if (own.count > 0) {
          __threadfence();
          speaks_for_member = atomicInc(own.counter, own.count - 1) == own.count - 1;
          count = own.members;
        }
        if (speaks_for_member) {
          __threadfence_system();
          speaks_for_member = atomicInc_system(counter, count - 1) == count - 1;
          __threadfence_system();
        }
        last = speaks_for_member;
      } else {
        __threadfence();
        last = atomicInc(counter, count - 1) == count - 1;
        __threadfence();
      }
    }
    __syncthreads();
    return last;
  }

  // A .b128 load or store is one access (PTX ISA 8.3).
  template <class T> DSL_DETAIL_FN void publish(tagged<T>* to, const tagged<T>& v,
                                                bool to_mesh = false) const {
    DSL_DETAIL_UNROLL
    for (int i = 0; i < tagged<T>::words; ++i)
      if (to_mesh) DSL_DETAIL_STORE_WORD("sys", &to->word[i], v.word[i]);
      else DSL_DETAIL_STORE_WORD("gpu", &to->word[i], v.word[i]);
  }
  template <class T> DSL_DETAIL_FN void poll(tagged<T>& v, const tagged<T>* from,
                                             bool of_mesh = false) const {
    DSL_DETAIL_UNROLL
    for (int i = 0; i < tagged<T>::words; ++i)
      if (of_mesh) DSL_DETAIL_LOAD_WORD("sys", v.word[i], &from->word[i]);
      else DSL_DETAIL_LOAD_WORD("gpu", v.word[i], &from->word[i]);
  }
  // The number is where a tagged value has its tag, so that both may share a cell.
  DSL_DETAIL_FN void release(quad* to, unsigned number) const {
    if (is_mesh())
      asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(&to->w), "r"(number) : "memory");
    else asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(&to->w), "r"(number) : "memory");
  }
  DSL_DETAIL_FN unsigned acquire(const quad* from) const {
    unsigned number;
    if (is_mesh())
      asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(number) : "l"(&from->w) : "memory");
    else
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(number) : "l"(&from->w) : "memory");
    return number;
  }
  // State in one number, because a second register would be one more in every loop that waits:
  // until the first look at the clock it counts tries; from then on it holds the time of that look
  // above the count, with the top bit set. The clock is read once in `a_look` tries.
  DSL_DETAIL_FN bool gives_up(unsigned& tries, std::int64_t block, unsigned step) const {
    constexpr unsigned a_look = 1024, has_begun = 1u << 31;
    if (++tries < block_range::quick_tries) return false;
    __nanosleep(block_range::pause_nanoseconds);
    if (tries % a_look != 0 || range.timeout_flag == nullptr) return false;
    // The first report stays: later ones wait for blocks that have given up themselves.
    volatile std::uint64_t& word = *range.timeout_flag;
    if (word != 0) return true;
    std::uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    const unsigned ticks =
        static_cast<unsigned>(now >> block_range::tick_bits) * a_look | has_begun;
    if (tries < has_begun) {
      tries = ticks;
      return false;
    }
    tries -= a_look;  // Remove the tries since the last look.
    if (((ticks - tries) & ~has_begun) / a_look < range.most_ticks) return false;
    word = given_up_wait::of(block, step).word;
    return true;
  }
#if __CUDA_ARCH__ >= 900
  DSL_DETAIL_FN void arrive_in_cluster() const {
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
  }
  DSL_DETAIL_FN void wait_for_cluster() const {
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
  }

  // An inbox is a hardware barrier that counts bytes (mbarrier): no thread waits for the data it
  // has sent, as it would in the fence before a cluster barrier.
  DSL_DETAIL_FN void open(cluster_inbox* inbox) const {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(inbox)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  template <class T> DSL_DETAIL_FN void send(T* to, const T& value, cluster_inbox* inbox,
                                             int block) const {
    static_assert(sizeof(T) % 4 == 0);
    constexpr int words = sizeof(T) / 4, step = alignof(T) % 16 == 0 ? 4 : 1;
    unsigned word[words], there, there_inbox;
    memcpy(word, &value, sizeof(T));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(to)), "r"(block));
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(there_inbox)
        : "r"(shared_address(inbox)), "r"(block));
    DSL_DETAIL_UNROLL
    for (int i = 0; i < words; i += step) {
      if constexpr (step == 4)
        asm volatile(
            "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, "
            "[%5];" ::"r"(there + 4 * i),
            "r"(word[i]), "r"(word[i + 1]), "r"(word[i + 2]), "r"(word[i + 3]), "r"(there_inbox)
            : "memory");
      else
        asm volatile(
            "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
                there + 4 * i),
            "r"(word[i]), "r"(there_inbox)
            : "memory");
    }
  }
  DSL_DETAIL_FN void receive(cluster_inbox* inbox, unsigned bytes, unsigned times) const {
    const unsigned address = shared_address(inbox);
    if (threadIdx.x == 0)
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address), "r"(bytes)
                   : "memory");
    unsigned has_come = 0;
    while (has_come == 0)
      asm volatile(
          "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; "
          "selp.u32 %0, 1, 0, p; }"
          : "=r"(has_come)
          : "r"(address), "r"(times & 1)
          : "memory");
  }
  DSL_DETAIL_FN void wait_for_earlier_launch() const {
    asm volatile("griddepcontrol.wait;" ::: "memory");
  }
#else  // No clusters, and no kernel starts before the previous one has ended.
  DSL_DETAIL_FN void wait_for_earlier_launch() const {}
  DSL_DETAIL_FN void arrive_in_cluster() const {}
  DSL_DETAIL_FN void wait_for_cluster() const {}
  DSL_DETAIL_FN void open(cluster_inbox*) const {}
  template <class T> DSL_DETAIL_FN void send(T*, const T&, cluster_inbox*, int) const {}
  DSL_DETAIL_FN void receive(cluster_inbox*, unsigned, unsigned) const {}
#endif
  DSL_DETAIL_FN void pause(unsigned nanoseconds) const { __nanosleep(nanoseconds); }

  template <class Tag, class T, int N> DSL_DETAIL_FN T* shared() const {
    alignas(alignof(T) < 16 ? 16 : alignof(T)) __shared__ unsigned char bytes[N * sizeof(T)];
    return reinterpret_cast<T*>(bytes);
  }

 private:
  DSL_DETAIL_FN explicit device_team(const block_range& of) : range(of) {}
  DSL_DETAIL_FN bool is_mesh() const { return range.members > 1; }
  DSL_DETAIL_FN static unsigned shared_address(const void* p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
  }
  template <class T, class Exchange> DSL_DETAIL_FN static T by_words(T value,
                                                                     const Exchange& exchange) {
    constexpr int words = (sizeof(T) + 3) / 4;
    unsigned word[words] = {};
    memcpy(word, &value, sizeof(T));
    for (int i = 0; i < words; ++i) word[i] = exchange(word[i]);
    memcpy(&value, word, sizeof(T));
    return value;
  }
};

#undef DSL_DETAIL_STORE_WORD
#undef DSL_DETAIL_LOAD_WORD

#else

// Declarations for nvcc's host pass, which parses the kernels but does not compile them.
struct device_team {
  static constexpr int warp_size = 32;
  using lane_mask = unsigned;
  const block_range& range;
  friend DSL_DETAIL_FN device_team team_of_launch(const block_range& of);
  DSL_FN int thread() const;
  DSL_FN int threads() const;
  DSL_FN int lane() const;
  DSL_FN int warp() const;
  DSL_FN std::int64_t block() const;
  DSL_FN std::int64_t blocks() const;
  DSL_FN int member() const;
  DSL_FN int members() const;
  DSL_FN std::int64_t first_block() const;
  DSL_FN std::int64_t own_blocks() const;
  DSL_FN void synchronize() const;
  DSL_FN void synchronize_warp() const;
  DSL_FN void pass_turn(int warp) const;
  DSL_FN void await_turn() const;
  template <class T> DSL_FN T from_lane(const T& value, int lane) const;
  template <class T> DSL_FN T shift_down(const T& value, int step) const;
  template <class T> DSL_FN T shift_up(const T& value, int step) const;
  DSL_FN lane_mask match(unsigned number) const;
  DSL_FN lane_mask ballot(bool mine) const;
  DSL_FN unsigned atomic_add(unsigned* at, unsigned value) const;
  DSL_FN unsigned atomic_exchange(unsigned* at, unsigned value) const;
  DSL_FN void refuse_key(std::int64_t key, std::int64_t groups) const;
  DSL_FN unsigned next_ticket(unsigned* counter) const;
  DSL_FN bool is_last(unsigned* counter, unsigned count, const member_tickets& own = {}) const;
  template <class T> DSL_FN void publish(tagged<T>* to, const tagged<T>& v,
                                         bool to_mesh = false) const;
  template <class T> DSL_FN void poll(tagged<T>& v, const tagged<T>* from,
                                      bool of_mesh = false) const;
  DSL_FN void release(quad* to, unsigned number) const;
  DSL_FN unsigned acquire(const quad* from) const;
  DSL_FN bool gives_up(unsigned& tries, std::int64_t block, unsigned step) const;
  DSL_FN void arrive_in_cluster() const;
  DSL_FN void wait_for_cluster() const;
  DSL_FN void open(cluster_inbox* inbox) const;
  template <class T> DSL_FN void send(T* to, const T& value, cluster_inbox* inbox, int block) const;
  DSL_FN void receive(cluster_inbox* inbox, unsigned bytes, unsigned times) const;
  DSL_FN void wait_for_earlier_launch() const;
  DSL_FN void pause(unsigned nanoseconds) const;
  template <class Tag, class T, int N> DSL_FN T* shared() const;

 private:
  DSL_FN explicit device_team(const block_range& of) : range(of) {}
};

#endif

static_assert(kernel_team<device_team>);

/// The team of a kernel. Every kernel begins with it: a launch may start before the stream's
/// previous kernel has ended (programmatic dependent launch), which makes the gap between kernels
/// shorter, so each waits for that end before it reads or writes anything.
DSL_DETAIL_FN device_team team_of_launch(const block_range& range) {
  const device_team team(range);
  team.wait_for_earlier_launch();
  return team;
}

#endif  // __CUDACC__

}  // namespace dsl::detail
