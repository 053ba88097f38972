// .npy files: files that NumPy wrote (tests/data/npy.py) are read, and written again to the same
// bytes.
#include "../error_of.hpp"
#include "../full_disk.hpp"
#include "../on_device.hpp"
#include "../scratch_folder.hpp"

#include <dsl/mem/npy.hpp>

#include <complex>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

namespace fs = std::filesystem;

fs::path data(const std::string& name) {
  return fs::path(__FILE__).parent_path() / "../data/npy" / (name + ".npy");
}
std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

struct npy : on_device, scratch_folder {
  npy() { fs::create_directories(folder); }
};
ON_EVERY_DEVICE(npy);

template <class T>
T element_at(std::size_t k) {
  if constexpr (std::is_same_v<T, bool>) return k % 2 == 1;
  else if constexpr (requires(T x) { x.imag(); })
    return T(1, -2) * static_cast<typename T::value_type>(k);
  else return static_cast<T>(static_cast<float>(k));
}

template <class T, int Rank>
void expect_elements(const std::string& name, const std::array<std::int64_t, Rank>& shape) {
  const auto a = dsl::load_npy<T, Rank>(data(name));
  EXPECT_EQ(a.extents(), shape) << name;
  const auto got = a.copy_to_host();
  ASSERT_EQ(got.size(), static_cast<std::size_t>(a.size()));
  for (std::size_t k = 0; k < got.size(); ++k)
    EXPECT_TRUE(got[k] == element_at<T>(k)) << name << " " << k;
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
  EXPECT_EQ((dsl::load_npy<float>(folder / "column.npy").copy_to_host()),
            (std::vector<float>{1, 4}));
}

void expect_error(const std::string& name, const std::string& wanted) {
  EXPECT_EQ(error_of([&] { dsl::load_npy<double, 2>(data(name)); }),
            data(name).string() + ": " + wanted);
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
  expect_error("version_9", "is of version 9.0 of the format; 1.0, 2.0 and 3.0 are known");
  expect_error("long_double", "holds elements of dtype '<f16', which there is none for");
  for (const char* name : {"without_shape", "negative_extent", "structured"})
    EXPECT_NE(error_of([&] {
                dsl::load_npy<double, 2>(data(name));
              }).find("has a header that is not understood: {'descr'"),
              std::string::npos)
        << name;
  EXPECT_NE(error_of([&] { dsl::load_npy<double, 2>(data("huge")); }).find("4294967296"),
            std::string::npos);
  EXPECT_EQ(error_of([&] { dsl::load_npy<double, 2>(folder); }),
            folder.string() + ": cannot be read: Is a directory");
}

// Writes a file of one row of bytes under a given header.
void write_file(const fs::path& file, const std::string& header, const std::string& elements) {
  const std::string text = header + '\n';
  std::ofstream out(file, std::ios::binary);
  out << std::string("\x93NUMPY\x01\x00", 8) << static_cast<char>(text.size() & 0xff)
      << static_cast<char>(text.size() >> 8) << text << elements;
}

TEST_P(npy, a_bool_is_0_or_1_whatever_the_byte) {
  write_file(folder / "b.npy", "{'descr': '|b1', 'fortran_order': False, 'shape': (5,), }",
             std::string("\0\1\2\x80\xff", 5));
  const auto a = dsl::load_npy<bool>(folder / "b.npy");
  EXPECT_EQ(a.copy_to_host(), (std::vector<bool>{false, true, true, true, true}));
  EXPECT_EQ(dsl::count_nonzero(a).value(), 4);
  dsl::array<bool> n = !a;
  EXPECT_EQ(n.copy_to_host(), (std::vector<bool>{true, false, false, false, false}));
  write_file(folder / "b.npy", "{'descr': '|b1', 'fortran_order': True, 'shape': (2, 2), }",
             "\2\3\4\5");
  EXPECT_EQ(dsl::eval(dsl::sum<std::int64_t>(dsl::load_npy<bool, 2>(folder / "b.npy"))).value(), 4);
  write_file(folder / "b.npy", "{'descr': '|b1', 'fortran_order': False, 'shape': (), }", "\x40");
  EXPECT_EQ(dsl::eval(dsl::cast<int>(dsl::load_npy<bool, 0>(folder / "b.npy"))).value(), 1);
}

