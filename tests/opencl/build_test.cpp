// Programs that are built, that do not build, and files of built programs.
#include "opencl/build.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "../error_of.hpp"
#include "../scratch_folder.hpp"
#include "on_opencl.hpp"
#include "opencl/program_cache.hpp"

namespace {

using namespace dsl::detail::opencl;
namespace fs = std::filesystem;

// The folder of programs, for one test.
struct own_cache {
  own_cache() { setenv("DSL_CACHE_DIR", folder().c_str(), 1); }
  ~own_cache() { unsetenv("DSL_CACHE_DIR"); }
  own_cache(const own_cache&) = delete;
  fs::path folder() const { return scratch.outer / "programs"; }
  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    if (fs::exists(folder()))
      for (const auto& each : fs::directory_iterator(folder())) all.push_back(each.path());
    return all;
  }
  scratch_folder scratch;
};

std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

TEST(opencl_program_cache, finds_what_was_stored) {
  const own_cache cache;
  EXPECT_FALSE(find_program("a"));
  store_program("a", "binary of a");
  store_program("b", std::string("\0\n", 2));
  EXPECT_EQ(find_program("a"), "binary of a");
  EXPECT_EQ(find_program("b"), std::string("\0\n", 2));
  EXPECT_FALSE(find_program("c"));
  EXPECT_EQ(cache.files().size(), 2u);
}

TEST(opencl_program_cache, passes_over_damaged_and_foreign_files) {
  const own_cache cache;
  store_program("a", "binary of a");
  const fs::path file = cache.files().at(0);
  const std::string whole = contents(file);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    write(file, damaged);
    EXPECT_FALSE(find_program("a")) << i;
    write(file, whole.substr(0, i));
    EXPECT_FALSE(find_program("a")) << i;
  }
  store_program("a", "binary of a");
  EXPECT_EQ(find_program("a"), "binary of a");
  store_program("b", "binary of b");
  for (const fs::path& other : cache.files())
    if (other != file) fs::rename(other, file);
  EXPECT_FALSE(find_program("a"));
}

TEST(opencl_program_cache, does_without_a_folder) {
  const scratch_folder scratch;
  write(scratch.outer / "file", "");
  setenv("DSL_CACHE_DIR", (scratch.outer / "file" / "programs").c_str(), 1);
  store_program("a", "binary of a");
  EXPECT_FALSE(find_program("a"));
  unsetenv("DSL_CACHE_DIR");
}

TEST(opencl_program_cache, is_in_the_users_folder_by_default) {
  const scratch_folder scratch;
  setenv("XDG_CACHE_HOME", scratch.outer.c_str(), 1);
  store_program("a", "binary of a");
  EXPECT_FALSE(fs::is_empty(scratch.outer / "dsl"));
  unsetenv("XDG_CACHE_HOME");
}

const kernel_text doubling{
    "__kernel void doubling(__global uchar* m, long o, long n) {\n"
    "  __global int* x = (__global int*)(m + o);\n"
    "  for (long i = (long)get_global_id(0); i < n; i += (long)get_global_size(0)) x[i] *= 2;\n"
    "}\n",
    "doubling", "", "-cl-std=CL1.2"};

struct opencl_build : on_opencl {
  static device_state& device() { return device_state::of(0); }
  // Each test's programs are new to this process.
  static std::uint64_t new_key() {
    static std::uint64_t last = std::uint64_t{1} << 40;
    return ++last;
  }
  static built_kernel& built(const kernel_text& text) {
    return build(device(), new_key(), [&] { return text; }).first;
  }
  static void expect_doubles(built_kernel& kernel) {
    EXPECT_GE(kernel.largest_work_group, 1u);
    EXPECT_GE(kernel.work_group_multiple, 1u);
    dsl::array<int> x = dsl::to_device({1, 2, 3});
    const memory_place place = device().pool().at(x.data());
    const auto offset = static_cast<cl_long>(place.offset);
    const cl_long n = 3;
    const driver_functions& call = driver();
    call.clSetKernelArg(kernel.kernel, 0, sizeof place.memory, &place.memory);
    call.clSetKernelArg(kernel.kernel, 1, sizeof offset, &offset);
    call.clSetKernelArg(kernel.kernel, 2, sizeof n, &n);
    const std::size_t one = 1;
    ASSERT_EQ(call.clEnqueueNDRangeKernel(device().queue_of(nullptr), kernel.kernel, 1, nullptr,
                                          &one, &one, 0, nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(x.copy_to_host(), (std::vector<int>{2, 4, 6}));
  }
};

TEST_F(opencl_build, builds_once_and_reads_the_file_later) {
  const own_cache cache;
  expect_doubles(built(doubling));
  ASSERT_EQ(cache.files().size(), 1u);
  const auto written = fs::last_write_time(cache.files()[0]);
  expect_doubles(built(doubling));
  ASSERT_EQ(cache.files().size(), 1u);
  EXPECT_EQ(fs::last_write_time(cache.files()[0]), written);
  const std::uint64_t key = new_key();
  int printed = 0;
  const auto print = [&] { return ++printed, doubling; };
  EXPECT_EQ(&build(device(), key, print), &build(device(), key, print));
  EXPECT_EQ(printed, 1);
}

TEST_F(opencl_build, mends_a_file_that_is_corrupt) {
  const own_cache cache;
  built(doubling);
  ASSERT_EQ(cache.files().size(), 1u);
  const fs::path file = cache.files()[0];
  const std::string whole = contents(file);
  write(file, whole.substr(0, whole.size() / 2));
  expect_doubles(built(doubling));
  EXPECT_EQ(contents(file).size(), whole.size());
}

TEST_F(opencl_build, does_without_files) {
  setenv("DSL_CACHE_DIR", "/dev/null/programs", 1);
  expect_doubles(built(doubling));
  unsetenv("DSL_CACHE_DIR");
}

TEST_F(opencl_build, says_what_does_not_build) {
  const own_cache cache;
  const std::string what = error_of(
      [] { built({"__kernel void f(__global int* x) { x[0] = nothing; }", "f", "", ""}); });
  for (const char* part :
       {"building kernel f, whose text DSL_OPENCL_SOURCE=1 shows (", "nothing",
        " failed on opencl:0 (", "): clBuildProgram returned CL_BUILD_PROGRAM_FAILURE"})
    EXPECT_NE(what.find(part), std::string::npos) << what;
  EXPECT_TRUE(cache.files().empty());
  EXPECT_NE(
      error_of([] { built({doubling.text, "tripling", "", ""}); }).find("CL_INVALID_KERNEL_NAME"),
      std::string::npos);
}

// The part of one of two processes.
TEST_F(opencl_build, of_one_process) {
  if (std::getenv("DSL_TEST_PROCESS") == nullptr)
    GTEST_SKIP() << "run by is_done_by_two_processes_at_once";
  for (int i = 0; i < 5; ++i) {
    kernel_text text = doubling;
    text.text += "// number " + std::to_string(i) + "\n";
    expect_doubles(built(text));
  }
}
TEST_F(opencl_build, is_done_by_two_processes_at_once) {
  const own_cache cache;
  const std::string one = "DSL_TEST_PROCESS=1 '" + fs::read_symlink("/proc/self/exe").string() +
                          "' --gtest_filter=opencl_build.of_one_process >/dev/null";
  EXPECT_EQ(std::system((one + " & first=$!; " + one + " && wait $first").c_str()), 0);
  EXPECT_EQ(cache.files().size(), 5u);
  for (const fs::path& each : cache.files()) EXPECT_EQ(each.extension(), ".opencl");
}

}  // namespace
