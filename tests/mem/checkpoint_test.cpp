// Checkpoints: loading gives what was saved, whatever happened in between.
#include "../error_of.hpp"
#include "../full_disk.hpp"
#include "../on_device.hpp"
#include "../scratch_folder.hpp"

#include <dsl/mem/checkpoint.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

namespace fs = std::filesystem;

struct checkpoint : on_device, scratch_folder {};
ON_EVERY_DEVICE(checkpoint);

TEST_P(checkpoint, views_are_read_in_place) {
  const dsl::array<float, 2> m = dsl::reshape(dsl::arange<float>(6), 2, 3);
  dsl::save_checkpoint(folder, 1, dsl::transpose(m), m(0, dsl::slice()));
  auto whole = dsl::zeros<float>(2, 3);
  auto row = dsl::zeros<float>(6);
  EXPECT_EQ(dsl::load_checkpoint(folder, dsl::transpose(whole), row(dsl::slice(0, dsl::end, 2))),
            1);
  EXPECT_EQ(whole.copy_to_host(), m.copy_to_host());
  EXPECT_EQ(row.copy_to_host(), (std::vector<float>{0, 0, 1, 0, 2, 0}));
}

TEST_P(checkpoint, replaces_the_one_before_as_a_whole) {
  const auto x = dsl::ones<float>(4), y = dsl::zeros<float>(2);
  dsl::save_checkpoint((folder / "").c_str(), 1, x, y);  // with a slash at its end
  dsl::save_checkpoint(folder, 2, x);
  dsl::array<float> got;
  EXPECT_EQ(dsl::load_checkpoint(folder, got), 2);
  EXPECT_FALSE(fs::exists(folder / "1.npy"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.parent_path()), {}), 1);
}

TEST_P(checkpoint, gives_memory_to_what_has_none) {
  dsl::save_checkpoint(folder, 1, dsl::scalar<float>(3), dsl::zeros<float>(2, 3));
  dsl::scalar<float> s;
  dsl::array<float, 2> x = dsl::ones<float>(4, 4);
  const dsl::scalar<float> t = std::move(s);
  const dsl::array<float, 2> y = std::move(x);
  EXPECT_EQ(dsl::load_checkpoint(folder, s, x), 1);
  EXPECT_EQ(s.value(), 3.0f);
  EXPECT_EQ(x.extents(), (dsl::extents<2>{2, 3}));
}

TEST_P(checkpoint, says_what_does_not_fit_and_writes_nothing) {
  auto x = dsl::ones<float>(4), y = dsl::full<float>(7, 4);
  EXPECT_EQ(error_of([&] { dsl::load_checkpoint(folder, x); }),
            folder.string() + ": there is no checkpoint");
  dsl::save_checkpoint(folder, 1, x, x);
  auto longer = dsl::zeros<float>(5);
  dsl::array<double> wide;
  EXPECT_EQ(error_of([&] { dsl::load_checkpoint(folder, y, longer); }),
            (folder / "1.npy").string() + ": holds float32 (4); variable 1: float32 (5)");
  EXPECT_EQ(error_of([&] { dsl::load_checkpoint(folder, y, wide); }),
            (folder / "1.npy").string() + ": holds float32 (4); variable 1: float64 of rank 1");
  EXPECT_EQ(error_of([&] { dsl::load_checkpoint(folder, y); }),
            folder.string() + ": holds 2 variables; asked for: 1");
  EXPECT_EQ(error_of([&] { dsl::load_checkpoint(folder, y, x, x); }),
            folder.string() + ": holds 2 variables; asked for: 3");
  EXPECT_EQ(y.copy_to_host(), (std::vector<float>(4, 7)));
}

TEST_P(checkpoint, leaves_other_files_alone) {
  const auto x = dsl::ones<float>(4);
  fs::create_directories(folder);
  std::ofstream(folder / "results.txt") << "mine";
  EXPECT_EQ(
      error_of([&] { dsl::save_checkpoint(folder, 1, x); }),
      folder.string() +
          ": holds results.txt, which is no checkpoint's: a checkpoint needs a folder of its own");
  EXPECT_TRUE(fs::exists(folder / "results.txt"));
  fs::remove(folder / "results.txt");
  dsl::save_checkpoint(folder, 1, x);  // an empty folder is accepted
  EXPECT_THROW(dsl::save_checkpoint(folder, 2, x, dsl::array<float>()), dsl::memory_error);
  std::ofstream(outer / "file") << "mine";
  EXPECT_NE(error_of([&] { dsl::save_checkpoint(outer / "file", 2, x); }), "no error");
  EXPECT_EQ(error_of([&] { dsl::save_checkpoint(outer / "file" / "below", 2, x); }),
            (outer / "file" / "below").string() + ": cannot be written: Not a directory");
  dsl::array<float> got;
  EXPECT_EQ(dsl::load_checkpoint(folder, got), 1);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.parent_path()), {}), 1);
}

