// Fourier transforms beside cuFFT called by hand, with plans that are kept and arrays that are
// there; on the host alone, for fft.py to stand beside. Prints a table.
//
// usage: bench_fft
#include <dsl/fft.hpp>

#include <complex>
#include <string>
#include <type_traits>

#include "timed.hpp"

#if DSL_BENCH_CUFFT
#include <cufft.h>
#endif

namespace {

using std::int64_t;
using namespace std::complex_literals;
using c32 = std::complex<float>;
using c64 = std::complex<double>;

template <class T>
dsl::array<T, 2> filled(int64_t rows, int64_t columns) {
  const auto k = dsl::index(0, rows, columns) * 7919 + dsl::index(1, rows, columns) * 104729;
  return dsl::cast<T>(dsl::cast<double>(k % 1021) / 1021);
}

// cuFFT by hand, in the stream of dsl; 0 ms where there is none.
class by_hand {
 public:
  by_hand(const char* type, int64_t rows, int64_t columns, bool both_axes) {
#if DSL_BENCH_CUFFT
    has_gpu_ = dsl::device::current().kind == dsl::backend::cuda;
    if (!has_gpu_) return;
    const std::string is(type);
    const cufftType of = is == "complex64" ? CUFFT_C2C : is == "complex128" ? CUFFT_Z2Z : CUFFT_R2C;
    long long n[] = {both_axes ? rows : columns, columns};
    std::size_t bytes = 0;
    cufftCreate(&plan_);
    cufftMakePlanMany64(plan_, both_axes ? 2 : 1, n, nullptr, 1, 0, nullptr, 1, 0, of,
                        both_axes ? 1 : rows, &bytes);
    cufftSetStream(plan_, static_cast<cudaStream_t>(dsl::stream::current().native()));
#else
    static_cast<void>(type), static_cast<void>(rows), static_cast<void>(columns);
    static_cast<void>(both_axes);
#endif
  }
  bool is_there() const { return has_gpu_; }
  template <class In, class Out>
  void run(In* in, Out* out, bool inverse = false) const {
#if DSL_BENCH_CUFFT
    const int way = inverse ? CUFFT_INVERSE : CUFFT_FORWARD;
    if constexpr (std::is_same_v<In, float>)
      cufftExecR2C(plan_, in, reinterpret_cast<cufftComplex*>(out));
    else if constexpr (std::is_same_v<In, c32>)
      cufftExecC2C(plan_, reinterpret_cast<cufftComplex*>(in), reinterpret_cast<cufftComplex*>(out),
                   way);
    else
      cufftExecZ2Z(plan_, reinterpret_cast<cufftDoubleComplex*>(in),
                   reinterpret_cast<cufftDoubleComplex*>(out), way);
#else
    static_cast<void>(in), static_cast<void>(out), static_cast<void>(inverse);
#endif
  }

