// .npy files: those that NumPy wrote (tests/data/npy.py) are read, and written again to the byte.
#include "../error_of.hpp"
#include "../on_device.hpp"

#include <dsl/mem/npy.hpp>

#include <sys/resource.h>
#include <unistd.h>

#include <complex>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

namespace fs = std::filesystem;

fs::path data(const std::string& name) { return fs::path(__FILE__).parent_path() / "../data/npy" / (name + ".npy"); }
std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
std::size_t files_in(const fs::path& folder) { return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {})); }

struct npy : on_device {
  void SetUp() override {
    on_device::SetUp();
    folder = fs::temp_directory_path() / ("dsl_npy_" + std::to_string(getpid()));
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }
  fs::path folder;
};
ON_EVERY_DEVICE(npy);

template <class T>
T element_at(std::size_t k) {
  if constexpr (std::is_same_v<T, bool>) return k % 2 == 1;
  else if constexpr (requires(T x) { x.imag(); }) return T(1, -2) * static_cast<typename T::value_type>(k);
  else return static_cast<T>(static_cast<float>(k));
}

template <class T, int Rank>
void expect_elements(const std::string& name, const std::array<std::int64_t, Rank>& shape) {
  const auto a = dsl::load_npy<T, Rank>(data(name));
  EXPECT_EQ(a.extents(), shape) << name;
  const auto got = a.copy_to_host();
  ASSERT_EQ(got.size(), static_cast<std::size_t>(a.size()));
  for (std::size_t k = 0; k < got.size(); ++k) EXPECT_TRUE(got[k] == element_at<T>(k)) << name << " " << k;
}

template <class T>
void expect_both_ways(const fs::path& folder, const std::string& name) {
  expect_elements<T, 2>(name, {2, 3});
  dsl::save_npy(folder / "written.npy", dsl::load_npy<T, 2>(data(name)));
  EXPECT_EQ(contents(folder / "written.npy"), contents(data(name))) << name;
}

TEST_P(npy, every_dtype) {
  expect_both_ways<bool>(folder, "bool");
  expect_both_ways<std::int8_t>(folder, "int8");
  expect_both_ways<std::int16_t>(folder, "int16");
  expect_both_ways<std::int32_t>(folder, "int32");
  expect_both_ways<std::int64_t>(folder, "int64");
  expect_both_ways<std::uint8_t>(folder, "uint8");
  expect_both_ways<std::uint16_t>(folder, "uint16");
  expect_both_ways<std::uint32_t>(folder, "uint32");
  expect_both_ways<std::uint64_t>(folder, "uint64");
  expect_both_ways<dsl::half>(folder, "float16");
  expect_both_ways<float>(folder, "float32");
  expect_both_ways<double>(folder, "float64");
  expect_both_ways<std::complex<float>>(folder, "complex64");
  expect_both_ways<std::complex<double>>(folder, "complex128");
}

template <int Rank>
void expect_rank(const fs::path& folder) {
  const std::string name = "rank_" + std::to_string(Rank);
  const auto a = dsl::load_npy<std::int32_t, Rank>(data(name));
  dsl::save_npy((folder / "written.npy").c_str(), a);
  EXPECT_EQ(contents(folder / "written.npy"), contents(data(name))) << name;
}
TEST_P(npy, every_rank) {
  expect_rank<0>(folder);
  EXPECT_EQ((dsl::load_npy<std::int32_t, 0>(data("rank_0")).value()), 0);
  expect_rank<1>(folder);
  expect_rank<2>(folder);
  expect_rank<3>(folder);
  expect_rank<4>(folder);
  expect_rank<5>(folder);
  expect_rank<6>(folder);
  expect_rank<7>(folder);
  expect_rank<8>(folder);
  expect_elements<std::int32_t, 8>("rank_8", {2, 3, 1, 2, 1, 2, 1, 2});
}

