#include <dsl/dsl.hpp>

#include <cstdio>
#include <tuple>
#include <vector>

int main() {
  auto x = dsl::to_device(std::vector<float>{3, 0, 1});  // on the GPU if there is one
  auto y = dsl::to_device(std::vector<float>{4, 2, 1});

  // One kernel. The literal takes the arrays' dtype, so the result stays float.
  dsl::array<float> z = 2 * x + y;

  const auto polar = dsl::vectorize([](auto a, auto b) {  // an ordinary lambda
    return std::tuple{sqrt(a * a + b * b), atan2(b, a)};
  });
  dsl::array<float> r(3), angle(3);
  dsl::tie(r, angle) = polar(x, y);  // one kernel, two outputs

  const std::vector<float> sums = z.copy_to_host(), radii = r.copy_to_host();
  std::printf("%s: ", dsl::device::current().name().c_str());
  std::printf("%g %g %g, r = %g\n", sums[0], sums[1], sums[2], radii[0]);
  return sums[0] == 10 && sums[1] == 2 && sums[2] == 3 && radii[0] == 5 ? 0 : 1;
}
