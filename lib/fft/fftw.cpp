// Lines by FFTW, which is under the GPL: for builds that ask for it.
#include <fftw3.h>

#include <mutex>
#include <type_traits>
#include <vector>

#include "fft/line.hpp"

namespace dsl::detail {

namespace {

// FFTW's functions for double and for float, by their arguments.
fftw_plan plan_line(const fftw_iodim64& line, fftw_complex* in, fftw_complex* out, int sign,
                    unsigned flags) {
  return fftw_plan_guru64_dft(1, &line, 0, nullptr, in, out, sign, flags);
}
fftwf_plan plan_line(const fftw_iodim64& line, fftwf_complex* in, fftwf_complex* out, int sign,
                     unsigned flags) {
  return fftwf_plan_guru64_dft(1, &line, 0, nullptr, in, out, sign, flags);
}
void execute(fftw_plan plan, fftw_complex* in, fftw_complex* out) {
  fftw_execute_dft(plan, in, out);
}
void execute(fftwf_plan plan, fftwf_complex* in, fftwf_complex* out) {
  fftwf_execute_dft(plan, in, out);
}
void destroy(fftw_plan plan) { fftw_destroy_plan(plan); }
void destroy(fftwf_plan plan) { fftwf_destroy_plan(plan); }

// Of all functions of FFTW only those that run a plan may be called by several threads at once.
std::mutex planning;

template <class T>
class by_fftw : public line_transform<T> {
  using element = std::conditional_t<std::is_same_v<T, float>, fftwf_complex, fftw_complex>;
  using plan = std::conditional_t<std::is_same_v<T, float>, fftwf_plan, fftw_plan>;

 public:
  by_fftw(std::int64_t n, bool inverse) {
    // An estimated plan leaves these arrays as they are; run() has others, aligned as they may be.
    std::vector<std::complex<T>> in(static_cast<std::size_t>(n)), out(in);
    const std::lock_guard lock(planning);
    plan_ = plan_line({n, 1, 1}, elements(in.data()), elements(out.data()),
                      inverse ? FFTW_BACKWARD : FFTW_FORWARD,
                      FFTW_ESTIMATE | FFTW_UNALIGNED | FFTW_PRESERVE_INPUT);
  }
  ~by_fftw() override {
    const std::lock_guard lock(planning);
    destroy(plan_);
  }
  by_fftw(const by_fftw&) = delete;
  void run(const std::complex<T>* in, std::complex<T>* out) const override {
    execute(plan_, elements(const_cast<std::complex<T>*>(in)), elements(out));
  }

 private:
  static element* elements(std::complex<T>* all) { return reinterpret_cast<element*>(all); }
  plan plan_;
};

}  // namespace

template <class T>
std::unique_ptr<line_transform<T>> make_library_transform(std::int64_t n, bool inverse) {
  return std::make_unique<by_fftw<T>>(n, inverse);
}
template std::unique_ptr<line_transform<float>> make_library_transform(std::int64_t, bool);
template std::unique_ptr<line_transform<double>> make_library_transform(std::int64_t, bool);

}  // namespace dsl::detail