TEST_P(npy, headers_are_one_dictionary_with_each_key_once) {
  const auto outcome = [&](const std::string& header) {
    write_file(folder / "a.npy", header, "abcd");
    const std::string error =
        error_of([&] { EXPECT_EQ(dsl::load_npy<std::uint8_t>(folder / "a.npy").size(), 4); });
    return error.find("has a header that is not understood") != std::string::npos ? "not understood"
                                                                                  : error;
  };
  const std::string descr = "'descr': '|u1', ", order = "'fortran_order': False, ",
                    shape = "'shape': (4,), ";
  for (const std::string& good :
       {'{' + descr + order + shape + '}', '{' + shape + descr + order + "}   ",
        std::string("{\"shape\":(4L,),'descr':\"|u1\",'fortran_order':  False}\t\n")})
    EXPECT_EQ(outcome(good), "no error") << good;
  const std::string all = descr + order + shape;
  for (const std::string& bad :
       {'{' + descr + order + "'shape': (4)}", '{' + descr + order + "'shape': (04,)}",
        '{' + descr + order + "'shape': (L,)}", '{' + all + descr + '}', '{' + all + shape + '}',
        '{' + descr + descr + order + '}', '{' + all + "'more': 1}", '{' + all + "} and more",
        '{' + all + "}}", '{' + all + '}' + std::string(1, '\0'), '{' + all, '{' + all + ",}",
        std::string(1, '\0') + '{' + all + '}', '(' + all + ')', std::string("{}"), std::string()})
    EXPECT_EQ(outcome(bad), "not understood") << bad;
}

TEST_P(npy, keeps_permissions_and_links) {
  const auto a = dsl::ones<double>(3);
  const fs::path real = folder / "real.npy", link = folder / "link.npy";
  dsl::save_npy(real, a);
  fs::permissions(real, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("real.npy", link);
  dsl::save_npy(link, dsl::zeros<double>(4));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(dsl::load_npy<double>(real).size(), 4);
  EXPECT_EQ(fs::status(real).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("not_yet.npy", folder / "dangling.npy");
  dsl::save_npy(folder / "dangling.npy", a);
  EXPECT_EQ(dsl::load_npy<double>(folder / "not_yet.npy").size(), 3);
  fs::create_symlink("circle.npy", folder / "circle.npy");
  EXPECT_NE(error_of([&] { dsl::save_npy(folder / "circle.npy", a); }), "no error");
  EXPECT_EQ(files_in(folder), 5u);
}

TEST_P(npy, a_name_that_is_none) {
  EXPECT_NE(error_of([] { dsl::load_npy<float>(nullptr); }), "no error");
  EXPECT_NE(error_of([] { dsl::save_npy(nullptr, dsl::ones<float>(1)); }), "no error");
  EXPECT_NE(error_of([] { dsl::load_npy<float>(""); }), "no error");
  EXPECT_NE(error_of([] { dsl::save_npy("", dsl::ones<float>(1)); }), "no error");
}

TEST_P(npy, writes_all_of_a_file_or_nothing) {
  const auto a = dsl::zeros<double>(100);
  EXPECT_EQ(
      error_of([&] { dsl::save_npy(folder / "none" / "a.npy", a); }),
      (folder / "none" / "a.npy").string() + ": cannot be written: No such file or directory");
  EXPECT_EQ(error_of([&] { dsl::save_npy(folder, a); }),
            folder.string() + ": is no regular file, and is not replaced by one");
  EXPECT_THROW(dsl::save_npy(folder / "a.npy", dsl::array<float>()), dsl::memory_error);
  EXPECT_EQ(files_in(folder), 0u);

  dsl::save_npy(folder / "a.npy", dsl::ones<double>(10));
  const std::string before = contents(folder / "a.npy");
  EXPECT_EQ(error_with_full_disk(300, [&] { dsl::save_npy(folder / "a.npy", a); }),
            (folder / "a.npy").string() + ": cannot be written: File too large");
  EXPECT_EQ(contents(folder / "a.npy"), before);
  EXPECT_EQ(files_in(folder), 1u);
  dsl::save_npy(folder / "a.npy", a);  // replaces the smaller one
  EXPECT_EQ((dsl::load_npy<double>(folder / "a.npy").size()), 100);
}

}  // namespace