TEST_P(checkpoint, takes_the_place_of_the_one_before_with_its_links_and_permissions) {
  const auto x = dsl::ones<float>(4);
  const fs::path store = outer / "store", link = outer / "link";
  const fs::perms of_file = fs::perms::owner_read | fs::perms::owner_write,
                  of_folder = fs::perms::owner_all;
  fs::create_directories(store);
  fs::create_directories(outer / "run");
  fs::create_directory_symlink("store", link);
  fs::permissions(store, of_folder);
  dsl::save_checkpoint(link, 1, x);
  fs::permissions(store / "0.npy", of_file);
  fs::permissions(store / "steps.npy", of_file);
  std::int64_t steps = 1;
  for (const fs::path& name : {link, link / "", store / ".", outer / "run" / ".." / "link"}) {
    dsl::save_checkpoint(name, ++steps, x);
    dsl::array<float> got;
    EXPECT_EQ(dsl::load_checkpoint(name, got), steps) << name;
    EXPECT_EQ(dsl::load_checkpoint(store, got), steps) << name;
    EXPECT_TRUE(fs::is_symlink(link)) << name;
    EXPECT_EQ(fs::status(store).permissions(), of_folder) << name;
    EXPECT_EQ(fs::status(store / "0.npy").permissions(), of_file) << name;
    EXPECT_EQ(fs::status(store / "steps.npy").permissions(), of_file) << name;
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(outer), {}), 3);
}

TEST_P(checkpoint, removes_nothing_but_its_own_files) {
  const auto x = dsl::ones<float>(4);
  const auto mine = [&](const fs::path& file) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "mine";
  };
  for (const char* beside : {"", ".new", ".previous"}) {
    fs::remove_all(outer);
    dsl::save_checkpoint(folder, 1, x);
    const fs::path place = folder.string() + beside;
    fs::remove(place / "0.npy");
    mine(place / "0.npy" / "precious");
    EXPECT_NE(error_of([&] { dsl::save_checkpoint(folder, 2, x); }), "no error") << beside;
    EXPECT_TRUE(fs::exists(place / "0.npy" / "precious")) << beside;
    fs::remove_all(place);
    mine(outer / "elsewhere" / "0.npy");
    fs::create_directory_symlink(
        outer / "elsewhere",
        place);  // a link as the folder's name is followed; a link next to it is not ours
    EXPECT_EQ(error_of([&] { dsl::save_checkpoint(folder, 3, x); }) == "no error", *beside == '\0')
        << beside;
    EXPECT_TRUE(fs::exists(outer / "elsewhere" / "0.npy")) << beside;
  }
}

TEST_P(checkpoint, needs_the_name_of_a_folder) {
  const auto x = dsl::ones<float>(4);
  fs::create_directories(folder);
  const fs::path before = fs::current_path();
  fs::current_path(folder);
  dsl::array<float> got;
  for (const char* name : {"", ".", "./", "..", "../", "/", "./.", "../.."}) {
    EXPECT_NE(error_of([&] {
                dsl::save_checkpoint(name, 1, x);
              }).find("needs the name of a folder of its own"),
              std::string::npos)
        << name;
    EXPECT_NE(error_of([&] { dsl::load_checkpoint(name, got); }), "no error") << name;
  }
  EXPECT_NE(error_of([&] { dsl::save_checkpoint(nullptr, 1, x); }), "no error");
  EXPECT_NE(error_of([&] { dsl::load_checkpoint(nullptr, got); }), "no error");
  EXPECT_TRUE(fs::is_empty(folder));
  dsl::save_checkpoint("here", 1, x);
  EXPECT_EQ(dsl::load_checkpoint("./here/", got), 1);
  EXPECT_THROW(dsl::save_checkpoint("not/there", 1, x, dsl::array<float>()), dsl::memory_error);
  EXPECT_FALSE(fs::exists("not"));
  fs::current_path(before);
  EXPECT_EQ(std::distance(fs::directory_iterator(outer / "run"), {}), 1);
}

