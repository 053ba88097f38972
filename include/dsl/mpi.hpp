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

#include <dsl/exec/processes/processes.hpp>
#include <dsl/ir/program.hpp>
#include <dsl/mem/timeout.hpp>

namespace dsl {

namespace detail {

template <class Explicit> inline constexpr bool is_included<header::mpi, Explicit> = true;

/// What a process is about to do with the others: if all do the same, `same` is equal in all of
/// them, and the sum of `balance` 0.
struct meeting { std::uint64_t same, balance; };

/// Where processes of a communicator wait for each other, no longer than some seconds, and find out
/// whether they do the same. The first process counts who has come, and tells the others.
class mpi_meetings {
 public:
  /// Tags of its messages, and of others on the same communicator.
  enum message { came, verdict, left, bytes };

  /// It keeps the communicator, and never ends: what was sent may come at any time.
  explicit mpi_meetings(MPI_Comm processes) : all_(processes) {
    MPI_Comm_rank(all_, &rank_);
    MPI_Comm_size(all_, &size_);
    told_.resize(static_cast<std::size_t>(size_) + 1);
    here_.resize(static_cast<std::size_t>(size_));
  }

  /// Returns when all processes have called it for the same. Throws device_error where one does not
  /// in time, or calls it for something else, and always from then on.
  void meet(const meeting& own) {
    if (failed_.empty()) {
      here_[static_cast<std::size_t>(rank_)] = own;
      rank_ == 0 ? lead() : follow();
    }
    if (failed_.empty()) return;
    const std::vector<int> who(failed_.begin() + 1, failed_.end());
    if (failed_[0] == differs) throw_different(who);
    throw_missing(who, seconds_);
  }
  /// Waits until bytes of the user's have come, of processes that have all met. Where one stops on
  /// the way the program ends: it is not known what has yet to be written to.
  void finish(MPI_Request& transfer) const {
    if (poll(seconds_, [&] { return is_complete(transfer); })) return;
    std::fputs("dsl: a process stopped while bytes came from it\n", stderr);
    MPI_Abort(all_, 1);
  }

 private:
  enum failure {
    is_missing,
    differs
  };  // which of it comes first in a verdict, and then the processes

  void lead() {
    std::vector<MPI_Request> others(static_cast<std::size_t>(size_ - 1));
    for (int p = 1; p < size_; ++p)
      MPI_Irecv(&here_[static_cast<std::size_t>(p)], sizeof(meeting), MPI_BYTE, p, came, all_,
                &others[static_cast<std::size_t>(p - 1)]);
    const bool have_come = poll(seconds_, [&] {
      int done = 0;
      MPI_Testall(size_ - 1, others.data(), &done, MPI_STATUSES_IGNORE);
      return done != 0;
    });
    std::vector<int> missing{is_missing}, different{differs};
    std::uint64_t balance = here_[0].balance;
    for (int p = 1; p < size_; ++p) {
      int has_left = 0;
      MPI_Iprobe(p, left, all_, &has_left, MPI_STATUS_IGNORE);
      const meeting& other = here_[static_cast<std::size_t>(p)];
      if (has_left != 0 || (!have_come && !is_complete(others[static_cast<std::size_t>(p - 1)])))
        missing.push_back(p);
      else if (other.same != here_[0].same) different.push_back(p);
      balance += other.balance;
    }
    if (missing.size() > 1) failed_ = std::move(missing);
    else if (different.size() > 1 || balance != 0) failed_ = std::move(different);
    for (int p = 1; p < size_; ++p) send(p, verdict, failed_.data(), failed_.size() * sizeof(int));
  }
  // The first process may have come just before it would have been late, and then waits for others
  // as long.
  void follow() {
    send(0, came, &here_[static_cast<std::size_t>(rank_)], sizeof(meeting));
    MPI_Request answer = MPI_REQUEST_NULL;
    MPI_Status status;
    int size = 0;
    MPI_Irecv(told_.data(), static_cast<int>(told_.size() * sizeof(int)), MPI_BYTE, 0, verdict,
              all_, &answer);
    if (poll(2 * seconds_, [&] { return is_complete(answer, &status); })) {
      MPI_Get_count(&status, MPI_BYTE, &size);
      failed_.assign(told_.begin(), told_.begin() + size / static_cast<int>(sizeof(int)));
    } else {
      send(0, left, nullptr, 0);
      failed_ = {is_missing, 0};
    }
  }

