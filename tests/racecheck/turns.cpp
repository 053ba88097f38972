// Warps that take turns at a table in shared memory, as those of a reduction by key do, and nothing
// else: for racecheck, which then has nothing to find but how a turn is given. `turns WAY [WARPS]`:
//   arrive   the library's turns: the giver arrives at a barrier, and goes on, and the taker waits
//   there aligned  the same by bar.arrive and bar.sync, which ask that a warp's lanes are together
//   meet     giver and taker both wait at the barrier
//   none     nobody waits: a race
// Prints how many entries are wrong; with 1 it says that some are where none may be.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <dsl/exec/team/block_range.hpp>
#include <dsl/exec/team/cuda_team.hpp>

namespace {

constexpr int entries = 64, rounds = 4,
              touched = 8;  // of a lane; how often a warp has its turn; entries of each turn
enum class way { arrive, aligned, meet, none };

DSL_FN std::uint32_t entry_of(int round, int warp, int k) {
  return (static_cast<std::uint32_t>(round * 131 + warp * 17 + k) * 2654435761u >> 16) % entries;
}
// Does not commute: the result depends on the order of the turns.
DSL_FN std::uint32_t joined(std::uint32_t before, std::uint32_t value) {
  return before * 3 + value;
}

__device__ void await_turn(way how, const dsl::detail::device_team& team) {
  if (how == way::arrive) team.await_turn();
  if (how == way::aligned) asm volatile("bar.sync %0, 64;" ::"r"(team.warp() + 1) : "memory");
  if (how == way::meet) asm volatile("barrier.cta.sync %0, 64;" ::"r"(team.warp() + 1) : "memory");
}
__device__ void pass_turn(way how, const dsl::detail::device_team& team, int warp) {
  if (how == way::arrive) team.pass_turn(warp);
  if (how == way::aligned) asm volatile("bar.arrive %0, 64;" ::"r"(warp + 1) : "memory");
  if (how == way::meet) asm volatile("barrier.cta.sync %0, 64;" ::"r"(warp + 1) : "memory");
}

__global__ void take_turns(way how, std::uint32_t* results, const std::uint32_t* values) {
  __shared__ std::uint32_t table[entries * 32];
  const dsl::detail::block_range range{};
  const dsl::detail::device_team team = dsl::detail::team_of_launch(range);
  const int warps = team.threads() / 32, lane = team.lane();
  for (int i = team.thread(); i < entries * 32; i += team.threads()) table[i] = 1;
  team.synchronize();
  for (int round = 0; round < rounds; ++round) {
    const std::uint32_t value = values[(round * warps + team.warp()) * 32 + lane];
    if (round > 0 || team.warp() > 0) await_turn(how, team);
    for (int k = 0; k < touched; ++k) {
      std::uint32_t* const at = table + entry_of(round, team.warp(), k) * 32 + lane;
      *at = joined(*at, value + static_cast<std::uint32_t>(k));
    }
    pass_turn(how, team, (team.warp() + 1) % warps);
  }
  if (team.warp() == 0) await_turn(how, team);  // the last turn, which nobody uses
  team.synchronize();
  for (int i = team.thread(); i < entries * 32; i += team.threads())
    results[team.block() * entries * 32 + i] = table[i];
}

bool succeeds(cudaError_t e) {
  if (e != cudaSuccess) std::fprintf(stderr, "%s\n", cudaGetErrorString(e));
  return e == cudaSuccess;
}

}  // namespace

int main(int count, char** argument) {
  const char* const names[] = {"arrive", "aligned", "meet", "none"};
  int how = 0;
  while (how < 4 && (count < 2 || std::strcmp(argument[1], names[how]) != 0)) ++how;
  const int warps = count > 2 ? std::atoi(argument[2]) : 15, blocks = 1;
  if (how == 4 || warps < 2 || warps > 15) {
    std::fprintf(stderr, "usage: turns arrive|aligned|meet|none [warps: 2 to 15]\n");
    return 2;
  }
  std::vector<std::uint32_t> values(static_cast<std::size_t>(rounds * warps * 32)),
      results(std::size_t{entries} * 32 * blocks);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<std::uint32_t>(i) * 747796405u >> 7;
  std::uint32_t *on_gpu = nullptr, *from = nullptr;
  if (!succeeds(cudaMalloc(&on_gpu, results.size() * 4)) ||
      !succeeds(cudaMalloc(&from, values.size() * 4)) ||
      !succeeds(cudaMemcpy(from, values.data(), values.size() * 4, cudaMemcpyHostToDevice)))
    return 2;
  take_turns<<<blocks, 32 * warps>>>(static_cast<way>(how), on_gpu, from);
  if (!succeeds(cudaGetLastError()) ||
      !succeeds(cudaMemcpy(results.data(), on_gpu, results.size() * 4, cudaMemcpyDeviceToHost)))
    return 2;

  std::vector<std::uint32_t> table(std::size_t{entries} * 32, 1);
  for (int turn = 0; turn < rounds * warps; ++turn) {
    for (int k = 0; k < touched; ++k) {
      for (int lane = 0; lane < 32; ++lane) {
        std::uint32_t& at =
            table[entry_of(turn / warps, turn % warps, k) * 32 + static_cast<std::size_t>(lane)];
        at = joined(
            at, values[static_cast<std::size_t>(turn * 32 + lane)] + static_cast<std::uint32_t>(k));
      }
    }
  }
  int wrong = 0;
  for (std::size_t i = 0; i < results.size(); ++i) wrong += results[i] != table[i % table.size()];
  std::printf("%s, %d warps: %d of %zu entries are wrong\n", names[how], warps, wrong,
              results.size());
  return wrong > 0 && static_cast<way>(how) != way::none ? 1 : 0;
}