 private:
  bool has_gpu_ = false;
#if DSL_BENCH_CUFFT
  cufftHandle plan_ = 0;
#endif
};

// Prints the row of a statement, after that of the same by hand where there is a GPU.
template <class Hand, class Call>
void compare(const by_hand& peer, const std::string& what, const Hand& hand, const Call& call) {
  const double beside = peer.is_there() ? milliseconds(hand) : 0;
  if (peer.is_there()) print(what, "cuFFT", beside, beside);
  const double ms = milliseconds(call);
  print(what, "dsl", ms, peer.is_there() ? beside : ms);
}

std::string shape(int64_t rows, int64_t columns) {
  return "(" + std::to_string(rows) + ", " + std::to_string(columns) + ") ";
}

template <class T>
void of_rows(const char* type, int64_t rows, int64_t columns) {
  auto x = filled<T>(rows, columns);
  dsl::array<T, 2> y(rows, columns);
  const by_hand peer(type, rows, columns, false);
  const std::string of = shape(rows, columns) + type;
  compare(
      peer, "fft of rows, " + of, [&] { peer.run(x.data(), y.data()); }, [&] { y = dsl::fft(x); });
  compare(
      peer, "fft of rows in place, " + of, [&] { peer.run(x.data(), x.data()); },
      [&] { x = dsl::fft(x); });
}

// Forth, a phase for each element, and back: a split step of many rows. By hand the phase with the
// factor is a kernel of dsl's.
template <class T>
void split_step(const char* type, int64_t rows, int64_t columns) {
  auto x = filled<T>(rows, columns);
  const dsl::array<T, 2> phase = dsl::cast<T>(exp(1i * dsl::real(filled<c64>(1, columns))));
  const by_hand peer(type, rows, columns, false);
  const double factor = 1 / static_cast<double>(columns);
  compare(
      peer, "fft, phase, ifft of rows, " + shape(rows, columns) + type,
      [&] {
        peer.run(x.data(), x.data());
        x = factor * phase * x;
        peer.run(x.data(), x.data(), true);
      },
      [&] { x = dsl::ifft(phase * dsl::fft(x)); });
}

// The same in one kernel, beside what three launches take, and beside cuFFT's two calls alone.
template <class T, int Columns>
void split_step_in_one_kernel(const char* type, int64_t rows) {
  auto x = filled<T>(rows, Columns);
  const dsl::array<T, 2> phase = dsl::cast<T>(exp(1i * dsl::real(filled<c64>(1, Columns))));
  const by_hand peer(type, rows, Columns, false);
  const std::string of = shape(rows, Columns) + type;
  compare(
      peer, "fft<n>, phase, ifft<n> of rows, " + of,
      [&] {
        peer.run(x.data(), x.data());
        peer.run(x.data(), x.data(), true);
      },
      [&] { x = dsl::ifft<Columns>(phase * dsl::fft<Columns>(x)); });
  print("fft, phase, ifft of rows, " + of, "dsl",
        milliseconds([&] { x = dsl::ifft(phase * dsl::fft(x)); }), 0);
}

template <class T>
void of_planes(const char* type, int64_t rows, int64_t columns) {
  auto x = filled<T>(rows, columns);
  dsl::array<T, 2> y(rows, columns);
  const by_hand peer(type, rows, columns, true);
  const std::string of = shape(rows, columns) + type;
  compare(peer, "fft2, " + of, [&] { peer.run(x.data(), y.data()); }, [&] { y = dsl::fft2(x); });
  print("fft of columns, " + of, "dsl", milliseconds([&] { y = dsl::fft(x, dsl::axis(0)); }), 0);
}

void of_real_rows(int64_t rows, int64_t columns) {
  auto x = filled<float>(rows, columns);
  dsl::array<c32, 2> y(rows, columns / 2 + 1);
  const by_hand peer("float32", rows, columns, false);
  const std::string of = shape(rows, columns) + "float32";
  compare(
      peer, "rfft of rows, " + of, [&] { peer.run(x.data(), y.data()); },
      [&] { y = dsl::rfft(x); });
  print("irfft of rows, " + of, "dsl", milliseconds([&] { x = dsl::irfft(y, columns); }), 0);
}

}  // namespace

int main() {
  std::printf("| what | by | ms | speed beside the first |\n| --- | --- | --- | --- |\n");
  of_rows<c32>("complex64", 1, 1 << 24);
  of_rows<c32>("complex64", 1024, 4096);
  of_rows<c64>("complex128", 1024, 4096);
  of_rows<c32>("complex64", 1000, 4099);  // a prime number of points
  split_step<c32>("complex64", 1024, 4096);
  split_step<c32>("complex64", 16384, 1024);
  split_step<c64>("complex128", 1, 1024);
  split_step_in_one_kernel<c32, 4096>("complex64", 1024);
  split_step_in_one_kernel<c32, 4096>("complex64", 16384);
  split_step_in_one_kernel<c32, 1024>("complex64", 4099);
  split_step_in_one_kernel<c32, 256>("complex64", 8192);
  split_step_in_one_kernel<c32, 64>("complex64", 100003);
  split_step_in_one_kernel<c64, 4096>("complex128", 1024);
  of_planes<c32>("complex64", 4096, 4096);
  of_real_rows(1024, 4096);
}