  // What is sent stays as it is.
  void send(int process, message what, const void* at, std::size_t size) const {
    MPI_Request sent = MPI_REQUEST_NULL;
    MPI_Isend(at, static_cast<int>(size), MPI_BYTE, process, what, all_, &sent);
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
  std::vector<meeting> here_;
  std::vector<int> told_, failed_;  // a verdict: nothing, or a failure
};

/// The processes of a communicator, whose copy it owns. MPI's own handler ends the program where
/// MPI fails.
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
    std::size_t sum = 0;
    word_key same{statement};
    for (int p = 0; p < size_; ++p) {
      sum += bytes[p];
      same.add(bytes[p]);
    }
    meetings_->meet({same.value, 0});
    if (sum > INT_MAX) return broadcast_all(static_cast<unsigned char*>(all), bytes);
    std::vector<int> counts, places;
    for (int p = 0; p < size_; ++p) {
      places.push_back(p == 0 ? 0 : places.back() + counts.back());
      counts.push_back(static_cast<int>(bytes[p]));
    }
    MPI_Request gathered = MPI_REQUEST_NULL;
    MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts.data(), places.data(), MPI_BYTE,
                    all_, &gathered);
    meetings_->finish(gathered);
  }
  void exchange(const std::vector<process_message>& sent,
                const std::vector<process_message>& received) override {
    word_key same{statement};
    same.add(~std::uint64_t{0});  // no number of bytes
    meetings_->meet({same.value, numbers_of(sent, true) - numbers_of(received, false)});
    std::vector<MPI_Request> open;
    const int tag = mpi_meetings::bytes;
    for (const process_message& m : received)
      each_piece(m, [&](void* at, int size) {
        MPI_Irecv(at, size, MPI_BYTE, m.process, tag, all_, &open.emplace_back());
      });
    for (const process_message& m : sent)
      each_piece(m, [&](void* at, int size) {
        MPI_Isend(at, size, MPI_BYTE, m.process, tag, all_, &open.emplace_back());
      });
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
  // The sum of a number for each message: of the two processes, its place among theirs, and its
  // bytes.
  std::uint64_t numbers_of(const std::vector<process_message>& messages, bool are_sent) const {
    std::uint64_t sum = 0;
    std::vector<std::uint64_t> before(static_cast<std::size_t>(size_));
    for (const process_message& m : messages) {
      word_key number{static_cast<std::uint64_t>(are_sent ? rank_ : m.process)};
      number.add(static_cast<std::uint64_t>(are_sent ? m.process : rank_));
      number.add(before[static_cast<std::size_t>(m.process)]++);
      number.add(m.bytes);
      sum += number.value;
    }
    return sum;
  }
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
      call(static_cast<unsigned char*>(m.at) + done,
           static_cast<int>(std::min(most, m.bytes - done)));
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

/// The processes of a communicator as one device, of which each has `own`: the host, the simulator
/// or a GPU, of one kind in all of them. Arrays on it have their global shape. Each process holds
/// its rows of the outermost axis (`local`) and computes those, so all processes run the same
/// statements on them in the same order, from one thread at a time. Made once, after MPI_Init;
/// called by all processes of the communicator, it waits for them. Where a process does not come to
/// what all do together within DSL_TIMEOUT seconds (600 without it), or comes with another
/// statement, that throws device_error. Throws device_error: for GPUs where the library was built
/// without NCCL, and where NCCL cannot join them, as two processes with one GPU.
inline device mesh(MPI_Comm processes, device own) {
  return detail::mesh_of_processes(detail::group_of(processes), own);
}
/// Each has its current device; where that is the first GPU, the first process of a machine has its
/// first one, the second its second, and so on.
inline device mesh(MPI_Comm processes) {
  auto group = detail::group_of(processes);
  const device own = detail::own_device(group->number_on_machine());
  return detail::mesh_of_processes(std::move(group), own);
}

}  // namespace dsl
