// Rows of the benchmarks: a work, at one size, by one library. Only row.cpp makes a row's name,
// timing and counters.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>

#include <dsl/dsl.hpp>

namespace bench {

/// The contiguous elements that a row has computed, with which the peers' are compared.
struct result {
  result() = default;
  template <class T, int R> result(const dsl::view<T, R>& v)
      : data(v.data()), type(dsl::dtype_v<T>), count(v.size()) {}
  template <class T, int R> result(dsl::array<T, R>& a) : result(a.view()) {}

  void* data = nullptr;
  dsl::dtype type = dsl::dtype::float32;
  std::int64_t count = 0;
};

/// A row that is ready to be timed. It is made when its turn comes, and holds its arrays.
struct job {
  std::function<void()> run;  ///< Queues one call.
  result out;                 ///< The call's result.
  /// Runs before a call and is not timed: sets values that calls change.
  std::function<void()> start = {};
  /// Copies results to `out` if a call leaves them elsewhere; not timed.
  std::function<void()> collect = {};
};

enum class timing {
  /// Time of some calls between two events; on the host between two readings of the clock.
  device,
  call,   ///< Wall time of one call and of the wait for its end.
  calls,  ///< Wall time a call, of ten thousand calls in a row.
};

/// A work at one size, to which its rows are added. The others' results must agree with the first
/// row's.
class work {
 public:
  /// `bytes` are the bytes that a call must move, each counted once.
  work(const char* group, dsl::dtype type, std::string size, std::string name, double bytes,
       timing how = timing::device);

  /// Adds a row by this library.
  work& by(const char* who, std::function<job()> make);
  /// The largest relative difference from the first row that a peer may have. Otherwise it depends
  /// on the dtype's rounding.
  work& within(double tolerance);
  /// Floating point operations of a call, for the counter TFLOP/s.
  work& flops(double count);

 private:
  struct shared;
  std::shared_ptr<shared> it_;
};

/// A size such as "8192x8192".
inline std::string shape_of(std::int64_t rows, std::int64_t columns) {
  return std::to_string(rows) + 'x' + std::to_string(columns);
}

/// Memory that all rows share, by number. A row with another dtype or more bytes gets other memory
/// or values.
enum class slot { a, b, c, out, second_out, reference, copied, copy };
/// Random elements, the same in each call with the same dtype.
dsl::view<unsigned char> random_bytes(slot where, dsl::dtype type, std::int64_t count);
/// Memory to write to.
dsl::view<unsigned char> bytes_of(slot where, std::int64_t count);

template <class T> dsl::view<T> view_as(const dsl::view<unsigned char>& bytes, std::int64_t count) {
  return {bytes.owner(), reinterpret_cast<T*>(bytes.data()), {count}, {1}};
}
/// n random elements: uniform in [0.5, 1.5), or integers in 0 to 7. So are both parts of complex
/// numbers.
template <class T> dsl::view<const T> operand(slot where, std::int64_t n) {
  return view_as<const T>(random_bytes(where, dsl::dtype_v<T>, n), n);
}
/// n elements to write. With rank 0, one element.
template <class T, int Rank = 1> dsl::view<T, Rank> target(slot where, std::int64_t n) {
  const auto line = view_as<T>(bytes_of(where, n * static_cast<std::int64_t>(sizeof(T))), n);
  if constexpr (Rank == 0) return {line.owner(), line.data(), {}, {}};
  else return line;
}

/// Operands of one dtype in one dimension, and the result: `Out` is an array or a single value of
/// any dtype.
template <class T, class Out = dsl::view<T>> struct arrays {
  explicit arrays(std::int64_t count)
      : n(count),
        a(operand<T>(slot::a, n)),
        b(operand<T>(slot::b, n)),
        c(operand<T>(slot::c, n)),
        out(target<typename Out::value_type, Out::rank>(slot::out, Out::rank == 0 ? 1 : n)) {}
  std::int64_t n;
  dsl::view<const T> a, b, c;
  Out out;
};
template <class T, class R = T> using reduced = arrays<T, dsl::view<R, 0>>;

/// The function that a row calls: `call(x)`, or the function that `call(x)` returns after preparing
/// something.
template <class X, class Call> std::function<void()> bound(const X& x, const Call& call) {
  if constexpr (std::is_void_v<std::invoke_result_t<const Call&, const X&>>)
    return [x, call] { call(x); };
  else return call(x);
}

/// A work on such arrays: a row is a function of them that writes `out`.
template <class Arrays> class work_on {
 public:
  work_on(const char* group, dsl::dtype type, const char* name, std::int64_t n,
          double bytes_per_element, timing how = timing::device)
      : n_(n),
        work_(group, type, std::to_string(n), name, bytes_per_element * static_cast<double>(n),
              how) {}

  template <class Call> work_on& by(const char* who, Call call) {
    work_.by(who, [n = n_, call] {
      const Arrays x(n);
      return job{bound(x, call), x.out};
    });
    return *this;
  }
  work_on& within(double tolerance) { return work_.within(tolerance), *this; }

 private:
  std::int64_t n_;
  work work_;
};

/// Adds a row that copies `floats` floats, with which the bandwidth of the others is compared.
void add_copy(const char* group, std::string size, std::int64_t floats);

/// Rows that a file adds before main starts.
struct rows {
  explicit rows(void (*add)()) { add(); }
};

}  // namespace bench
