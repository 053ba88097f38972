// Processes of MPI as one device. What includes this links dsl::mpi.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include <dsl/exec/processes.hpp>
#include <dsl/mem/timeout.hpp>

namespace dsl {

namespace detail {

template <class Explicit> inline constexpr bool is_included<header::mpi, Explicit> = true;

/// Where processes of a communicator wait for each other, no longer than some seconds. The first process counts who has come, and
/// tells the others.
class mpi_meetings {
 public:
  /// Tags of its messages, and of others on the same communicator.
  enum message { came, verdict, left, bytes };

  /// It keeps the communicator, and never ends: what was sent may come at any time.
  explicit mpi_meetings(MPI_Comm processes) : all_(processes) {
    MPI_Comm_rank(all_, &rank_);
    MPI_Comm_size(all_, &size_);
    told_.resize(static_cast<std::size_t>(size_));
  }

  /// Returns when all processes have called it. Throws device_error where one does not call it in time, and always from then on.
  void meet() {
    if (missing_.empty()) rank_ == 0 ? lead() : follow();
    if (!missing_.empty()) throw_missing(missing_, seconds_);
  }
  /// Waits until bytes of the user's have come, of processes that have all met. Where one stops on the way the program ends: it
  /// is not known what has yet to be written to.
  void finish(MPI_Request& transfer) const {
    if (poll(seconds_, [&] { return is_complete(transfer); })) return;
    std::fputs("dsl: a process stopped while bytes came from it\n", stderr);
    MPI_Abort(all_, 1);
  }

 private:
  void lead() {
    std::vector<MPI_Request> others(static_cast<std::size_t>(size_ - 1));
    for (int p = 1; p < size_; ++p) MPI_Irecv(nullptr, 0, MPI_BYTE, p, came, all_, &others[static_cast<std::size_t>(p - 1)]);
    const bool have_come = poll(seconds_, [&] {
      int done = 0;
      MPI_Testall(size_ - 1, others.data(), &done, MPI_STATUSES_IGNORE);
      return done != 0;
    });
    for (int p = 1; p < size_; ++p) {
      int has_left = 0;
      MPI_Iprobe(p, left, all_, &has_left, MPI_STATUS_IGNORE);
      if (has_left != 0 || (!have_come && !is_complete(others[static_cast<std::size_t>(p - 1)]))) missing_.push_back(p);
    }
    for (int p = 1; p < size_; ++p) send(p, verdict, missing_);
  }
  // The first process may have come just before it would have been late, and then waits for others as long.
  void follow() {
    send(0, came, {});
    MPI_Request answer = MPI_REQUEST_NULL;
    MPI_Status status;
    int missing = 0;
    MPI_Irecv(told_.data(), size_, MPI_INT, 0, verdict, all_, &answer);
    if (poll(2 * seconds_, [&] { return is_complete(answer, &status); })) {
      MPI_Get_count(&status, MPI_INT, &missing);
      missing_.assign(told_.begin(), told_.begin() + missing);
    } else {
      send(0, left, {});
      missing_ = {0};
    }
  }

  // What is sent stays as it is.
  void send(int process, message what, const std::vector<int>& numbers) const {
    MPI_Request sent = MPI_REQUEST_NULL;
    MPI_Isend(numbers.data(), static_cast<int>(numbers.size()), MPI_INT, process, what, all_, &sent);
    MPI_Request_free(&sent);
  }
  static bool is_complete(MPI_Request& request, MPI_Status* status = MPI_STATUS_IGNORE) {
    int done = 0;
    MPI_Test(&request, &done, status);
    return done != 0;
  }
  // False where so many seconds pass before it is done. It soon leaves the processor to others.
  template <class Test>
  static bool poll(double seconds, const Test& is_done) {
    using clock = std::chrono::steady_clock;
    const auto end = clock::now() + std::chrono::duration<double>(seconds);
    for (int tries = 0; !is_done(); ++tries) {
      if (tries < 1000) {
        std::this_thread::yield();
      } else if (clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      } else {
        return false;
      }
    }
    return true;
  }

  const MPI_Comm all_;
  const double seconds_ = seconds_to_wait_for_processes();
  int rank_ = 0, size_ = 1;
  std::vector<int> told_, missing_;
};

/// The processes of a communicator, whose copy it owns. MPI's own handler ends the program where MPI fails.
class mpi_group final : public process_group {
 public:
  explicit mpi_group(MPI_Comm processes) {
    MPI_Comm_dup(processes, &all_);
    MPI_Comm_rank(all_, &rank_);
    MPI_Comm_size(all_, &size_);
    meetings_ = new mpi_meetings(all_);
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void all_gather(void* all, const std::size_t* bytes) override {
    if (size_ == 1) return;
    meetings_->meet();
    std::size_t sum = 0;
    for (int p = 0; p < size_; ++p) sum += bytes[p];
    if (sum > INT_MAX) return broadcast_all(static_cast<unsigned char*>(all), bytes);
    std::vector<int> counts, places;
    for (int p = 0; p < size_; ++p) {
      places.push_back(p == 0 ? 0 : places.back() + counts.back());
      counts.push_back(static_cast<int>(bytes[p]));
    }
    MPI_Request gathered = MPI_REQUEST_NULL;
    MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts.data(), places.data(), MPI_BYTE, all_, &gathered);
    meetings_->finish(gathered);
  }
  void exchange(const std::vector<process_message>& sent, const std::vector<process_message>& received) override {
    meetings_->meet();
    std::vector<MPI_Request> open;
    const int tag = mpi_meetings::bytes;
    for (const process_message& m : received)
      each_piece(m, [&](void* at, int size) { MPI_Irecv(at, size, MPI_BYTE, m.process, tag, all_, &open.emplace_back()); });
    for (const process_message& m : sent)
      each_piece(m, [&](void* at, int size) { MPI_Isend(at, size, MPI_BYTE, m.process, tag, all_, &open.emplace_back()); });
    for (MPI_Request& each : open) meetings_->finish(each);
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
      each_piece({at, bytes[p], p}, [&](void* piece, int length) {
        MPI_Request sent = MPI_REQUEST_NULL;
        MPI_Ibcast(piece, length, MPI_BYTE, p, all_, &sent);
        meetings_->finish(sent);
      });
  }
  template <class Call>
  static void each_piece(const process_message& m, const Call& call) {
    constexpr std::size_t most = std::size_t{1} << 30;
    for (std::size_t done = 0; done < m.bytes; done += most)
      call(static_cast<unsigned char*>(m.at) + done, static_cast<int>(std::min(most, m.bytes - done)));
  }

  MPI_Comm all_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  mpi_meetings* meetings_;  // which lives on
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
/// called by all processes of the communicator, it waits for them. Where a process does not come to what all do together within
/// DSL_TIMEOUT seconds (600 without it), that throws device_error. Throws device_error: for GPUs where the library was built
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
