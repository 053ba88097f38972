// Tagged exchange between blocks through memory: the step's number in every word, and the numbers
// of a loop's steps.
#include <gtest/gtest.h>

#include <dsl/exec/team/tagged.hpp>

#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "exec/run/step_numbers.hpp"

namespace {

using dsl::detail::quad;
using dsl::detail::step_numbers;
using dsl::detail::tagged;
using dsl::detail::tagged_bytes;

template <int Bytes> struct bytes_of { unsigned char at[Bytes]; };

template <int Bytes> bytes_of<Bytes> random_bytes(std::mt19937& engine) {
  bytes_of<Bytes> value;
  for (unsigned char& b : value.at) b = static_cast<unsigned char>(engine());
  return value;
}

unsigned& part_of(quad& word, int i) {
  return i == 0 ? word.x : i == 1 ? word.y : i == 2 ? word.z : word.w;
}

template <int Bytes> void a_value_comes_back() {
  using cell = tagged<bytes_of<Bytes>>;
  static_assert(sizeof(cell) == tagged_bytes(Bytes) && sizeof(cell) % 16 == 0 &&
                Bytes <= cell::words * 12 && Bytes > cell::words * 12 - 12);
  std::mt19937 engine(Bytes);
  for (const unsigned tag : {1u, 2u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
    const auto value = random_bytes<Bytes>(engine);
    const cell made(value, tag);
    EXPECT_EQ(made.tag(), tag);
    const auto back = made.value();
    EXPECT_EQ(std::memcmp(&back, &value, Bytes), 0) << Bytes << " bytes";
  }
  cell cleared;
  std::memset(&cleared, 0, sizeof cleared);
  EXPECT_EQ(cleared.tag(), 0u);
}

// Words arrive one by one: none, some or all of them belong to the new value.
template <int Bytes> void a_value_is_there_when_all_words_are() {
  using cell = tagged<bytes_of<Bytes>>;
  std::mt19937 engine(Bytes);
  const cell before(random_bytes<Bytes>(engine), 7), after(random_bytes<Bytes>(engine), 9);
  for (unsigned come = 0; come < 1u << cell::words; ++come) {
    cell seen;
    for (int i = 0; i < cell::words; ++i)
      seen.word[i] = (come >> i & 1) != 0 ? after.word[i] : before.word[i];
    EXPECT_EQ(seen.tag(), come == 0                       ? 7u
                          : come + 1 == 1u << cell::words ? 9u
                                                          : 0u)
        << Bytes << " bytes, words " << come;
  }
}

// The bits of a word that the value leaves free hold the number too, and are compared: a part of a
// word that was read before the others is detected.
template <int Bytes> void a_part_that_the_value_leaves_is_compared() {
  using cell = tagged<bytes_of<Bytes>>;
  std::mt19937 engine(Bytes);
  const cell before(random_bytes<Bytes>(engine), 7), after(random_bytes<Bytes>(engine), 9);
  for (int i = 0; i < cell::words; ++i)
    for (int part = 0; part < 4; ++part) {
      cell seen = after, old = before;
      part_of(seen.word[i], part) = part_of(old.word[i], part);
      const bool of_value = part < 3 && 3 * i + part < (Bytes + 3) / 4,
                 alone = part == 3 && cell::words == 1 && Bytes > 8;
      EXPECT_EQ(seen.tag(), of_value ? 9u
                            : alone  ? 7u
                                     : 0u)
          << Bytes << " bytes, word " << i << ", part " << part;
    }
}

template <int... Bytes> void for_sizes(std::integer_sequence<int, Bytes...>) {
  (a_value_comes_back<Bytes>(), ...);
  (a_value_is_there_when_all_words_are<Bytes>(), ...);
  (a_part_that_the_value_leaves_is_compared<Bytes>(), ...);
}
TEST(tagged, values_of_any_size) {
  for_sizes(std::integer_sequence<int, 1, 2, 4, 7, 8, 12, 13, 16, 24, 25, 36, 48>{});
}

TEST(step_numbers, never_come_twice_nor_are_zero) {
  constexpr unsigned last = 0xffffffff;
  step_numbers numbers;
  EXPECT_FALSE(numbers.are_used_up(last));
  EXPECT_EQ(numbers.take(5), 1u);
  EXPECT_EQ(numbers.take(1), 6u);
  EXPECT_FALSE(numbers.are_used_up(last - 6));
  EXPECT_TRUE(numbers.are_used_up(last - 5));
  EXPECT_EQ(numbers.take(last - 6), 7u);  // the last one is the last possible number
  EXPECT_TRUE(numbers.are_used_up(1));
  numbers.begin();
  EXPECT_EQ(numbers.take(2), 1u);
  numbers.use_up();
  EXPECT_TRUE(numbers.are_used_up(1));
}

// Blocks of a loop that wait for each other's sums, word by word. The block that continues is
// drawn.
class exchanging_blocks {
 public:
  exchanging_blocks(std::size_t blocks, unsigned seed)
      : cells_(2 * blocks), blocks_(blocks), engine_(seed) {}

  // Launches `steps` steps. Returns whether they completed.
  bool run(std::size_t steps) {
    if (numbers.are_used_up(static_cast<unsigned>(steps))) {
      std::memset(static_cast<void*>(cells_.data()), 0, cells_.size() * sizeof(cell));
      numbers.begin();
    }
    const unsigned first = numbers.take(static_cast<unsigned>(steps));
    ++launch_;
    for (block& b : blocks_) b = block{};
    std::size_t done = 0;
    for (int turns = 0; done < blocks_.size(); ++turns) {
      if (turns > 100'000) return false;
      const std::size_t number = engine_() % blocks_.size();
      block& b = blocks_[number];
      if (b.step == steps) continue;
      go_on(b, number, first + static_cast<unsigned>(b.step));
      if (b.step == steps) ++done;
    }
    return true;
  }
  step_numbers numbers;

 private:
  struct sum { std::uint64_t launch, step, block; };
  using cell = tagged<sum>;
  struct block {
    std::size_t step = 0, reads = 0;  // number of blocks whose sums of the step it has read
    int words = 0;                    // words of its sum written, then words of the next sum read
    bool has_left = false;
    cell seen{};
  };

  void go_on(block& b, std::size_t number, unsigned epoch) {
    cell* const all = dsl::detail::cells_of_exchange<sum>(cells_.data(), epoch,
                                                          static_cast<unsigned>(blocks_.size()));
    if (!b.has_left) {
      const cell mine({launch_, b.step, number}, epoch);
      all[number].word[b.words] = mine.word[b.words];
      if (++b.words == cell::words) {
        b.has_left = true;
        b.words = 0;
      }
      return;
    }
    b.seen.word[b.words] = all[b.reads].word[b.words];
    if (++b.words < cell::words) return;
    b.words = 0;
    if (b.seen.tag() != epoch) return;
    const sum got = b.seen.value();
    EXPECT_EQ(got.launch, launch_);
    EXPECT_EQ(got.step, b.step);
    EXPECT_EQ(got.block, b.reads);
    if (++b.reads < blocks_.size()) return;
    ++b.step;
    b.reads = 0;
    b.has_left = false;
  }

  std::vector<cell> cells_;
  std::vector<block> blocks_;
  std::mt19937 engine_;
  std::uint64_t launch_ = 0;
};

TEST(exchange, blocks_read_the_sums_of_their_own_step) {
  for (const std::size_t blocks : {2, 3, 5}) {
    exchanging_blocks all(blocks, static_cast<unsigned>(blocks));
    for (const std::size_t steps : {1, 2, 1, 7, 20, 3})
      ASSERT_TRUE(all.run(steps)) << blocks << " blocks wait for each other";
    // The numbers wrap, with those of earlier steps still in the memory.
    all.numbers.begin();
    all.numbers.take(0xffffffff - 12);
    for (const std::size_t steps : {5, 3, 4, 1, 2, 30})
      ASSERT_TRUE(all.run(steps)) << blocks << " blocks wait for each other";
    EXPECT_FALSE(testing::Test::HasFailure());
  }
}

}  // namespace
