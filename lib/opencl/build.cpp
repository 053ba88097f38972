#include "opencl/build.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "mem/back_end.hpp"
#include "mem/text.hpp"
#include "opencl/program_cache.hpp"

namespace dsl::detail::opencl {

namespace {

bool shows_sources() {
  static const bool on = [] {
    const char* const value = std::getenv("DSL_OPENCL_SOURCE");
    const std::string_view text = value != nullptr ? value : "";
    if (!text.empty() && text != "0" && text != "1")
      raise<device_error>("DSL_OPENCL_SOURCE is \"" + std::string(text) +
                          "\"; valid are \"0\" and \"1\"");
    return text == "1";
  }();
  return on;
}

// Everything that a program's binary depends on.
std::string identity_of(const device_state& on, const kernel_text& text) {
  std::string all;
  for (const std::string_view part :
       {std::string_view(on.properties.name), std::string_view(on.driver_version),
        std::string_view(on.platform_version), std::string_view(text.options),
        std::string_view(text.text)})
    all.append(part).push_back('\0');
  return all;
}

std::string log_of(cl_program program, cl_device_id id) {
  std::size_t bytes = 0;
  if (driver().clGetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes) !=
      CL_SUCCESS)
    return {};
  std::string log(bytes, '\0');
  driver().clGetProgramBuildInfo(program, id, CL_PROGRAM_BUILD_LOG, bytes, log.data(), nullptr);
  log.resize(log.find_last_not_of(std::string_view("\0\n ", 3)) + 1);
  return log;
}

std::string first_lines(const std::string& log) {
  constexpr int most = 5;
  std::size_t end = 0;
  for (int line = 0; line < most && end != log.npos; ++line) end = log.find('\n', end + 1);
  return end == log.npos ? log : log.substr(0, end) + "\n...";
}

// Owns a program until the kernels that were made from it do.
class owned_program {
 public:
  explicit owned_program(cl_program made) : made_(made) {}
  owned_program(owned_program&& other) noexcept : made_(std::exchange(other.made_, nullptr)) {}
  ~owned_program() {
    if (made_ != nullptr) driver().clReleaseProgram(made_);
  }
  cl_program get() const { return made_; }

 private:
  cl_program made_;
};

// None if the driver does not take the binary.
std::optional<owned_program> from_binary(const device_state& on, const kernel_text& text,
                                         const std::string& binary) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  const std::size_t count = binary.size();
  cl_int taken = CL_SUCCESS, status = CL_SUCCESS;
  owned_program made(
      driver().clCreateProgramWithBinary(on.context(), 1, &on.id, &count, &bytes, &taken, &status));
  if (status != CL_SUCCESS || taken != CL_SUCCESS) return {};
  if (driver().clBuildProgram(made.get(), 1, &on.id, text.options.c_str(), nullptr, nullptr) !=
      CL_SUCCESS)
    return {};
  return made;
}

owned_program from_source(const device_state& on, const kernel_text& text) {
  const char* source = text.text.data();
  const std::size_t bytes = text.text.size();
  const std::string building = "building kernel " + text.name;
  cl_int status = CL_SUCCESS;
  owned_program made(driver().clCreateProgramWithSource(on.context(), 1, &source, &bytes, &status));
  on.check(status, "clCreateProgramWithSource", building);
  status = driver().clBuildProgram(made.get(), 1, &on.id, text.options.c_str(), nullptr, nullptr);
  on.check(status, "clBuildProgram", [&] {
    return building + ", whose text DSL_OPENCL_SOURCE=1 shows (" +
           first_lines(log_of(made.get(), on.id)) + "),";
  });
  return made;
}

// Empty if the driver gives none.
std::string binary_of(cl_program program) {
  std::size_t bytes = 0;
  if (driver().clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, nullptr) !=
      CL_SUCCESS)
    return {};
  std::string binary(bytes, '\0');
  auto* at = reinterpret_cast<unsigned char*>(binary.data());
  if (driver().clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof at, &at, nullptr) !=
      CL_SUCCESS)
    return {};
  return binary;
}

owned_program made_for(const device_state& on, const kernel_text& text) {
  const std::string identity = identity_of(on, text);
  if (const std::optional<std::string> binary = find_program(identity))
    if (std::optional<owned_program> made = from_binary(on, text, *binary)) return std::move(*made);
  owned_program made = from_source(on, text);
  if (const std::string binary = binary_of(made.get()); !binary.empty())
    store_program(identity, binary);
  return made;
}

std::size_t read(cl_kernel kernel, const device_state& on, cl_kernel_work_group_info what) {
  std::size_t value = 0;
  on.check(driver().clGetKernelWorkGroupInfo(kernel, on.id, what, sizeof value, &value, nullptr),
           "clGetKernelWorkGroupInfo", "reading a kernel's properties");
  return std::max<std::size_t>(value, 1);
}

void make_kernel(built_kernel& made, cl_program program, const std::string& name,
                 const device_state& on) {
  cl_int status = CL_SUCCESS;
  made.kernel = driver().clCreateKernel(program, name.c_str(), &status);
  on.check(status, "clCreateKernel", [&] { return "making kernel " + name; });
  made.largest_work_group = read(made.kernel, on, CL_KERNEL_WORK_GROUP_SIZE);
  made.work_group_multiple = read(made.kernel, on, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE);
}

struct program_table {
  std::mutex mutex;  // held while a program is built: others may wait for the same one
  std::map<std::uint64_t, std::unique_ptr<built_program>> all;
};
program_table& programs_of(int index) {
  static program_table* const tables = new program_table[back_end::max_devices];
  return tables[index];
}

}  // namespace

built_program& build(device_state& on, std::uint64_t key,
                     const std::function<kernel_text()>& print) {
  program_table& table = programs_of(on.index);
  const std::lock_guard lock(table.mutex);
  if (const auto found = table.all.find(key); found != table.all.end()) return *found->second;
  const kernel_text text = print();
  if (shows_sources()) std::fprintf(stderr, "%s\n", text.text.c_str());
  const owned_program program = made_for(on, text);
  auto made = std::make_unique<built_program>();
  make_kernel(made->first, program.get(), text.name, on);
  if (!text.finish.empty()) make_kernel(made->finish, program.get(), text.finish, on);
  for (const std::string& name : text.more)
    make_kernel(made->more.emplace_back(), program.get(), name, on);
  return *table.all.emplace(key, std::move(made)).first->second;
}

}  // namespace dsl::detail::opencl
