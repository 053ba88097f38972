// Processes of MPI as one device. What includes this links dsl::mpi.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <memory>
#include <vector>

#include <dsl/exec/processes.hpp>

namespace dsl {

namespace detail {

/// The processes of a communicator, whose copy it owns. MPI's own handler ends the program where MPI fails.
class mpi_group final : public process_group {
 public:
  explicit mpi_group(MPI_Comm processes) {
    MPI_Comm_dup(processes, &all_);
    MPI_Comm_rank(all_, &rank_);
    MPI_Comm_size(all_, &size_);
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void all_gather(void* all, const std::size_t* bytes) override {
    std::size_t sum = 0;
    for (int p = 0; p < size_; ++p) sum += bytes[p];
    if (sum > INT_MAX) return broadcast_all(static_cast<unsigned char*>(all), bytes);
    std::vector<int> counts, places;
    for (int p = 0; p < size_; ++p) {
      places.push_back(p == 0 ? 0 : places.back() + counts.back());
      counts.push_back(static_cast<int>(bytes[p]));
    }
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts.data(), places.data(), MPI_BYTE, all_);
  }
  void exchange(const std::vector<process_message>& sent, const std::vector<process_message>& received) override {
    std::vector<MPI_Request> open;
    for (const process_message& m : received)
      each_piece(m, [&](void* at, int bytes) { MPI_Irecv(at, bytes, MPI_BYTE, m.process, 0, all_, &open.emplace_back()); });
    for (const process_message& m : sent)
      each_piece(m, [&](void* at, int bytes) { MPI_Isend(at, bytes, MPI_BYTE, m.process, 0, all_, &open.emplace_back()); });
    MPI_Waitall(static_cast<int>(open.size()), open.data(), MPI_STATUSES_IGNORE);
  }
  std::unique_ptr<gpu_group> with_gpus(device own) override { return join_gpus(*this, own); }

  /// How many processes on the same machine have smaller numbers.
  int number_on_machine() const {
    MPI_Comm here = MPI_COMM_NULL;
    MPI_Comm_split_type(all_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &here);
    int number = 0;
    MPI_Comm_rank(here, &number);
    MPI_Comm_free(&here);
    return number;
  }

 private:
  // MPI counts with an int.
  void broadcast_all(unsigned char* at, const std::size_t* bytes) {
    for (int p = 0; p < size_; at += bytes[p++])
      each_piece({at, bytes[p], p}, [&](void* piece, int length) { MPI_Bcast(piece, length, MPI_BYTE, p, all_); });
  }
  template <class Call>
  static void each_piece(const process_message& m, const Call& call) {
    constexpr std::size_t most = std::size_t{1} << 30;
    for (std::size_t done = 0; done < m.bytes; done += most)
      call(static_cast<unsigned char*>(m.at) + done, static_cast<int>(std::min(most, m.bytes - done)));
  }

  MPI_Comm all_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
};

}  // namespace detail

namespace detail {

inline std::unique_ptr<mpi_group> group_of(MPI_Comm processes) {
  int is_running = 0;
  MPI_Initialized(&is_running);
  if (is_running == 0) throw device_error(text("dsl::mesh before MPI_Init"));
  return std::make_unique<mpi_group>(processes);
}

}  // namespace detail

/// The processes of a communicator as one device, of which each has `own`: the host, the simulator or a GPU, of one kind in all
/// of them. Arrays on it have their global shape. Each process holds its rows of the outermost axis (`local`) and computes those,
/// so all processes run the same statements on them in the same order, from one thread at a time. Made once, after MPI_Init;
/// called by all processes of the communicator, it waits for them. Throws device_error: for GPUs where the library was built
/// without NCCL, and where NCCL cannot join them, as two processes with one GPU.
inline device mesh(MPI_Comm processes, device own) { return detail::mesh_of_processes(detail::group_of(processes), own); }
/// Each has its current device; where that is the first GPU, the first process of a machine has its first one, the second its
/// second, and so on.
inline device mesh(MPI_Comm processes) {
  auto group = detail::group_of(processes);
  const device own = detail::own_device(group->number_on_machine());
  return detail::mesh_of_processes(std::move(group), own);
}

}  // namespace dsl
