// Lines by FFTW, which is under the GPL: for builds that ask for it.
#include <fftw3.h>

#include <complex>
#include <memory>
#include <mutex>

#include "fft/line.hpp"
#include "fft/line_memory.hpp"

namespace dsl::detail {

namespace {

// FFTW's names for single and for double precision, and for the kinds of lines.
using of_float = std::complex<float>;
using of_double = std::complex<double>;
fftwf_complex* as_fftw(of_float* x) { return reinterpret_cast<fftwf_complex*>(x); }
fftw_complex* as_fftw(of_double* x) { return reinterpret_cast<fftw_complex*>(x); }
// A plan that is estimated leaves the arrays as they are.
constexpr unsigned flags = FFTW_ESTIMATE | FFTW_PRESERVE_INPUT,
                   overwriting = FFTW_ESTIMATE | FFTW_DESTROY_INPUT;
fftwf_plan plan(const fftw_iodim64& line, of_float* in, of_float* out, int sign) {
  return fftwf_plan_guru64_dft(1, &line, 0, nullptr, as_fftw(in), as_fftw(out), sign, flags);
}
fftw_plan plan(const fftw_iodim64& line, of_double* in, of_double* out, int sign) {
  return fftw_plan_guru64_dft(1, &line, 0, nullptr, as_fftw(in), as_fftw(out), sign, flags);
}
fftwf_plan plan(const fftw_iodim64& line, float* in, of_float* out, int) {
  return fftwf_plan_guru64_dft_r2c(1, &line, 0, nullptr, in, as_fftw(out), flags);
}
fftw_plan plan(const fftw_iodim64& line, double* in, of_double* out, int) {
  return fftw_plan_guru64_dft_r2c(1, &line, 0, nullptr, in, as_fftw(out), flags);
}
fftwf_plan plan(const fftw_iodim64& line, of_float* in, float* out, int) {
  return fftwf_plan_guru64_dft_c2r(1, &line, 0, nullptr, as_fftw(in), out, overwriting);
}
fftw_plan plan(const fftw_iodim64& line, of_double* in, double* out, int) {
  return fftw_plan_guru64_dft_c2r(1, &line, 0, nullptr, as_fftw(in), out, overwriting);
}
void execute(fftwf_plan p, of_float* in, of_float* out) {
  fftwf_execute_dft(p, as_fftw(in), as_fftw(out));
}
void execute(fftw_plan p, of_double* in, of_double* out) {
  fftw_execute_dft(p, as_fftw(in), as_fftw(out));
}
void execute(fftwf_plan p, float* in, of_float* out) { fftwf_execute_dft_r2c(p, in, as_fftw(out)); }
void execute(fftw_plan p, double* in, of_double* out) { fftw_execute_dft_r2c(p, in, as_fftw(out)); }
void execute(fftwf_plan p, of_float* in, float* out) { fftwf_execute_dft_c2r(p, as_fftw(in), out); }
void execute(fftw_plan p, of_double* in, double* out) { fftw_execute_dft_c2r(p, as_fftw(in), out); }
void destroy(fftwf_plan p) { fftwf_destroy_plan(p); }
void destroy(fftw_plan p) { fftw_destroy_plan(p); }

// Of all functions of FFTW only those that run a plan may be called by several threads at once.
std::mutex planning;

template <class In, class Out>
class by_fftw : public line_transform<In, Out> {
 public:
  by_fftw(std::int64_t n, int sign) {
    const line_memory<In> in(1, n);
    const line_memory<Out> out(1, n);
    const std::lock_guard lock(planning);
    plan_ = plan({n, 1, 1}, in.line(), out.line(), sign);
  }
  ~by_fftw() override {
    const std::lock_guard lock(planning);
    destroy(plan_);
  }
  by_fftw(const by_fftw&) = delete;
  void run(In* in, Out* out) const override { execute(plan_, in, out); }

 private:
  decltype(plan({}, static_cast<In*>(nullptr), static_cast<Out*>(nullptr), 0)) plan_;
};

}  // namespace

template <class T>
std::unique_ptr<complex_line_transform<T>> make_library_transform(std::int64_t n, bool inverse) {
  return std::make_unique<by_fftw<std::complex<T>, std::complex<T>>>(
      n, inverse ? FFTW_BACKWARD : FFTW_FORWARD);
}
template std::unique_ptr<complex_line_transform<float>> make_library_transform(std::int64_t, bool);
template std::unique_ptr<complex_line_transform<double>> make_library_transform(std::int64_t, bool);

template <class In, class Out>
std::unique_ptr<line_transform<In, Out>> make_real_transform(std::int64_t n) {
  return std::make_unique<by_fftw<In, Out>>(n, 0);
}
template std::unique_ptr<line_transform<float, of_float>> make_real_transform(std::int64_t);
template std::unique_ptr<line_transform<double, of_double>> make_real_transform(std::int64_t);
template std::unique_ptr<line_transform<of_float, float>> make_real_transform(std::int64_t);
template std::unique_ptr<line_transform<of_double, double>> make_real_transform(std::int64_t);

}  // namespace dsl::detail
