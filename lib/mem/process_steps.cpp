#include "mem/process_steps.hpp"

#include <exception>

#include "mem/processes.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

process_steps::process_steps(device where) {
  if (const process_mesh* const mesh = back_end::of(where).processes()) group_ = &mesh->group();
}

bool process_steps::is_first() const { return group_ == nullptr || group_->rank() == 0; }

void process_steps::all(const std::function<void()>& call) const {
  if (group_ == nullptr) return call();
  std::exception_ptr failed;
  std::string why;
  try {
    call();
  } catch (const std::exception& e) {
    failed = std::current_exception();
    why = e.what();
  }
  const std::vector<std::string> of_all = gather(why);
  if (failed) std::rethrow_exception(failed);
  for (std::size_t p = 0; p < of_all.size(); ++p)
    if (!of_all[p].empty()) raise<file_error>("process " + std::to_string(p) + ": " + of_all[p]);
}

void process_steps::first(const std::function<void()>& call) const {
  all([&] {
    if (is_first()) call();
  });
}

std::string process_steps::from_first_process(const std::string& text) const {
  return group_ == nullptr ? text : gather(is_first() ? text : std::string()).front();
}

std::vector<std::string> process_steps::gather(const std::string& text) const {
  const auto processes = static_cast<std::size_t>(group_->size()),
             rank = static_cast<std::size_t>(group_->rank());
  std::vector<std::size_t> lengths(processes);
  lengths[rank] = text.size();
  group_->all_gather(lengths.data(),
                     std::vector<std::size_t>(processes, sizeof(std::size_t)).data());
  std::string joined;
  for (std::size_t p = 0; p < processes; ++p)
    joined += p == rank ? text : std::string(lengths[p], ' ');
  group_->all_gather(joined.data(), lengths.data());
  std::vector<std::string> all;
  for (std::size_t p = 0, at = 0; p < processes; at += lengths[p++])
    all.push_back(joined.substr(at, lengths[p]));
  return all;
}

}  // namespace dsl::detail
