// Checkpoints: the variables of a loop on disk, so that it can be continued.
#pragma once

#include <dsl/mem/npy.hpp>
#include <dsl/mem/structure.hpp>

namespace dsl {

namespace detail {

/// `members`: for each variable its name if it is a member of a struct, else null.
void save_checkpoint(file_path folder, std::int64_t steps_done, const stored* variables,
                     const char* const* members, int count);

/// A checkpoint's files, opened for reading.
class checkpoint_files {
 public:
  /// Opens the files of variables on `where`. Throws file_error, also if the number of variables
  /// differs.
  checkpoint_files(file_path folder, const char* const* members, int variables, device where);
  checkpoint_files(const checkpoint_files&) = delete;

  npy_file& variable(int i);
  std::int64_t steps();

 private:
  // The files of the variables, then the file with the number of steps.
  std::vector<npy_file> files_;
};

template <class T, int R>
void require_fit(const npy_file& file, int number, const view<T, R>& v) {
  static_assert(!std::is_const_v<T>,
                "the target is const: an array that is, or a view that only reads");
  file.require(dtype_v<T>, R, v.extents().data(), number);
}
template <viewable A>
void require_fit(const npy_file& file, int number, A& a) {
  if (a.view().has_memory()) require_fit(file, number, a.view());
  else file.require(dtype_v<typename A::value_type>, A::rank, nullptr, number);
}

template <class T, int R>
void read_into(npy_file& file, const view<T, R>& v) {
  file.read(elements_of(v));
}
// A variable without memory gets it only after all elements were read.
template <class T, int R>
void read_into(npy_file& file, array<T, R>& a) {
  if (a.has_memory()) return read_into(file, a.view());
  array<T, R> whole(file.extents<R>());
  read_into(file, whole.view());
  a = std::move(whole);
}
template <class T>
void read_into(npy_file& file, scalar<T>& s) {
  if (s.has_memory()) return read_into(file, s.view());
  scalar<T> whole;
  read_into(file, whole.view());
  s = std::move(whole);
}

}  // namespace detail

/// Writes variables of a loop (arrays, views, scalars, structs of them) to a folder: each as
/// `0.npy`, `1.npy`, ..., members of structs as `0.position.npy`, and the number of completed steps
/// as `steps.npy`. The previous contents of the folder are replaced as a whole once all data are on
/// the disk: whenever the program or the machine stops, a complete checkpoint exists, the old one
/// or the new one. During the write, `folder.new` and `folder.previous` exist next to the folder.
/// Waits. Throws file_error, also if the folder contains other files, and memory_error for a
/// variable without memory.
template <class... V>
void save_checkpoint(file_path folder, std::int64_t steps_done, const V&... variables) {
  detail::unpack(
      [&](const auto&... leaf) {
        const detail::stored all[] = {detail::to_store(leaf)..., {}};
        detail::save_checkpoint(folder, steps_done, all, detail::members_of<V...>.data(),
                                sizeof...(leaf));
      },
      detail::concatenate(detail::flat(variables)...));
}

/// Reads variables that `save_checkpoint` wrote, and returns the number of steps. Variables without
/// memory are allocated on the current device. Throws file_error if there is no checkpoint, and
/// file_error that names file and variable if a dtype or shape differs, before anything is written.
template <class... V>
std::int64_t load_checkpoint(file_path folder, V&&... variables) {
  const auto all = detail::concatenate(detail::flat(variables)...);
  constexpr auto& members = detail::members_of<std::remove_reference_t<V>...>;
  device where = device::current();
  detail::unpack(
      [&where](const auto&... leaf) {
        ((leaf.has_memory() ? void(where = leaf.where()) : void()), ...);
      },
      all);
  detail::checkpoint_files files(folder, members.data(),
                                 static_cast<int>(std::tuple_size_v<decltype(all)>), where);
  detail::unpack(
      [&files](auto&... leaf) {
        int k = 0;
        ((detail::require_fit(files.variable(k), k, leaf), ++k), ...);
        k = 0;
        (detail::read_into(files.variable(k++), leaf), ...);
      },
      all);
  return files.steps();
}

}  // namespace dsl
