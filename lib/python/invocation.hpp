// One call of a module's function, from its arguments to its results.
#pragma once

#include <optional>
#include <vector>

#include <dsl/mem/stream.hpp>

#include "overloads.hpp"

namespace dsl::python {

class invocation final : public detail::call {
 public:
  explicit invocation(const overloads& all) : all_(all) {}

  nb::object run(const nb::args& given, const nb::kwargs& options);
  void make_result(int number, int rank, const std::int64_t* extents) override;

 private:
  void read_options(const nb::kwargs& options);
  bool read_ensemble_option(const std::string& name, nb::handle value);
  void read_times();
  void read_arguments(const nb::args& given, std::size_t first);
  void find_rank();
  std::string misfits(const char* among) const;
  std::string shapes() const;
  int rank_of(const detail::parameter& p) const;
  void bind_arguments();
  void bind_outputs();
  void bind_variables();
  void require_apart(int variable) const;
  void keep_inputs() const;
  nb::object returned();
  nb::object result(std::size_t number);
  nb::object results_from(std::size_t first, std::size_t end);
  nb::object one_or_tuple(std::size_t first, std::size_t end);

  std::int64_t whole_number(nb::handle x, const char* what) const;
  double real_number(nb::handle x, const std::string& what) const;
  void choose_stream(array_library& library, const dlpack::device& where);
  passed read(nb::handle x);
  void bind(const passed& from, const std::string& role, int rank, bool is_written,
            detail::elements& to) const;
  device home() const;

  const overloads& all_;
  const detail::signature* signature_ = nullptr;
  nb::handle out_, save_at_;
  std::vector<passed> passed_;
  // Results, given or made; none if they are in dsl's memory.
  std::vector<nb::object> made_;
  std::vector<passed> outputs_;
  // The shape to which the arrays broadcast, if a parameter has any rank.
  std::int64_t shape_[max_rank];
  array_library* library_ = nullptr;  // of the first array
  nb::handle first_array_;
  array_library* stream_owner_ = nullptr;
  dlpack::device device_{1, 0};  // of the first array
  work_stream stream_;
  std::optional<dsl::stream_guard> guard_;
};

}  // namespace dsl::python