TEST_P(npy, orders_versions_and_byte_orders) {
  expect_elements<float, 2>("empty", {0, 3});
  expect_elements<std::int16_t, 3>("fortran", {2, 3, 4});
  expect_elements<std::complex<double>, 2>("fortran_complex128", {2, 3});
  expect_elements<double, 2>("big_endian_float64", {2, 3});
  expect_elements<std::complex<float>, 2>("big_endian_complex64", {2, 3});
  expect_elements<float, 2>("version_2", {2, 3});
  expect_elements<float, 2>("version_3", {2, 3});
}

TEST_P(npy, views_are_written_in_their_own_order) {
  const auto a = dsl::load_npy<float, 2>(data("float32"));
  dsl::save_npy(folder / "transposed.npy", dsl::transpose(a));
  const auto back = dsl::load_npy<float, 2>(folder / "transposed.npy");
  EXPECT_EQ(back.extents(), (dsl::extents<2>{3, 2}));
  EXPECT_EQ(back.copy_to_host(), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  dsl::save_npy(folder / "column.npy", a(dsl::slice(), 1));
  EXPECT_EQ((dsl::load_npy<float>(folder / "column.npy").copy_to_host()), (std::vector<float>{1, 4}));
}

void expect_error(const std::string& name, const std::string& wanted) {
  EXPECT_EQ(error_of([&] { dsl::load_npy<double, 2>(data(name)); }), data(name).string() + ": " + wanted);
}

TEST_P(npy, says_what_is_wrong_with_a_file) {
  expect_error("float32", "holds float32 (2, 3); asked for: float64 of rank 2");
  expect_error("rank_1", "holds int32 (2); asked for: float64 of rank 2");
  expect_error("rank_9", "holds an array of rank 9; the highest is 8");
  expect_error("there_is_none", "cannot be read: No such file or directory");
  expect_error("cut_off", "is cut off: 47 of 48 bytes of float64 (2, 3) are there");
  expect_error("cut_off_header", "is cut off in its header");
  expect_error("cut_off_start", "is cut off in its header");
  expect_error("not_npy", "is no .npy file");
  expect_error("version_9", "is of version 9 of the format; 1, 2 and 3 are known");
  expect_error("long_double", "holds elements of dtype '<f16', which there is none for");
  for (const char* name : {"without_shape", "negative_extent", "structured"})
    EXPECT_NE(error_of([&] { dsl::load_npy<double, 2>(data(name)); }).find("has a header that is not understood: {'descr'"), std::string::npos) << name;
  EXPECT_NE(error_of([&] { dsl::load_npy<double, 2>(data("huge")); }).find("4294967296"), std::string::npos);
  EXPECT_EQ(error_of([&] { dsl::load_npy<double, 2>(folder); }), folder.string() + ": cannot be read: Is a directory");
}

TEST_P(npy, writes_all_of_a_file_or_nothing) {
  const auto a = dsl::zeros<double>(100);
  EXPECT_EQ(error_of([&] { dsl::save_npy(folder / "none" / "a.npy", a); }), (folder / "none" / "a.npy").string() + ": cannot be written: No such file or directory");
  EXPECT_EQ(error_of([&] { dsl::save_npy(folder, a); }), folder.string() + ": is no regular file, and is not replaced by one");
  EXPECT_THROW(dsl::save_npy(folder / "a.npy", dsl::array<float>()), dsl::memory_error);
  EXPECT_EQ(files_in(folder), 0u);

  dsl::save_npy(folder / "a.npy", dsl::ones<double>(10));
  const std::string before = contents(folder / "a.npy");
  // A disk that is full after 300 bytes.
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit small{300, limit.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string error = error_of([&] { dsl::save_npy(folder / "a.npy", a); });
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(error, (folder / "a.npy").string() + ": cannot be written: File too large");
  EXPECT_EQ(contents(folder / "a.npy"), before);
  EXPECT_EQ(files_in(folder), 1u);
  dsl::save_npy(folder / "a.npy", a);  // replaces the smaller one
  EXPECT_EQ((dsl::load_npy<double>(folder / "a.npy").size()), 100);
}

}  // namespace
