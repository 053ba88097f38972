// .npz files: files that NumPy wrote (tests/data/npz.py) are read, and written files are read
// again.
#include "../error_of.hpp"
#include "../full_disk.hpp"
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

fs::path data(const std::string& name) {
  return fs::path(__FILE__).parent_path() / "../data/npz" / (name + ".npz");
}
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
    EXPECT_EQ((file.load<double, 2>("columns").copy_to_host()),
              (std::vector<double>{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(file.load<std::complex<double>>("z")(4).value(), std::complex<double>(4, -8));
    EXPECT_EQ((file.load<int, 0>("one").value()), 7);
    EXPECT_EQ(file.load<bool>("mask").copy_to_host(),
              (std::vector<bool>{0, 1, 0, 1, 0, 1, 0, 1, 0, 1}));
    EXPECT_EQ(file.load<std::int16_t>("größe").copy_to_host(),
              (std::vector<std::int16_t>{0, 1, 2}));
  }
  const auto counted = dsl::npz_file(data("deflated")).load<std::int64_t>("long").copy_to_host();
  ASSERT_EQ(counted.size(), 5000u);
  for (std::size_t i = 0; i < counted.size(); ++i)
    ASSERT_EQ(counted[i], static_cast<std::int64_t>(i % 100));
}

TEST_P(npz, written_and_read) {
  const fs::path file = folder / "fields.npz", small = folder / "small.npz";
  const dsl::array<float, 2> x = dsl::reshape(dsl::arange<float>(60'000), 200, 300);
  const dsl::scalar<std::int64_t> steps = std::int64_t{12};
  const dsl::array<bool> none(0);
  dsl::save_npz(file, {{"x", x}, {"turned", dsl::transpose(x)}, {"steps", steps}, {"none", none}});
  dsl::save_npz_compressed(
      small, {{"x", x}, {"turned", dsl::transpose(x)}, {"steps", steps}, {"none", none}});
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
  // The same arrays give the same file, which replaces the previous one.
  const std::string before = contents(file);
  dsl::save_npz(file, {{"x", x}});
  EXPECT_EQ(names_in(dsl::npz_file(file)), std::vector<std::string>{"x"});
  dsl::save_npz(file, {{"x", x}, {"turned", dsl::transpose(x)}, {"steps", steps}, {"none", none}});
  EXPECT_EQ(contents(file), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 2);
}

TEST_P(npz, what_is_wrong) {
  const auto load = [](const char* name) { (void)dsl::npz_file(data(name)).load<float, 2>("x"); };
  EXPECT_NE(error_of([&] { load("missing"); }).find("missing.npz: cannot be read"),
            std::string::npos);
  EXPECT_NE(error_of([&] { load("cut_off"); }).find("cut_off.npz: is no .npz file"),
            std::string::npos);
  EXPECT_NE(
      error_of([&] { load("damaged"); }).find("damaged.npz: x.npy: cannot be read: CRC error"),
      std::string::npos);
  EXPECT_NE(
      error_of([&] { load("empty"); }).find("empty.npz: holds no array \"x\"; there are none"),
      std::string::npos);
  EXPECT_NE(error_of([&] { load("other"); }).find("other.npz: x.npy: is no .npy file"),
            std::string::npos);
  const dsl::npz_file file(data("stored"));
  EXPECT_NE(error_of([&] {
              (void)file.load<float>("y");
            }).find("stored.npz: holds no array \"y\"; there are \"x\", \"columns\", \"z\""),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              (void)file.load<double, 2>("x");
            }).find("stored.npz: x.npy: holds float32 (2, 3)"),
            std::string::npos);
  EXPECT_THROW((void)file.name(6), dsl::index_error);
  EXPECT_THROW((void)file.name(-1), dsl::index_error);
  EXPECT_FALSE(file.contains(nullptr));
  EXPECT_THROW((void)file.load<float>(nullptr), dsl::file_error);
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

TEST_P(npz, unusual_archives_are_read_as_numpy_reads_them) {
  const dsl::npz_file file(data("unusual"));
  EXPECT_EQ(names_in(file),
            (std::vector<std::string>{"stored", "deflated", "bare", "twice", "twice", "both",
                                      "both", "a/b", "readme.txt", "folder/", "long"}));
  for (const auto& [name, size] : std::initializer_list<std::pair<const char*, int>>{
           {"stored", 3}, {"deflated", 3}, {"bare", 4}, {"twice", 6}, {"both", 7}, {"a/b", 8}}) {
    std::vector<double> wanted;
    for (int i = 0; i < size; ++i) wanted.push_back(i);
    EXPECT_EQ(file.load<double>(name).copy_to_host(), wanted) << name;
  }
  const auto wrong = [&](const char* name) {
    EXPECT_TRUE(file.contains(name)) << name;
    return error_of([&] { (void)file.load<double>(name); });
  };
  const std::string path = data("unusual").string() + ": ";
  EXPECT_EQ(wrong("readme.txt"), path + "readme.txt: is no .npy file");
  EXPECT_EQ(wrong("folder/"), path + "folder/: is no .npy file");
  EXPECT_EQ(wrong("long"),
            path + "long.npy: is cut off: 72 of 792 bytes of float64 (99) are there");
}

// The record of x in the directory at an archive's end, with one field replaced by another number.
std::string with_field(const std::string& archive, std::size_t place, std::size_t bytes,
                       std::uint64_t value) {
  std::string changed = archive;
  for (std::size_t k = 0; k < bytes; ++k)
    changed[archive.find("PK\1\2") + place + k] =
        static_cast<char>(value >> 8 * k);  // little endian
  return changed;
}

TEST_P(npz, a_directory_that_lies) {
  constexpr std::size_t flags = 8, method = 10, checksum = 16, packed = 20, size = 24, name = 28,
                        place = 42;
  struct lie {
    std::size_t field, bytes;
    std::uint64_t value;
    const char* wanted;
  };
  const auto check = [&](const char* archive, const lie& told) {
    const fs::path file = folder / "lie.npz";
    std::ofstream(file, std::ios::binary)
        << with_field(contents(data(archive)), told.field, told.bytes, told.value);
    const std::string error = error_of([&] { (void)dsl::npz_file(file).load<float, 2>("x"); });
    EXPECT_TRUE(error.starts_with(file.string() + ": ") &&
                error.find(told.wanted) != std::string::npos)
        << archive << ' ' << told.field << ' ' << told.value << ": " << error;
  };
  for (const char* const archive : {"stored", "deflated"})
    for (const lie& told : std::initializer_list<lie>{
             {flags, 2, 1, "x.npy: cannot be read: No password"},
             {method, 2, 99, "lie.npz: cannot be read: "},
             {checksum, 4, 1, "x.npy: cannot be read: CRC error"},
             {packed, 4, 0xfffffffe, "x.npy: cannot be read: the archive has "},
             {size, 4, 0, "x.npy: is no .npy file"},
             {size, 4, 151, "x.npy: is cut off: 23 of 24 bytes"},  // after a header of 128
             {size, 4, 153, "x.npy: cannot be read: "},
             {size, 4, 0xfffffffe, "bytes, and says that "},
             {name, 2, 3, "is no .npz file: "},
             {place, 4, 0xfffffffe, "x.npy: cannot be read: "},
         })
      check(archive, told);
  check("stored",
        {packed, 4, 100,
         "x.npy: cannot be read: the archive has 1632 bytes, and says that 100 of them hold 152"});
  check("deflated", {packed, 4, 0, "x.npy: is no .npy file"});
  check("deflated",
        {size, 4, 153,
         "x.npy: cannot be read: it has 152 bytes, and the archive says that it has 153"});
}

TEST_P(npz, names_that_an_archive_can_hold) {
  const dsl::array<double> x = dsl::arange<double>(5);
  const fs::path file = folder / "names.npz";
  const std::string longest(65'531, 'n');
  for (const char* const name : {"a/b", "..", "../x", "/", "x.npy", ".npy", "a b\n\t", "a\\b",
                                 "\x7f", "größe", "\u20ac", "\U0001f600", longest.c_str()}) {
    dsl::save_npz(file, {{"first", dsl::zeros<double>(3)}, {name, x}});
    const dsl::npz_file read(file);
    EXPECT_STREQ(read.name(1).c_str(), name);
    EXPECT_EQ(read.load<double>(name).copy_to_host(), x.copy_to_host()) << name;
  }
  const std::string before = contents(file);
  const auto refused = [&](const char* name) {
    return error_of([&] { dsl::save_npz(file, {{"first", x}, {name, x}}); });
  };
  const std::string path = file.string() + ": ";
  EXPECT_EQ(refused(std::string(65'532, 'n').c_str()),
            path + "array 1 has a name of 65532 bytes; the longest in a zip archive is of 65531");
  EXPECT_EQ(refused(std::string(70'000, 'n').c_str()),
            path + "array 1 has a name of 70000 bytes; the longest in a zip archive is of 65531");
  EXPECT_EQ(refused(""), path + "array 1 needs a name");
  EXPECT_EQ(refused(nullptr), path + "array 1 needs a name");
  EXPECT_EQ(refused("first"), path + "two arrays are named \"first\"");
  // Not UTF-8: a lone continuation byte, a truncated sequence, an overlong form, half of a
  // surrogate pair, beyond the last code point.
  for (const char* const name : {"\xff", "a\x80", "\xe2\x82", "\xc0\xaf", "\xed\xa0\x80",
                                 "\xf4\x90\x80\x80", "a\x01", "\x1f"})
    EXPECT_EQ(refused(name),
              path + "array 1 has a name that is not UTF-8 or has control characters")
        << name;
  EXPECT_EQ(contents(file), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
}

TEST_P(npz, writes_all_of_a_file_or_nothing) {
  const dsl::array<double> x = dsl::zeros<double>(100);
  const fs::path file = folder / "a.npz";
  const auto save = [&] { dsl::save_npz(file, {{"x", x}}); };
  for (const bool is_there : {false, true}) {
    const std::string before =
        is_there ? (save(), fs::permissions(file, fs::perms::owner_all), contents(file)) : "";
    EXPECT_EQ(error_with_full_disk(300, save).find(file.string() + ": cannot be written: "), 0u);
    EXPECT_EQ(is_there ? contents(file) : "", before);
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), is_there ? 1 : 0);
  }
  save();
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_all);
  EXPECT_EQ(
      error_of([&] { dsl::save_npz(folder / "none" / "a.npz", {{"x", x}}); }),
      (folder / "none" / "a.npz").string() + ": cannot be written: No such file or directory");
}

}  // namespace
