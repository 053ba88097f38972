// What a loop carries, on disk: so that it goes on where it was.
#pragma once

#include <dsl/mem/npy.hpp>
#include <dsl/mem/structure.hpp>

namespace dsl {

namespace detail {

/// `members` are the names of those that are members of structs, else null.
void save_checkpoint(file_path folder, std::int64_t steps_done, const stored* variables,
                     const char* const* members, int count);

/// A checkpoint's files, opened to be read.
class checkpoint_files {
 public:
  /// The variables are on `where`. Throws file_error, also where there are not as many variables.
  checkpoint_files(file_path folder, const char* const* members, int variables, device where);
  checkpoint_files(const checkpoint_files&) = delete;

  npy_file& variable(int i);
  std::int64_t steps();

 private:
  std::vector<npy_file> files_;  // the variables', then that with the number of steps
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
// A variable without memory gets it when all has been read.
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

/// Writes variables of a loop (arrays, views, scalars, structs of them), each as `0.npy`, `1.npy`,
/// ... in a folder, members of structs as `0.position.npy`, and how many steps it has done as
/// `steps.npy`. What was in the folder before is replaced as a whole when all of it is on the disk:
/// whenever the program or the machine stops, there is a checkpoint to load, the old one or the new
/// one. Beside the folder stand, while it is written, `folder.new` and `folder.previous`. Waits.
/// Throws file_error, for a folder with other files in it too, and memory_error for a variable
/// without memory.
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

/// Reads variables that `save_checkpoint` wrote, and returns the number of steps. Those without
/// memory get theirs on the current device. Throws file_error that names file and variable where a
/// dtype or a shape differs, before anything is written, and where there is no checkpoint.
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
