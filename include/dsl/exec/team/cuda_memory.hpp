// A kernel's memory on the GPU, for files that nvcc compiles.
#pragma once

#include <dsl/exec/plan/policy.hpp>
#include <dsl/exec/team/team.hpp>

namespace dsl::detail {

#if defined(__CUDACC__)

struct device_memory {
  static constexpr bool calls_formula = false, may_load_unwritten = true;
  static constexpr int compute_capability = lowest_capability();

  DSL_DETAIL_FN unsigned char* shared() const {
#if DSL_DETAIL_ON_DEVICE
    extern __shared__ __align__(16) unsigned char dynamic_shared_memory[];
    return dynamic_shared_memory;
#else
    return nullptr;
#endif
  }
  template <class T> DSL_DETAIL_FN T load(const void* address) const {
    return *static_cast<const T*>(address);
  }
  template <class T> DSL_DETAIL_FN T load_streaming(const void* address) const {
#if DSL_DETAIL_ON_DEVICE
    if constexpr (alignof(T) == sizeof(T) && sizeof(T) >= 4 && sizeof(T) <= 16) {
      using word =
          std::conditional_t<sizeof(T) == 4, unsigned,
                             std::conditional_t<sizeof(T) == 8, unsigned long long, uint4>>;
      const word bits = __ldcs(static_cast<const word*>(address));
      T value;
      memcpy(&value, &bits, sizeof(T));
      return value;
    }
#endif
    return load<T>(address);
  }
  template <class T> DSL_DETAIL_FN void store(T* address, const T& value) const {
    *address = value;
  }

  // nvcc may split the store of a struct into one store for each member.
  template <class T> DSL_DETAIL_FN void store_whole(T* address, const T& value) const {
#if DSL_DETAIL_ON_DEVICE
    if constexpr (sizeof(T) == 16) {
      uint4 w;
      memcpy(&w, &value, sizeof(T));
      asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(address), "r"(w.x), "r"(w.y),
                   "r"(w.z), "r"(w.w)
                   : "memory");
      return;
    }
#endif
    store(address, value);
  }

  // Data on its way needs no registers, so many copies can be in flight.
  template <class T> DSL_DETAIL_FN void copy_async([[maybe_unused]] T* to,
                                                   [[maybe_unused]] const T* from) const {
#if DSL_DETAIL_ON_DEVICE
    const auto shared_address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    if constexpr (sizeof(T) % 16 == 0) {
      for (unsigned i = 0; i < sizeof(T); i += 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address + i),
                     "l"(reinterpret_cast<const char*>(from) + i));
    } else if constexpr (sizeof(T) >= 4) {
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address), "l"(from),
                   "n"(sizeof(T)));
    } else {
      *to = *from;
    }
#endif
  }
  template <class T>
  DSL_DETAIL_FN void copy_async_through_l1([[maybe_unused]] T* to,
                                           [[maybe_unused]] const T* from) const {
    static_assert(sizeof(T) == 16);
#if DSL_DETAIL_ON_DEVICE
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(from));
#endif
  }
  template <class T> DSL_DETAIL_FN void copy_async([[maybe_unused]] T* to,
                                                   [[maybe_unused]] const T* from,
                                                   [[maybe_unused]] bool l2_resident) const {
#if DSL_DETAIL_ON_DEVICE
    if constexpr (sizeof(T) % 16 == 0) {
      const auto shared_address = static_cast<unsigned>(__cvta_generic_to_shared(to));
      const std::uint64_t policy = l2_policy(l2_resident);
      for (unsigned i = 0; i < sizeof(T); i += 16)
        asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(
                         shared_address + i),
                     "l"(reinterpret_cast<const char*>(from) + i), "l"(policy));
    } else {
      copy_async(to, from);
    }
#endif
  }
  DSL_DETAIL_FN void commit_copies() const {
#if DSL_DETAIL_ON_DEVICE
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
  }
  template <int Pending> DSL_DETAIL_FN void wait_for_copies() const {
#if DSL_DETAIL_ON_DEVICE
    asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
#endif
  }
  template <class T> DSL_DETAIL_FN void store_streaming([[maybe_unused]] T* to,
                                                        [[maybe_unused]] const T& value,
                                                        [[maybe_unused]] bool l2_resident) const {
#if DSL_DETAIL_ON_DEVICE
    if constexpr (sizeof(T) % 16 == 0) {
      const std::uint64_t policy = l2_policy(l2_resident);
      uint4 word[sizeof(T) / 16];
      memcpy(word, &value, sizeof(T));
      for (unsigned i = 0; i < sizeof(T) / 16; ++i)
        asm volatile("st.global.L2::cache_hint.v4.u32 [%0], {%1, %2, %3, %4}, %5;" ::"l"(
                         reinterpret_cast<uint4*>(to) + i),
                     "r"(word[i].x), "r"(word[i].y), "r"(word[i].z), "r"(word[i].w), "l"(policy)
                     : "memory");
    } else {
      store(to, value);
    }
#endif
  }

#if DSL_DETAIL_ON_DEVICE
 private:
  DSL_DETAIL_FN static std::uint64_t l2_policy(bool l2_resident) {
    std::uint64_t last, first;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(last));
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(first));
    return l2_resident ? last : first;
  }
#endif
};

static_assert(kernel_memory<device_memory>);

#endif  // __CUDACC__

}  // namespace dsl::detail
