// A mesh of processes: mpirun -n N processes. Each case computes on the mesh and compares every element, in every process, with
// the same on the process's own device.
#include <dsl/dsl.hpp>
#include <dsl/mpi.hpp>
#include <dsl/scan.hpp>

#include <cmath>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

namespace {

int rank = 0, processes = 1, failures = 0;
dsl::device own = dsl::backend::host, all = dsl::backend::host;

template <class T>
void check(const char* what, const std::vector<T>& got, const std::vector<T>& wanted) {
  if (got == wanted) return;
  ++failures;
  std::size_t i = 0;
  while (i < got.size() && i < wanted.size() && got[i] == wanted[i]) ++i;
  std::printf("process %d: %s: %zu of %zu elements, the first difference at %zu: %g, not %g\n", rank, what, got.size(),
              wanted.size(), i, i < got.size() ? static_cast<double>(got[i]) : 0.,
              i < wanted.size() ? static_cast<double>(wanted[i]) : 0.);
}
void check(const char* what, bool holds) {
  if (!holds) std::printf("process %d: %s\n", rank, what), ++failures;
}

std::vector<double> numbers(std::int64_t n) {
  std::vector<double> v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<double>((i * 37) % 101) - 50;  // whose sums are exact
  return v;
}
dsl::array<double> vector_on(dsl::device where, std::int64_t n) {
  dsl::array<double> a(dsl::extents<1>{n}, where);
  a.copy_from_host(numbers(n));
  return a;
}
dsl::array<double, 2> matrix_on(dsl::device where, std::int64_t rows, std::int64_t columns) {
  dsl::array<double, 2> a(dsl::extents<2>{rows, columns}, where);
  a.copy_from_host(numbers(rows * columns));
  return a;
}

// Runs a case on the mesh and on the own device; it gives what is compared.
template <class Case>
void compare(const char* what, const Case& run) {
  const auto on = [&](dsl::device where) {
    const dsl::device_guard current(where);
    return run(where);
  };
  check(what, on(all), on(own));
}
template <class Statement>
void refuse(const char* what, const char* words, const Statement& run) {
  try {
    run();
  } catch (const dsl::error& e) {
    if (std::string(e.what()).find(words) == std::string::npos) check(e.what(), false);
    return;
  }
  check(what, false);
}

void transfers(std::int64_t n) {
  const auto host = numbers(n);
  auto a = vector_on(all, n);
  check("copy_to_host", a.copy_to_host(), host);
  const auto mine = dsl::local(a);
  const std::int64_t first = dsl::first_local_row(a);
  check("local is on the own device", mine.where() == own);
  const auto own_rows = mine.copy_to_host();
  check("local", own_rows, std::vector<double>(host.begin() + first, host.begin() + first + mine.size()));
  mine = mine + 1.;
  compare("local rows change", [&](dsl::device where) {
    if (where == all) return a.copy_to_host();
    auto v = host;
    for (double& x : v) x += 1;
    return v;
  });
  if (n > 3) {
    check("an element", a(n - 2).value() == host[static_cast<std::size_t>(n - 2)] + 1);
    a(1) = 7.;
    check("an element that is set", a(1).value() == 7.);
  }
  compare("every other element", [&](dsl::device where) {
    auto x = vector_on(where, n);
    auto odd = x(dsl::slice(0, dsl::end, 2));
    odd.copy_from_host(numbers(odd.size()));
    auto got = x.copy_to_host();
    const auto some = dsl::flip(x(dsl::slice(0, dsl::end, 3))).copy_to_host();
    got.insert(got.end(), some.begin(), some.end());
    return got;
  });
}

void elementwise(std::int64_t n, std::int64_t columns) {
  compare("formulas", [&](dsl::device where) {
    const auto a = matrix_on(where, n, columns), b = matrix_on(where, n, columns);
    const auto row = vector_on(where, columns);
    const dsl::scalar<double> s(3., where);
    dsl::array<double, 2> c = a * b + row - s;
    c(dsl::slice(1, dsl::end)) = c(dsl::slice(1, dsl::end)) + a(dsl::slice(1, dsl::end));
    c = c + dsl::transpose(dsl::reshape(dsl::eval(dsl::arange<std::int64_t>(n)), 1, n));
    return c.copy_to_host();
  });
}

void refusals() {
  if (processes == 1) return;
  auto a = vector_on(all, 16);
  refuse("reversed rows", "in other processes than the target's", [&] { a = dsl::flip(a) + 1.; });
  refuse("a scan", "a scan along the axis", [&] { a = dsl::cumsum(a); });
}

void reductions(std::int64_t n, std::int64_t columns) {
  const auto values = [](const auto&... each) { return std::vector<double>{static_cast<double>(each.value())...}; };
  compare("reductions of everything", [&](dsl::device where) {
    const auto a = matrix_on(where, n, columns);
    const dsl::scalar<double> total = dsl::sum(a), mean = dsl::mean(a), most = dsl::max(a * 2.);
    const dsl::scalar<std::int64_t> at = dsl::argmax(a);
    return values(total, mean, most, at);
  });
  compare("reductions along axes", [&](dsl::device where) {
    const auto a = matrix_on(where, n, columns);
    const dsl::array<double> down = dsl::sum(a, dsl::axis(0)), across = dsl::max(a, dsl::axis(1));
    const dsl::array<double, 2> centred = a - dsl::max(a, dsl::axis(0));
    auto got = down.copy_to_host();
    for (const auto& more : {across.copy_to_host(), centred.copy_to_host()}) got.insert(got.end(), more.begin(), more.end());
    return got;
  });
}

// State, sums that come back, histories.
void loops(std::int64_t n) {
  const auto step = dsl::vectorize([](auto x, auto s, auto t) {
    auto moved = x * 0.5 + s + t;
    return std::tuple{moved, dsl::mean(moved), t + 0.25};
  });
  compare("iterate", [&](dsl::device where) {
    auto x = matrix_on(where, n, 4);
    dsl::scalar<double> s(1., where), t(0., where);
    const auto [means, times] = dsl::iterate(5, step, dsl::state(x, s, t));
    auto got = x.copy_to_host();
    got.push_back(s.value());
    for (const double value : means.copy_to_host()) got.push_back(value);
    for (double& value : got) value = std::round(value * 1e6);  // the means are added in another order
    for (const double value : times.copy_to_host()) got.push_back(value);
    got.push_back(t.value());
    return got;
  });
}

// Each element by itself.
void steps_alone(std::int64_t n) {
  const auto step = dsl::vectorize([](auto x, auto y, auto h) { return x + h * y; });
  compare("iterate without sums", [&](dsl::device where) {
    auto x = matrix_on(where, n, 4);
    const auto y = matrix_on(where, n, 4);
    dsl::iterate(7, step, dsl::state(x), y, 2.);
    return x.copy_to_host();
  });
}

// A condition that sums decide.
void until_small(std::int64_t n) {
  const auto step = dsl::vectorize([](auto x, auto) {
    auto half = x * 0.5;
    return std::tuple{half, dsl::max(half)};
  });
  compare("iterate until", [&](dsl::device where) {
    auto x = matrix_on(where, n, 4);
    dsl::scalar<double> most(1., where);
    dsl::scalar<std::int64_t> ran(0, where);
    const dsl::array<double> history = dsl::iterate(40, step, dsl::state(x, most), dsl::until(most < 0.01, ran));
    auto got = x.copy_to_host();
    for (const double value : history.copy_to_host()) got.push_back(value);
    got.push_back(most.value());
    got.push_back(static_cast<double>(ran.value()));
    return got;
  });
}

void shown() {
  compare("printing", [&](dsl::device where) {
    std::ostringstream text;
    text << matrix_on(where, 40, 3);
    const std::string shown = text.str();
    return std::vector<char>(shown.begin(), shown.end());
  });
}

void along_rows(std::int64_t n) {
  compare("scans and neighbours along other axes", [&](dsl::device where) {
    const auto a = matrix_on(where, n, 30);
    const dsl::array<double, 2> sums = dsl::cumsum(a, dsl::axis(1)), beside = a - dsl::shift(a, 1);
    auto got = sums.copy_to_host();
    const auto more = beside.copy_to_host();
    got.insert(got.end(), more.begin(), more.end());
    return got;
  });
}

// Along the rows' own axis, near and far, by each boundary; one step of a loop after the other.
void neighbours(std::int64_t n) {
  for (const dsl::boundary beyond : {dsl::boundary::zero, dsl::boundary::wrap, dsl::boundary::clamp, dsl::boundary::reflect})
    for (const std::int64_t distance : {1, -2, 40})
      compare("neighbours by the distance", [&](dsl::device where) {
        const auto a = matrix_on(where, n, 5);
        const auto row = vector_on(where, 5);
        dsl::array<double, 2> b = a * row - dsl::shift(a, distance, beyond, 0);
        return b.copy_to_host();
      });
  compare("neighbours in a loop", [&](dsl::device where) {
    auto x = matrix_on(where, n, 6);
    const auto step = dsl::vectorize([](auto x) {
      return x + dsl::shift(x, 1, dsl::boundary::wrap, 0) + dsl::shift(x, -1, dsl::boundary::wrap, 0) -
             2. * dsl::shift(x, 1, dsl::boundary::zero, 1);
    });
    dsl::iterate(3, step, dsl::state(x));
    return x.copy_to_host();
  });
  compare("a sum over neighbours", [&](dsl::device where) {
    const auto a = matrix_on(where, n, 5);
    const dsl::scalar<double> sum = dsl::sum(a * dsl::shift(a, 1, dsl::boundary::zero, 0));
    return std::vector<double>{sum.value()};
  });
}

void files() {
  const std::string name =
      "processes_test_" + std::string(dsl::device::current().name()).substr(0, 4) + std::to_string(processes) + ".npy";
  compare("a file", [&](dsl::device where) {
    if (where == own) return numbers(77 * 3);
    dsl::save_npy(name, matrix_on(where, 77, 3));
    const auto read = dsl::load_npy<double, 2>(name);
    check("a file's array is divided", dsl::local(read).extent(0) <= (77 + processes - 1) / processes);
    return read.copy_to_host();
  });
  refuse("a checkpoint of several processes", "save_npy", [&] { dsl::save_checkpoint("checkpoint", 1, vector_on(all, 5)); });
  refuse("a file that cannot be written", "no_such_folder", [&] { dsl::save_npy("no_such_folder/file.npy", vector_on(all, 5)); });
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::remove(name.c_str());
}

void page() {
#include <docs/processes/several-processes.inc>
  check("the page's sum", total.value() == 5. * 1000 * 500);
  check("the page's rows", rows.copy_to_host() == std::vector<double>(static_cast<std::size_t>(rows.size()), 5.));
}

void join() {
  all = dsl::mesh(MPI_COMM_WORLD);
  own = dsl::local(dsl::array<double>(dsl::extents<1>{1}, all)).where();
  const dsl::device current = dsl::device::current();
  check("its own device", own.kind == current.kind && own.index == (current.kind == dsl::backend::cuda ? rank : 0));
  check("its name", std::string(all.name()).find(" processes of ") != std::string::npos);
}

int count_gpus() {
  int count = 0;
  for (const dsl::device d : dsl::devices()) count += d.kind == dsl::backend::cuda ? 1 : 0;
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  try {
    if (dsl::device::current().kind == dsl::backend::cuda && count_gpus() < processes) {
      if (rank == 0) std::printf("skipped: fewer GPUs than processes\n");
      MPI_Finalize();
      return 77;
    }
    join();
    for (const std::int64_t n : {0, 1, 3, 16, 1001}) transfers(n);
    for (const std::int64_t n : {1, 2, 7, 130}) elementwise(n, 5);
    refusals();
    for (const std::int64_t n : {1, 2, 9, 64}) loops(n), steps_alone(n), until_small(n), along_rows(n);
    if (dsl::device::current().kind == dsl::backend::cuda) loops(20011), loops(3000000);  // held in registers, streamed
    for (const std::int64_t n : {2, 13, 64}) neighbours(n);
    shown();
    files();
    page();
    for (const std::int64_t n : {1, 2, 8, 37, 300}) reductions(n, 70);
  } catch (const std::exception& e) {
    std::printf("process %d: %s\n", rank, e.what());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  int sum = 0;
  MPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%s\n", sum == 0 ? "passed" : "failed");
  MPI_Finalize();
  return sum == 0 ? 0 : 1;
}