TEST_P(checkpoint, a_bool_is_0_or_1_whatever_the_byte) {
  dsl::save_checkpoint(folder, 1, dsl::zeros<bool>(3));
  std::fstream file(folder / "0.npy", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-2, std::ios::end);
  file.put('\2');
  file.put('\xff');
  file.close();
  auto got = dsl::full<bool>(true, 3);
  dsl::load_checkpoint(folder, got);
  EXPECT_EQ(dsl::count_nonzero(got).value(), 2);
  EXPECT_EQ(dsl::load_checkpoint(folder, dsl::flip(got)), 1);
  EXPECT_EQ(got.copy_to_host(), (std::vector<bool>{true, true, false}));
}

// Each state that an interruption may leave.
TEST_P(checkpoint, is_found_after_a_stop) {
  dsl::array<float> got;
  const auto x = dsl::ones<float>(4);
  const auto beside = [&](const char* end) { return folder.string() + end; };
  const auto half_written = [&] {
    fs::create_directories(beside(".new"));
    std::ofstream(beside(".new") + "/0.npy") << "\x93NUM";
  };
  half_written();
  EXPECT_EQ(error_of([&] { dsl::load_checkpoint(folder, got); }),
            folder.string() + ": there is no checkpoint");
  dsl::save_checkpoint(folder, 1, x);
  half_written();
  EXPECT_EQ(dsl::load_checkpoint(folder, got), 1);
  fs::rename(folder, beside(".previous"));
  EXPECT_EQ(dsl::load_checkpoint(folder, got), 1);
  dsl::save_checkpoint(folder, 2, x);
  EXPECT_EQ(dsl::load_checkpoint(folder, got), 2);
  fs::copy(folder, beside(".previous"));
  dsl::save_checkpoint(folder, 3, x);
  EXPECT_EQ(dsl::load_checkpoint(folder, got), 3);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.parent_path()), {}), 1);
}

TEST_P(checkpoint, writes_all_of_a_folder_or_nothing) {
  const auto x = dsl::zeros<double>(100);
  const std::string wanted = (folder / "0.npy").string() + ": cannot be written: File too large";
  const auto there = [&] {
    return std::distance(fs::directory_iterator(folder.parent_path()), {});
  };
  EXPECT_EQ(error_with_full_disk(300, [&] { dsl::save_checkpoint(folder, 1, x); }), wanted);
  EXPECT_EQ(there(), 0);
  dsl::save_checkpoint(folder, 2, x);
  EXPECT_EQ(error_with_full_disk(300, [&] { dsl::save_checkpoint(folder, 3, x); }), wanted);
  fs::rename(folder, folder.string() + ".previous");  // interrupted during replacement
  EXPECT_EQ(error_with_full_disk(300, [&] { dsl::save_checkpoint(folder, 3, x); }), wanted);
  EXPECT_EQ(there(), 1);
  dsl::array<double> got;
  EXPECT_EQ(dsl::load_checkpoint(folder, got), 2);
}

// A process that only saves is killed at arbitrary times.
struct checkpoint_on_host : testing::Test, scratch_folder {};  // a GPU does not survive a fork
TEST_F(checkpoint_on_host, survives_a_kill) {
  const dsl::device_guard guard("host");
  dsl::save_checkpoint(folder, 0, dsl::zeros<std::int64_t>(5000), dsl::zeros<std::int64_t>(3));
  std::int64_t last = 0;
  // Longer if the disk is so slow that no checkpoint was complete.
  for (int kill_after_us = 500; kill_after_us < (last > 0 ? 40'000 : 2'000'000);
       kill_after_us += std::max(1300, kill_after_us / 30)) {
    const pid_t child = fork();
    if (child == 0) {
      for (std::int64_t k = last + 1;; ++k)
        dsl::save_checkpoint(folder, k, dsl::full<std::int64_t>(k, 5000),
                             dsl::full<std::int64_t>(-k, 3));
    }
    ASSERT_GT(child, 0);
    usleep(static_cast<useconds_t>(kill_after_us));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    dsl::array<std::int64_t> x, y;
    const std::int64_t steps = dsl::load_checkpoint(folder, x, y);
    EXPECT_GE(steps, last);
    EXPECT_EQ(x.copy_to_host(), std::vector<std::int64_t>(5000, steps));
    EXPECT_EQ(y.copy_to_host(), std::vector<std::int64_t>(3, -steps));
    last = steps;
  }
  EXPECT_GT(last, 0);
}

}  // namespace
