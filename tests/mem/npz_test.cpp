// .npz files: those that NumPy wrote (tests/data/npz.py) are read, and what is written is read again.
#include "../error_of.hpp"
#include "../on_device.hpp"
#include "../scratch_folder.hpp"

#include <dsl/mem/npz.hpp>

#include <algorithm>
#include <complex>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

namespace fs = std::filesystem;

fs::path data(const std::string& name) { return fs::path(__FILE__).parent_path() / "../data/npz" / (name + ".npz"); }
std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
std::vector<std::string> names_in(const dsl::npz_file& file) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < file.size(); ++i) names.push_back(file.name(i));
  return names;
}

struct npz : on_device, scratch_folder {
  npz() { fs::create_directories(folder); }
};
ON_EVERY_DEVICE(npz);

TEST_P(npz, of_numpy) {
  for (const char* const name : {"stored", "deflated"}) {
    const dsl::npz_file file(data(name));
    std::vector<std::string> names{"x", "columns", "z", "one", "mask", "größe"};
    if (name == std::string("deflated")) names.push_back("long");
    EXPECT_EQ(names_in(file), names);
    const auto x = file.load<float, 2>("x");
    EXPECT_EQ(x.where(), dsl::device::current());
    EXPECT_EQ(x.extents(), (dsl::extents<2>{2, 3}));
    EXPECT_EQ(x.copy_to_host(), (std::vector<float>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ((file.load<double, 2>("columns").copy_to_host()), (std::vector<double>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(file.load<std::complex<double>>("z")(4).value(), std::complex<double>(4, -8));
    EXPECT_EQ((file.load<int, 0>("one").value()), 7);
    EXPECT_EQ(file.load<bool>("mask").copy_to_host(), (std::vector<bool>{0, 1, 0, 1, 0, 1, 0, 1, 0, 1}));
    EXPECT_EQ(file.load<std::int16_t>("größe").copy_to_host(), (std::vector<std::int16_t>{0, 1, 2}));
  }
  const auto counted = dsl::npz_file(data("deflated")).load<std::int64_t>("long").copy_to_host();
  ASSERT_EQ(counted.size(), 5000u);
  for (std::size_t i = 0; i < counted.size(); ++i) ASSERT_EQ(counted[i], static_cast<std::int64_t>(i % 100));
}

TEST_P(npz, written_and_read) {
  const fs::path file = folder / "fields.npz", small = folder / "small.npz";
  const dsl::array<float, 2> x = dsl::reshape(dsl::arange<float>(60'000), 200, 300);
  const dsl::scalar<std::int64_t> steps = std::int64_t{12};
  const dsl::array<bool> none(0);
  dsl::save_npz(file, {{"x", x}, {"turned", dsl::transpose(x)}, {"steps", steps}, {"none", none}});
  dsl::save_npz_compressed(small, {{"x", x}, {"turned", dsl::transpose(x)}, {"steps", steps}, {"none", none}});
  EXPECT_LT(fs::file_size(small), fs::file_size(file) / 2);
  for (const fs::path& each : {file, small}) {
    const dsl::npz_file read(each);
    EXPECT_EQ(names_in(read), (std::vector<std::string>{"x", "turned", "steps", "none"}));
    EXPECT_TRUE(read.contains("x"));
    EXPECT_FALSE(read.contains("x.npy"));
    EXPECT_EQ((read.load<float, 2>("x").copy_to_host()), x.copy_to_host());
    EXPECT_EQ((read.load<float, 2>("turned").copy_to_host()), dsl::transpose(x).copy_to_host());
    EXPECT_EQ((read.load<std::int64_t, 0>("steps").value()), 12);
    EXPECT_EQ(read.load<bool>("none").size(), 0);
  }
  // The same arrays are the same file, which replaces what was there.
  const std::string before = contents(file);
  dsl::save_npz(file, {{"x", x}});
  EXPECT_EQ(names_in(dsl::npz_file(file)), std::vector<std::string>{"x"});
  dsl::save_npz(file, {{"x", x}, {"turned", dsl::transpose(x)}, {"steps", steps}, {"none", none}});
  EXPECT_EQ(contents(file), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 2);
}

TEST_P(npz, what_is_wrong) {
  const auto load = [](const char* name) { (void)dsl::npz_file(data(name)).load<float, 2>("x"); };
  EXPECT_NE(error_of([&] { load("missing"); }).find("missing.npz: cannot be read"), std::string::npos);
  EXPECT_NE(error_of([&] { load("cut_off"); }).find("cut_off.npz: is no .npz file"), std::string::npos);
  EXPECT_NE(error_of([&] { load("damaged"); }).find("damaged.npz: x.npy: cannot be read to its end"), std::string::npos);
  EXPECT_NE(error_of([&] { load("other"); }).find("other.npz: x.npy: is no .npy file"), std::string::npos);
  const dsl::npz_file file(data("stored"));
  EXPECT_NE(error_of([&] {
              (void)file.load<float>("y");
            }).find("stored.npz: holds no array \"y\"; there are \"x\", \"columns\", \"z\""),
            std::string::npos);
  EXPECT_NE(error_of([&] { (void)file.load<double, 2>("x"); }).find("stored.npz: x.npy: holds float32 (2, 3)"),
            std::string::npos);
  EXPECT_THROW((void)file.name(6), dsl::index_error);
  EXPECT_THROW((void)file.name(-1), dsl::index_error);
  const dsl::array<float> x(3), none;
  const fs::path to = folder / "new.npz";
  EXPECT_THROW(dsl::save_npz(to, {{"x", x}, {"x", x}}), dsl::file_error);
  EXPECT_THROW(dsl::save_npz(to, {{"", x}}), dsl::file_error);
  EXPECT_THROW(dsl::save_npz(to, {}), dsl::file_error);
  EXPECT_THROW(dsl::save_npz(to, {{"x", none}}), dsl::memory_error);
  EXPECT_THROW(dsl::save_npz(folder / "no folder" / "x.npz", {{"x", x}}), dsl::file_error);
  EXPECT_THROW(dsl::save_npz(folder, {{"x", x}}), dsl::file_error);
  EXPECT_TRUE(fs::is_empty(folder));
}

}  // namespace
