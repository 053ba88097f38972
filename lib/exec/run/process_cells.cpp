#include "exec/run/process_cells.hpp"

#include "mem/stream.hpp"

namespace dsl::detail {

bool process_cells::are_shared() {
  if (!is_known_ && mesh_.gpus() != nullptr) share(std::size_t{1} << 16);
  is_known_ = true;
  return memory_.first != nullptr;
}

void process_cells::share(std::size_t bytes) {
  memory_ = mesh_.gpus()->share(bytes);
  bytes_ = bytes;
  numbers_.begin();
}

// A kernel that has started here writes cells that a kernel of another process may still read.
// These are the cells of the step before, in the other one of two sets, if steps are consecutive
// and all kernels use the same layout. In other cases the processes meet first.
exchange_cells process_cells::take(std::size_t bytes, std::int64_t layout, std::int64_t steps,
                                   bool may_end_early) {
  const stream on = stream::current(mesh_.own);
  stream_state& s = stream_state::of(on);
  std::size_t wanted = bytes_;
  while (wanted < bytes) wanted *= 2;
  if (wanted > bytes_) share(wanted);
  const bool is_full = numbers_.are_used_up(static_cast<unsigned>(steps));
  // Waits, on the stream, until all processes' kernels have ended; none starts its next one before.
  const auto meet = [&] {
    const buffer_ref words =
        buffer_ref::allocate(16 * static_cast<std::size_t>(mesh_.size()), mesh_.own);
    mesh_.all_gather(words, words.data(),
                     std::vector<std::size_t>(static_cast<std::size_t>(mesh_.size()), 16));
  };
  if (is_full || ended_early_ || layout != layout_) meet();
  if (is_full) {
    s.on.set_zero(memory_.first + mesh_.rank() * memory_.step, bytes_, s.index, s.native);
    numbers_.begin();
    meet();
  }
  layout_ = layout;
  ended_early_ = may_end_early;
  return {memory_.first, static_cast<std::size_t>(memory_.step), bytes_,
          numbers_.take(static_cast<unsigned>(steps))};
}

}  // namespace dsl::detail
