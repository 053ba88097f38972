// c = a + b of 2 x 10^7 integers in the host's memory: the cost of the copies, and how much of it
// can be hidden. First as a whole: copy a and b to the device, add, copy c back. Then in batches on
// three streams: one batch is copied to the device while another is added and a third is copied
// back. Both wait for the result and use page-locked memory; the whole copy also uses std::vector.
#include <dsl/dsl.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "example.hpp"

using integers = dsl::pinned_array<std::int32_t>;

struct add;
static constexpr auto sum_of = dsl::vectorize<add>([](auto a, auto b) { return a + b; });

static void copy_whole(const integers& a, const integers& b, integers& c,
                       dsl::array<std::int32_t>& x, dsl::array<std::int32_t>& y,
                       dsl::array<std::int32_t>& z) {
  x.copy_from_host_async(a);
  y.copy_from_host_async(b);
  z = sum_of(x, y);
  z.copy_to_host_async(c);
  c.wait();
}

// A stream, and arrays for one batch. The next batch that uses them is queued on the same stream,
// so it starts after this one.
struct lane {
  explicit lane(std::int64_t batch) {
    const dsl::stream_guard on(stream);
    for (auto* const each : {&x, &y, &z}) *each = dsl::array<std::int32_t>(batch);
  }
  dsl::stream stream;
  dsl::array<std::int32_t> x, y, z;
};

static void copy_in_batches(const integers& a, const integers& b, integers& c,
                            std::vector<lane>& lanes) {
  const auto n = static_cast<std::int64_t>(a.size()), batch = lanes[0].x.size();
  std::size_t turn = 0;
  for (std::int64_t first = 0; first < n; first += batch) {
    lane& l = lanes[turn++ % lanes.size()];
    const dsl::stream_guard on(l.stream);
    const std::int64_t count = std::min(batch, n - first);
    const dsl::slice part(0, count);  // The last batch may be shorter.
    l.x(part).copy_from_host_async(a.subspan(first, count));
    l.y(part).copy_from_host_async(b.subspan(first, count));
    l.z(part) = sum_of(l.x(part), l.y(part));
    l.z(part).copy_to_host_async(c.subspan(first, count));
  }
  c.wait();
}

// Prints the speed of a call that computes c = a + b, and checks c.
template <class Result, class F>
static double timed(const char* what, const integers& a, const integers& b, Result& c, bool& right,
                    F call) {
  std::fill(c.begin(), c.end(), -1);
  const double seconds = seconds_of(call);
  const auto n = static_cast<std::int64_t>(a.size());
  double wrong = 0;
  for (std::int64_t i = 0; i < n; ++i) wrong += c.data()[i] == a[i] + b[i] ? 0 : 1;
  print_speed(what, seconds, static_cast<double>(n), "elements", 12 * static_cast<double>(n));
  right = check("elements that are wrong", wrong, 0) && right;
  return seconds;
}

static bool run(const example& e) {
  const std::int64_t n = e.size;
  integers a(n), b(n), c(n);
  for (std::int64_t i = 0; i < n; ++i) {
    a[i] = static_cast<std::int32_t>(i);
    b[i] = static_cast<std::int32_t>(7 * i % 1000);
  }
  bool right = true;
  dsl::array<std::int32_t> x(n), y(n), z(n);
  const std::vector<std::int32_t> pageable_a(a.begin(), a.end()), pageable_b(b.begin(), b.end());
  std::vector<std::int32_t> pageable_c(a.size());
  timed("whole, std::vector", a, b, pageable_c, right, [&] {
    x.copy_from_host(pageable_a);
    y.copy_from_host(pageable_b);
    z = sum_of(x, y);
    z.copy_to_host(pageable_c);
  });
  const double whole =
      timed("whole, page-locked", a, b, c, right, [&] { copy_whole(a, b, c, x, y, z); });

  std::vector<lane> lanes;
  for (int i = 0; i < 3; ++i) lanes.emplace_back(std::max<std::int64_t>(n / 12, 1));
  const double batches =
      timed("in 12 batches", a, b, c, right, [&] { copy_in_batches(a, b, c, lanes); });
  std::printf("batches take %.0f %% of the time of the whole\n", 100 * batches / whole);
  return right;
}

int main(int argc, char** argv) {
  return run_example(argc, argv,
                     {.shows = "Copies from and to the host beside kernels.",
                      .size = 20'000'000,
                      .size_is = "elements"},
                     run);
}
