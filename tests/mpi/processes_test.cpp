// A mesh of processes: mpirun -n N processes. Each case computes on the mesh and compares every
// element, in every process, with the same computation on the process's own device.
#include <dsl/by_key.hpp>
#include <dsl/cuda_array_interface.hpp>
#include <dsl/dlpack.hpp>
#include <dsl/dsl.hpp>
#include <dsl/mem/npz.hpp>
#include <dsl/mpi.hpp>
#include <dsl/scan.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gpus.hpp"

namespace {

int rank = 0, processes = 1, failures = 0;
dsl::device own = dsl::backend::host, all = dsl::backend::host;

template <class T>
void check(const char* what, const std::vector<T>& got, const std::vector<T>& wanted) {
  if (got == wanted) return;
  ++failures;
  std::size_t i = 0;
  while (i < got.size() && i < wanted.size() && got[i] == wanted[i]) ++i;
  std::printf("process %d: %s: %zu of %zu elements, the first difference at %zu: %g, not %g\n",
              rank, what, got.size(), wanted.size(), i,
              i < got.size() ? static_cast<double>(got[i]) : 0.,
              i < wanted.size() ? static_cast<double>(wanted[i]) : 0.);
}
void check(const char* what, bool holds) {
  if (!holds) std::printf("process %d: %s\n", rank, what), ++failures;
}

std::vector<double> numbers(std::int64_t n) {
  std::vector<double> v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i)
    v[i] = static_cast<double>((i * 37) % 101) - 50;  // their sums are exact
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

// Runs a case on the mesh and on the process's own device, and compares what it returns.
template <class Case>
void compare(const char* what, const Case& run) {
  const auto on = [&](dsl::device where) {
    const dsl::device_guard current(where);
    return run(where);
  };
  check(what, on(all), on(own));
}
// The same for values that are rounded in other places.
template <class Case>
void compare_nearly(const char* what, const Case& run) {
  const auto on = [&](dsl::device where) {
    const dsl::device_guard current(where);
    return run(where);
  };
  const std::vector<double> got = on(all), wanted = on(own);
  std::vector<double> near = wanted;
  for (std::size_t i = 0; i < near.size() && i < got.size(); ++i)
    if (std::abs(got[i] - wanted[i]) <= 1e-12 * std::max(1., std::abs(wanted[i]))) near[i] = got[i];
  check(what, got, near);
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
  check("local", own_rows,
        std::vector<double>(host.begin() + first, host.begin() + first + mine.size()));
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
  // Also refused for 0 elements.
  const char* const words = "of elements of several processes";
  const dsl::device_guard on(all);
  for (const std::int64_t n : {0, 16}) {
    auto x = vector_on(all, n);
    const dsl::array<std::int64_t> at = dsl::arange<std::int64_t>(n);
    dsl::array<double> kept;
    dsl::scalar<std::int64_t> count;
    refuse("sort", words, [&] { dsl::sort(x); });
    refuse("argsort", words, [&] { dsl::argsort(x); });
    refuse("searchsorted", words, [&] { kept = dsl::searchsorted(x, x); });
    refuse("take", words, [&] { kept = dsl::take(x, at); });
    refuse("scatter_add", words, [&] { dsl::scatter_add(x, at, 1.); });
    refuse("put", words, [&] { dsl::put(x, at, 1.); });
    refuse("a selection", words, [&] { dsl::tie(kept, count) = dsl::compress(x > 0, x); });
    refuse("a reduction by key", words, [&] { dsl::eval(dsl::bincount(at, n)); });
    check("what was refused has made nothing", !kept.has_memory());
  }
}

void reductions(std::int64_t n, std::int64_t columns) {
  const auto values = [](const auto&... each) {
    return std::vector<double>{static_cast<double>(each.value())...};
  };
  compare("reductions of everything", [&](dsl::device where) {
    const auto a = matrix_on(where, n, columns);
    const dsl::scalar<double> total = dsl::sum(a), mean = dsl::mean(a), most = dsl::max(a * 2.);
    const dsl::scalar<std::int64_t> at = dsl::argmax(a);
    return values(total, mean, most, at);
  });
  compare("reductions of several arrays at once", [&](dsl::device where) {
    const auto a = matrix_on(where, n, columns), longer = matrix_on(where, n + 1, columns);
    const dsl::array<double, 2> b = 3. - a;
    dsl::scalar<double> product(0., where), of_a(0., where), of_b(0., where), most(0., where);
    dsl::tie(product, of_a, of_b, most) =
        std::tuple{dsl::sum(a * b), dsl::sum(b), dsl::sum(a), dsl::max(longer)};
    return values(product, of_a, of_b, most);
  });
  compare("reductions beside rows of other alignments", [&](dsl::device where) {
    const auto a = matrix_on(where, n, columns);
    const auto row = vector_on(where, columns + 3);
    std::vector<double> got;
    for (const int first : {0, 1, 2, 3}) {
      const dsl::scalar<double> sum = dsl::sum(a * row(dsl::slice(first, first + columns)));
      got.push_back(sum.value());
    }
    return got;
  });
  compare("reductions along axes", [&](dsl::device where) {
    const auto a = matrix_on(where, n, columns);
    const dsl::array<double> down = dsl::sum(a, dsl::axis(0)), across = dsl::max(a, dsl::axis(1));
    const dsl::array<double, 2> centred = a - dsl::max(a, dsl::axis(0));
    auto got = down.copy_to_host();
    for (const auto& more : {across.copy_to_host(), centred.copy_to_host()})
      got.insert(got.end(), more.begin(), more.end());
    return got;
  });
}

// State, sums that are fed back, histories.
void loops(std::int64_t n, std::int64_t steps) {
  const auto step = dsl::vectorize([](auto x, auto mean, auto t) {
    auto moved = x * 0.5 + mean * 0.4 + t;
    return std::tuple{moved, dsl::mean(moved), t + 0.25};
  });
  // The means are added in another order.
  compare_nearly("iterate", [&](dsl::device where) {
    auto x = matrix_on(where, n, 4);
    dsl::scalar<double> mean(1., where), t(0., where);
    const auto [means, times] = dsl::iterate(steps, step, dsl::state(x, mean, t));
    auto got = x.copy_to_host();
    for (const auto& more : {means.copy_to_host(), times.copy_to_host()})
      got.insert(got.end(), more.begin(), more.end());
    got.push_back(mean.value());
    got.push_back(t.value());
    return got;
  });
}

// A loop whose step uses its own sum, and neighbours along both axes.
void phases(std::int64_t n) {
  const auto step = dsl::vectorize([](auto x, auto most) {
    auto moved = x + 0.25 * (dsl::shift(x, 1, dsl::boundary::wrap, 0) +
                             dsl::shift(x, -1, dsl::boundary::zero, 1) - 2 * x);
    auto length = dsl::norm(moved);
    return std::tuple{moved / (1 + 0.01 * length), dsl::max(abs(moved)) + 0 * most};
  });
  compare_nearly("iterate in phases", [&](dsl::device where) {
    auto x = matrix_on(where, n, 5);
    dsl::scalar<double> most(0., where);
    const auto history = dsl::iterate(6, step, dsl::state(x, most));
    auto got = x.copy_to_host();
    const auto more = history.copy_to_host();
    got.insert(got.end(), more.begin(), more.end());
    return got;
  });
}

// A loop whose elements are independent.
void steps_alone(std::int64_t n) {
  const auto step = dsl::vectorize([](auto x, auto y, auto h) { return x + h * y; });
  compare("iterate without sums", [&](dsl::device where) {
    auto x = matrix_on(where, n, 4);
    const auto y = matrix_on(where, n, 4);
    dsl::iterate(7, step, dsl::state(x), y, 2.);
    return x.copy_to_host();
  });
}

// A loop that ends by a condition on sums.
void until_small(std::int64_t n, double factor) {
  const auto step = dsl::vectorize([](auto x, auto, auto factor) {
    auto less = x * factor;
    return std::tuple{less, dsl::max(less)};
  });
  compare("iterate until", [&](dsl::device where) {
    auto x = matrix_on(where, n, 4);
    dsl::scalar<double> most(1., where);
    dsl::scalar<std::int64_t> ran(0, where);
    const dsl::array<double> history =
        dsl::iterate(1500, step, dsl::state(x, most), factor, dsl::until(most < 0.01, ran));
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

// Shifts along the distributed axis, near and far, with each boundary; one step of a loop after
// another.
void neighbours(std::int64_t n) {
  for (const dsl::boundary beyond :
       {dsl::boundary::zero, dsl::boundary::wrap, dsl::boundary::clamp, dsl::boundary::reflect})
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
      return x + dsl::shift(x, 1, dsl::boundary::wrap, 0) +
             dsl::shift(x, -1, dsl::boundary::wrap, 0) -
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

// File names contain the writer's name, because tests run concurrently.
std::string file_name(const std::string& what) {
  return "processes_test_" + std::string(own.name()).substr(0, 4) + std::to_string(processes) +
         "_" + what;
}
std::string bytes_of_file(const std::string& name) {
  std::ifstream in(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A file that the processes write together has the same bytes as one that a single process writes.
template <class Make>
void same_file(const char* what, const Make& make) {
  const std::string together = file_name("all.npy"),
                    alone = file_name("own" + std::to_string(rank) + ".npy");
  const auto save = [&](dsl::device where, const std::string& name) {
    const dsl::device_guard current(where);
    make(where, [&name](const auto& x) { dsl::save_npy(name, x); });
  };
  save(all, together);
  save(own, alone);
  check(what, bytes_of_file(together) == bytes_of_file(alone));
  MPI_Barrier(MPI_COMM_WORLD);
  std::remove(alone.c_str());
  if (rank == 0) std::remove(together.c_str());
  MPI_Barrier(MPI_COMM_WORLD);
}

void saved(std::int64_t n) {
  same_file("a matrix", [n](auto where, auto save) { save(matrix_on(where, n, 3)); });
  same_file("some of its rows", [n](auto where, auto save) {
    save(matrix_on(where, n, 3)(dsl::slice(1, dsl::end, 2)));
  });
  same_file("rows backwards", [n](auto where, auto save) {
    save(matrix_on(where, n, 3)(dsl::slice(dsl::end, dsl::end, -1)));
  });
  same_file("a transpose",
            [n](auto where, auto save) { save(dsl::transpose(matrix_on(where, n, 3))); });
  same_file("another shape",
            [n](auto where, auto save) { save(dsl::reshape(matrix_on(where, n, 6), 3, 2 * n)); });
  same_file("a scalar", [](auto where, auto save) { save(dsl::scalar<double>(3., where)); });
}

// A file in Fortran order, of doubles in the other byte order.
void write_fortran(const std::string& name, std::int64_t rows, std::int64_t columns) {
  std::string header = "{'descr': '>f8', 'fortran_order': True, 'shape': (" + std::to_string(rows) +
                       ", " + std::to_string(columns) + "), }";
  header.append((64 - (11 + header.size()) % 64) % 64, ' ') += '\n';
  std::ofstream out(name, std::ios::binary);
  out << "\x93NUMPY" << '\1' << '\0' << static_cast<char>(header.size()) << '\0' << header;
  const auto values = numbers(rows * columns);
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t r = 0; r < rows; ++r) {
      std::array<char, sizeof(double)> bytes{};
      std::memcpy(bytes.data(), &values[static_cast<std::size_t>(r * columns + c)], bytes.size());
      std::reverse(bytes.begin(), bytes.end());
      out.write(bytes.data(), bytes.size());
    }
}

void loaded(std::int64_t n) {
  refuse("a file that cannot be written", "no_such_folder",
         [n] { dsl::save_npy("no_such_folder/file.npy", vector_on(all, n)); });
  const dsl::device_guard current(all);
  const std::string name = file_name("read.npy"), archive = file_name("read.npz");
  const auto require = [n](const char* what, const dsl::array<double, 2>& read) {
    check("a file's array is divided",
          dsl::local(read).extent(0) <= (n + processes - 1) / processes);
    check(what, read.copy_to_host(), numbers(n * 3));
  };
  dsl::save_npy(name, matrix_on(all, n, 3));
  require("load_npy", dsl::load_npy<double, 2>(name));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) write_fortran(name, n, 3);
  MPI_Barrier(MPI_COMM_WORLD);
  require("load_npy of Fortran order", dsl::load_npy<double, 2>(name));
  refuse("a file that one process does not find", "cannot be read", [&] {
    if (rank == processes - 1) dsl::load_npy<double, 2>(file_name("missing.npy"));
    else dsl::load_npy<double, 2>(name);
  });
  try {
    dsl::save_npz(archive, {{"m", matrix_on(all, n, 3)}, {"s", dsl::scalar<double>(2., all)}});
    const dsl::npz_file read(archive);
    require("load of an archive", read.load<double, 2>("m"));
    check("a scalar of an archive", read.load<double, 0>("s").value() == 2.);
  } catch (const dsl::file_error& e) {
    check(e.what(), std::string(e.what()).find("without libzip") != std::string::npos);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::remove(name.c_str()), std::remove(archive.c_str());
}

void checkpoints(std::int64_t n) {
  const dsl::device_guard current(all);
  const std::string folder = file_name("checkpoint");
  for (const std::int64_t step : {3, 7}) {  // the second replaces the first
    auto x = matrix_on(all, n, 3);
    dsl::array<double, 2> y = x * static_cast<double>(step);
    const dsl::scalar<double> t(0.25, all);
    dsl::save_checkpoint(folder, step, x, y, t);
    dsl::array<double, 2> read_x, read_y = matrix_on(all, 2 * n + 1, 4);
    dsl::scalar<double> read_t;
    const auto inner = read_y(dsl::slice(1, dsl::end, 2),
                              dsl::slice(1, dsl::end));  // rows in other processes than the file's
    check("a checkpoint's steps", dsl::load_checkpoint(folder, read_x, inner, read_t) == step);
    check("a checkpoint's array", read_x.copy_to_host(), x.copy_to_host());
    check("a checkpoint's view", inner.copy_to_host(), y.copy_to_host());
    check("a checkpoint's scalar", read_t.value() == 0.25);
    refuse("a checkpoint of other variables", "holds 3 variables",
           [&] { dsl::load_checkpoint(folder, read_x); });
  }
  refuse("a checkpoint of a mesh and of one's own", "beside others",
         [&] { dsl::save_checkpoint(folder, 1, matrix_on(all, n, 3), matrix_on(own, n, 3)); });
  refuse("a checkpoint where there is a file", "is no folder", [&] {
    const std::string file = file_name("no_folder");
    if (rank == 0) std::ofstream(file) << "x";
    MPI_Barrier(MPI_COMM_WORLD);
    dsl::save_checkpoint(file, 1, matrix_on(all, n, 3));
  });
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) std::remove(file_name("no_folder").c_str()), std::filesystem::remove_all(folder);
  MPI_Barrier(MPI_COMM_WORLD);
}

// Requests for an address of elements that no single process owns.
void addresses() {
  auto x = vector_on(all, 16);
  const auto words = "dsl::local shows the rows of this one";
  refuse("an array's address", words, [&] { (void)x.data(); });
  refuse("a view's address", words, [&] { (void)x(dsl::slice(2, 5)).data(); });
  refuse("DLPack", words, [&] { dsl::to_dlpack(x); });
  refuse("CUDA's array interface", words, [&] { dsl::to_cuda_array_interface(x); });
  check("the own rows' address", dsl::local(x).data() != nullptr);
  const int n = 3;
  int here[n] = {};
  refuse("memory of one process as a mesh's", "cannot be used on",
         [&] { (void)dsl::view(here, n, all); });
}

void page() {
#include <docs/processes/several-processes.inc>
  check("the page's sum", total.value() == 5. * 1000 * 500);
  check("the page's rows",
        rows.copy_to_host() == std::vector<double>(static_cast<std::size_t>(rows.size()), 5.));
}

void join() {
  all = dsl::mesh(MPI_COMM_WORLD);
  own = dsl::local(dsl::array<double>(dsl::extents<1>{1}, all)).where();
  const dsl::device current = dsl::device::current();
  check("its own device",
        own.kind == current.kind &&
            own.index == (current.kind == dsl::backend::cuda ? rank % count_gpus() : 0));
  check("its name", std::string(all.name()).find(" processes of ") != std::string::npos);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  try {
    if (lacks_gpus(rank, processes)) {
      MPI_Finalize();
      return 77;
    }
    join();
    for (const std::int64_t n : {0, 1, 3, 16, 1001}) transfers(n);
    for (const std::int64_t n : {1, 2, 7, 130}) elementwise(n, 5);
    refusals();
    for (const std::int64_t n : {1, 2, 9, 64})
      loops(n, 5), phases(n), steps_alone(n), until_small(n, 0.5), along_rows(n);
    loops(9, 1300), until_small(9, 0.99);  // a graph, where one kernel is not possible
    if (dsl::device::current().kind == dsl::backend::cuda)
      loops(20011, 5), loops(3000000, 5);  // held in registers, and streamed
    for (const std::int64_t n : {2, 13, 64}) neighbours(n);
    shown();
    addresses();
    for (const std::int64_t n : {0, 2, 77}) saved(n), loaded(n), checkpoints(n);
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
