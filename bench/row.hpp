// Rows of the benchmarks: a work, at one size, by one library. A row's name, its timing and its
// counters are made in row.cpp alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>

#include <dsl/dsl.hpp>

namespace bench {

/// What a row has computed: contiguous elements, which the peers' are compared with.
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
  std::function<void()> run;  ///< one call, queued
  result out;                 ///< what the call has written
  std::function<void()> start =
      {};  ///< what comes before a call and is not timed: values that calls change
  std::function<void()> collect =
      {};  ///< what brings results to `out`, where a call leaves them elsewhere; not timed
};

enum class timing {
  device,  ///< some calls between two events; on the host between two readings of the clock
  call,    ///< wall time of one call and of the wait for its end
  calls,   ///< wall time of ten thousand calls in a row, a call
};

/// A work at one size, to which its rows are added. The first row's results are what the others'
/// have to be.
class work {
 public:
  /// `bytes` are those that a call must move, each once.
  work(const char* group, dsl::dtype type, std::string size, std::string name, double bytes,
       timing how = timing::device);

  /// A row by this library.
  work& by(const char* who, std::function<job()> make);
  /// The largest relative difference from the first row that a peer may have. Without it, what
  /// rounding makes of the dtype.
  work& within(double tolerance);
  /// Floating point operations of a call, for a counter TFLOP/s.
  work& flops(double count);

 private:
  struct shared;
  std::shared_ptr<shared> it_;
};

/// "8192x8192"
std::string shape_of(std::int64_t rows, std::int64_t columns);

/// Memory that all rows share, by number. Rows of another dtype or of more bytes find other memory
/// or values there.
enum class slot { a, b, c, out, second_out, reference, copied, copy };
/// Random elements, the same for each call with the same dtype.
dsl::view<unsigned char> random_bytes(slot where, dsl::dtype type, std::int64_t count);
/// Memory to be written to.
dsl::view<unsigned char> bytes_of(slot where, std::int64_t count);

template <class T> dsl::view<T> view_as(const dsl::view<unsigned char>& bytes, std::int64_t count) {
  return {bytes.owner(), reinterpret_cast<T*>(bytes.data()), {count}, {1}};
}
/// n random elements, uniform in [0.5, 1.5), or whole numbers in 0 to 7; complex numbers have both
/// parts so.
template <class T> dsl::view<const T> operand(slot where, std::int64_t n) {
  return view_as<const T>(random_bytes(where, dsl::dtype_v<T>, n), n);
}
/// n elements to be written. A rank of 0 is one element.
template <class T, int Rank = 1> dsl::view<T, Rank> target(slot where, std::int64_t n) {
  const auto line = view_as<T>(bytes_of(where, n * static_cast<std::int64_t>(sizeof(T))), n);
  if constexpr (Rank == 0) return {line.owner(), line.data(), {}, {}};
  else return line;
}

/// Operands of one dtype in one dimension, and what is made of them: `Out` is an array or one
/// value, of any dtype.
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

/// What a row does each time: `call(x)`, or, where that gives a function, as after having prepared
/// something, that function.
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

/// A row of a copy of so many floats, by what the others' bandwidth is compared with.
void add_copy(const char* group, std::string size, std::int64_t floats);

/// Rows that a file adds before main.
struct rows {
  explicit rows(void (*add)()) { add(); }
};

}  // namespace bench
