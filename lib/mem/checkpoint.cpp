#include <dsl/mem/checkpoint.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "mem/npy.hpp"
#include "mem/text.hpp"

namespace dsl::detail {

namespace fs = std::filesystem;

namespace {

constexpr const char* steps_file = "steps.npy";

// "run" for "run/" and "run/."
fs::path trimmed(fs::path folder) {
  while (folder.has_parent_path() && folder.has_relative_path() &&
         (!folder.has_filename() || folder.filename() == "."))
    folder = folder.parent_path();
  return folder == "." ? "" : folder;
}

// A checkpoint is written next to its folder, and put in place by two renames. Every folder with
// its name is complete; between the two renames only `previous` exists.
struct places {
  fs::path folder, unfinished, previous;
  explicit places(file_path name) : folder(trimmed(resolve_links(trimmed(path_of(name))))) {
    if (!folder.has_filename() || folder.filename() == "..")
      raise<file_error>("\"" + std::string(name.name) +
                        "\": a checkpoint needs the name of a folder of its own");
    unfinished = folder.string() + ".new";
    previous = folder.string() + ".previous";
  }
};

// "0.npy"; "0.position.npy" for a struct's member.
fs::path variable_file(int number, const char* member) {
  return std::to_string(number) + (member != nullptr ? std::string(".") + member : "") + ".npy";
}

bool is_variable_file(const std::string& file) {
  const std::size_t number = file.find_first_not_of("0123456789");
  return number != 0 && number != file.npos && file[number] == '.' && file.size() >= number + 4 &&
         file.ends_with(".npy");
}
bool is_checkpoint_file(const std::string& file) {
  return file == steps_file || is_variable_file(file);
}

// A folder that is to be replaced or removed must contain no files that someone else may have put
// there.
void require_checkpoint(const fs::path& folder) {
  const fs::file_status what = fs::symlink_status(folder);
  if (!fs::exists(what)) return;
  if (!fs::is_directory(what)) throw_file_error(folder, "is no folder");
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string file = entry.path().filename();
    if (!is_checkpoint_file(file) || !fs::is_regular_file(entry.symlink_status()))
      throw_file_error(
          folder,
          "holds " + file + ", which is no checkpoint's: a checkpoint needs a folder of its own");
  }
}
void remove_checkpoint(const fs::path& folder) {
  require_checkpoint(folder);
  if (!fs::exists(folder)) return;
  for (const auto& entry : fs::directory_iterator(folder)) fs::remove(entry.path());
  fs::remove(folder);
}

// If the program stopped between the two renames, gives the previous checkpoint its name again, so
// that it can be replaced.
void restore_previous(const places& at) {
  if (fs::exists(at.folder) || !fs::exists(at.previous)) return;
  require_checkpoint(at.previous);
  fs::rename(at.previous, at.folder);
}

// The new checkpoint is readable by the same users as the existing one.
void make_unfinished(const places& at) {
  remove_checkpoint(at.unfinished);
  if (at.unfinished.has_parent_path()) fs::create_directories(at.unfinished.parent_path());
  if (!fs::exists(at.folder)) {
    fs::create_directory(at.unfinished);
  } else {
    std::error_code ignored;  // some file systems have no permissions
    fs::create_directory(at.unfinished, at.folder);
    fs::permissions(at.unfinished, fs::status(at.folder).permissions(), ignored);
  }
}

// Called after an error; that error is reported, so another one here is ignored.
void discard(const fs::path& unfinished) {
  try {
    remove_checkpoint(unfinished);
  } catch (const std::exception&) {}
}

void put_in_place(const places& at) {
  if (fs::exists(at.folder / steps_file)) {
    remove_checkpoint(at.previous);
    fs::rename(at.folder, at.previous);
  } else {
    remove_checkpoint(at.folder);  // an empty one
  }
  fs::rename(at.unfinished, at.folder);
  sync_folder(at.folder.parent_path());
  remove_checkpoint(at.previous);
}

}  // namespace

void save_checkpoint(file_path folder, std::int64_t steps_done, const stored* variables,
                     const char* const* members, int count) {
  const process_steps together =
      steps_of(variables, static_cast<std::size_t>(count), "save_checkpoint");
  const places at(folder);
  const auto with_folders = [&](const std::function<void()>& call) {  // called by the first process
    together.first([&] {
      try {
        call();
      } catch (const fs::filesystem_error& e) {
        throw_file_error(at.folder, std::string(unwritable) + ": " + e.code().message());
      }
    });
  };
  with_folders([&] {
    require_checkpoint(at.folder);
    restore_previous(at);
  });
  try {
    with_folders([&] { make_unfinished(at); });
    for (int k = 0; k < count; ++k) {
      const fs::path file = variable_file(k, members[k]);
      write_npy(together, at.unfinished / file, at.folder / file, variables[k]);
    }
    with_folders([&] {
      write_npy(at.unfinished / steps_file, at.folder / steps_file, dtype::int64, mapping{},
                &steps_done);
      sync_folder(at.unfinished);
      put_in_place(at);
    });
  } catch (...) {
    if (together.is_first()) discard(at.unfinished);
    throw;
  }
}

namespace {

// The folder of the checkpoint's files. Throws file_error if their number is not `variables`.
fs::path find_checkpoint(const places& at, int variables) {
  std::error_code ignored;
  const fs::path from = fs::exists(at.folder / steps_file, ignored) ? at.folder : at.previous;
  if (!fs::exists(from / steps_file, ignored))
    throw_file_error(at.folder, "there is no checkpoint");
  int there = 0;
  for (const auto& entry : fs::directory_iterator(from, ignored))
    there += is_variable_file(entry.path().filename()) ? 1 : 0;
  if (there != variables)
    throw_file_error(from, "holds " + std::to_string(there) +
                               " variables; asked for: " + std::to_string(variables));
  return from;
}

std::vector<npy_file> open_files(file_path folder, const char* const* members, int variables,
                                 device where) {
  const places at(folder);
  const process_steps together(where);
  fs::path from;
  together.first([&] { from = find_checkpoint(at, variables); });
  from = together.from_first_process(from.string());
  std::vector<npy_file> files;
  for (int k = 0; k < variables; ++k)
    files.emplace_back((from / variable_file(k, members[k])).c_str(), where);
  files.emplace_back((from / steps_file).c_str(), where);
  files.back().require(dtype::int64, 0);
  return files;
}

}  // namespace

checkpoint_files::checkpoint_files(file_path folder, const char* const* members, int variables,
                                   device where)
    : files_(open_files(folder, members, variables, where)) {}

npy_file& checkpoint_files::variable(int i) { return files_[static_cast<std::size_t>(i)]; }

std::int64_t checkpoint_files::steps() {
  std::int64_t steps = 0;
  files_.back().read(&steps);
  return steps;
}

}  // namespace dsl::detail
