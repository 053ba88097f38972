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

 private:
  // MPI counts with an int.
  void broadcast_all(unsigned char* at, const std::size_t* bytes) {
    constexpr std::size_t piece = std::size_t{1} << 30;
    for (int p = 0; p < size_; at += bytes[p++])
      for (std::size_t done = 0; done < bytes[p]; done += piece)
        MPI_Bcast(at + done, static_cast<int>(std::min(piece, bytes[p] - done)), MPI_BYTE, p, all_);
  }

  MPI_Comm all_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
};

}  // namespace detail

/// The processes of a communicator as one device, of which each has `own`: the host or the simulator, the same in all of them.
/// Arrays on it have their global shape. Each process holds its rows of the outermost axis (`local`) and computes those, so all
/// processes run the same statements on them in the same order, from one thread at a time. Made once, after MPI_Init; called by
/// all processes of the communicator, it waits for them. Throws device_error.
inline device mesh(MPI_Comm processes, device own = device::current()) {
  int is_running = 0;
  MPI_Initialized(&is_running);
  if (is_running == 0) throw device_error(text("dsl::mesh before MPI_Init"));
  return detail::mesh_of_processes(std::make_unique<detail::mpi_group>(processes), own);
}

}  // namespace dsl
