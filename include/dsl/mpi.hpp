// Processes of MPI as one device. Programs that include this link dsl::mpi.
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

/// Identifies what a process is about to do with the others: if all do the same thing, `same` is
/// equal in all of them, and the sum of `balance` is 0.
struct meeting { std::uint64_t same, balance; };

/// Meetings of a communicator's processes: they wait for each other, at most for a timeout, and
/// find out whether they are about to do the same thing. Process 0 collects the arrivals, and tells
/// the others the verdict.
class mpi_meetings {
 public:
  /// Tags of its messages, and of other messages on the same communicator.
  enum message { came, verdict, left, bytes };

  /// Keeps the communicator and is never destroyed: messages may arrive at any time.
  explicit mpi_meetings(MPI_Comm processes) : all_(processes) {
    MPI_Comm_rank(all_, &rank_);
    MPI_Comm_size(all_, &size_);
    told_.resize(static_cast<std::size_t>(size_) + 1);
    here_.resize(static_cast<std::size_t>(size_));
  }

  /// Returns when all processes have called it with the same meeting. Throws device_error if a
  /// process does not call it in time or calls it for something else; then also at every later
  /// call.
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
  /// Waits for a transfer of user data between processes that have all met. If a process stops
  /// during the transfer, the program ends, because MPI may still write to the memory.
  void finish(MPI_Request& transfer) const {
    if (poll(seconds_, [&] { return is_complete(transfer); })) return;
    std::fputs("dsl: a process stopped while bytes came from it\n", stderr);
    MPI_Abort(all_, 1);
  }

 private:
  // The first number of a verdict; the numbers of the processes follow.
  enum failure { is_missing, differs };

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
  // Process 0 may have arrived just before its deadline, and then waits as long for the others.
  // Hence twice the timeout.
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

  // The data must not change until it has been sent.
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
  // Returns false if `seconds` pass before it is done. Soon sleeps between tries.
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
  std::vector<int> told_, failed_;  // a verdict: empty, or a failure
};

/// The processes of a communicator, of which it owns a copy. If MPI fails, MPI's own handler ends
/// the program.
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
    same.add(~std::uint64_t{0});  // differs from every number of bytes
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

  /// Number of processes on the same machine with smaller ranks.
  int number_on_machine() const {
    MPI_Comm here = MPI_COMM_NULL;
    MPI_Comm_split_type(all_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &here);
    int number = 0;
    MPI_Comm_rank(here, &number);
    MPI_Comm_free(&here);
    return number;
  }

 private:
  // The sum of a number for each message, which is made of the two processes, the index of the
  // message between them, and its bytes.
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
  // In pieces, because MPI counts bytes with an int.
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
  mpi_meetings* meetings_;  // is never destroyed
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

/// The processes of a communicator as one device. `own` is the device of each process: the host,
/// the simulator or a GPU, of the same kind in all processes. Arrays on the mesh have their global
/// shape. Each process holds its rows of the outermost axis (`local`) and computes those. So all
/// processes run the same statements on such arrays in the same order, each from one thread at a
/// time.
///
/// Made once, after MPI_Init. Called by all processes of the communicator; it waits for them.
/// Throws device_error for GPUs if the library was built without NCCL, or if NCCL cannot connect
/// them, as two processes with one GPU. Later, work that all processes do together throws
/// device_error if a process does not arrive within DSL_TIMEOUT seconds (600 if unset), or arrives
/// with another statement.
inline device mesh(MPI_Comm processes, device own) {
  return detail::mesh_of_processes(detail::group_of(processes), own);
}
/// The same with each process's current device. If that is the first GPU, process k of a machine
/// takes the machine's GPU k.
inline device mesh(MPI_Comm processes) {
  auto group = detail::group_of(processes);
  const device own = detail::own_device(group->number_on_machine());
  return detail::mesh_of_processes(std::move(group), own);
}

}  // namespace dsl
