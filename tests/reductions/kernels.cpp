#include "kernels.hpp"

#include "../random_layout.hpp"
#include "exec/statement/statement.hpp"

#include <algorithm>

namespace reduction {

namespace {

std::int64_t product(const shape& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

template <int Rank>
layout anywhere_of(const shape& extents, std::mt19937& engine) {
  dsl::extents<Rank> sizes;
  std::copy(extents.begin(), extents.end(), sizes.begin());
  const random_layout<Rank> drawn(sizes, engine, false);
  return {drawn.first, drawn.size, {drawn.strides.begin(), drawn.strides.end()}};
}

/// The operand's elements in the given layout; the gaps hold values that no reduction should see.
bytes placed(const operand& x, const layout& where) {
  const auto size = static_cast<std::size_t>(dsl::size_of(x.type));
  bytes memory(static_cast<std::size_t>(where.size) * size, 0x7f);
  const std::int64_t n = product(x.extents);
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t rest = i, at = where.first;
    for (std::size_t d = x.extents.size(); d-- > 0; rest /= x.extents[d])
      at += rest % x.extents[d] * where.strides[d];
    std::memcpy(memory.data() + static_cast<std::size_t>(at) * size,
                x.elements.data() + static_cast<std::size_t>(i) * size, size);
  }
  return memory;
}

dsl::detail::operand in_memory(dsl::dtype type, const shape& extents, const layout& where,
                               const dsl::array<std::uint8_t>& memory) {
  dsl::detail::operand o;
  o.kind = dsl::detail::operand_kind::array;
  o.type = type;
  o.rank = static_cast<int>(extents.size());
  o.memory = memory.view().owner().get();
  o.word[0] = reinterpret_cast<std::uintptr_t>(memory.data()) +
              static_cast<std::uintptr_t>(where.first * dsl::size_of(type));
  std::copy(extents.begin(), extents.end(), o.extents);
  std::copy(where.strides.begin(), where.strides.end(), o.strides);
  return o;
}

}  // namespace

layout in_rows(const shape& extents, std::int64_t first) {
  layout made{first, first + product(extents), shape(extents.size())};
  std::int64_t step = 1;
  for (std::size_t d = extents.size(); d-- > 0;) {
    made.strides[d] = step;
    step *= extents[d];
  }
  return made;
}

layout anywhere(const shape& extents, std::mt19937& engine) {
  switch (extents.size()) {
    case 1: return anywhere_of<1>(extents, engine);
    case 2: return anywhere_of<2>(extents, engine);
    case 3: return anywhere_of<3>(extents, engine);
    default: return anywhere_of<4>(extents, engine);
  }
}

std::vector<outcome> run(const dsl::detail::program_code& kernel, const operand& x,
                         const layout& where, const axes& a) {
  const auto memory = stored::to_array<std::uint8_t>(placed(x, where));
  const int rank = static_cast<int>(x.extents.size());
  dsl::detail::reduction_axes reduced{rank, a.along.empty() ? ~0u : 0u};
  for (const int axis : a.along) reduced.axes |= 1u << (axis < 0 ? axis + rank : axis);
  shape extents;
  const auto results = static_cast<std::int64_t>(groups_of(x.extents, a, extents).size());

  std::vector<dsl::detail::operand> operands{in_memory(x.type, x.extents, where, memory)};
  if (kernel.inputs > 1) operands.push_back(dsl::detail::position_operand());
  std::vector<dsl::array<std::uint8_t>> targets;
  for (int i = 0; i < kernel.outputs(); ++i) {
    const dsl::dtype type = kernel.pass.view.type(i);
    targets.emplace_back(results * dsl::size_of(type));
    operands.push_back(in_memory(type, extents, in_rows(extents), targets.back()));
    dsl::detail::align_with_axes(operands.back(), reduced);
  }
  std::vector<outcome> got;
  try {
    dsl::detail::statement all;
    all.add(kernel, operands.data(), {});
    all.assign();
    for (int i = 0; i < kernel.outputs(); ++i)
      got.push_back({false, kernel.pass.view.type(i), extents,
                     targets[static_cast<std::size_t>(i)].copy_to_host()});
  } catch (const dsl::shape_error&) {
    got.assign(static_cast<std::size_t>(kernel.outputs()),
               {.shape_error = true, .type = {}, .extents = {}, .values = {}});
  }
  return got;
}

void compare_layout(const compiled_rows& c, const shape& extents, const layout& where) {
  const operand x{c.type, extents, draw(operand_kind::whole, c.type, product(extents))};
  bool keep = extents.size() % 2 == 0;
  for (std::vector<int> along : axis_sets(static_cast<int>(extents.size()))) {
    keep = !keep;
    const std::vector<outcome> got = run(*c.kernel, x, where, {along, keep});
    shape results;
    const auto groups = groups_of(extents, {along, keep}, results);
    if (!groups.empty() && groups[0].empty() &&
        std::any_of(c.rows.begin(), c.rows.end(),
                    needs_elements)) {  // one without a value stops all
      for (const outcome& each : got) EXPECT_TRUE(each.shape_error);
      continue;
    }
    for (std::size_t i = 0; i < got.size(); ++i)
      if (along.size() < 2 || takes_several_axes(c.rows[i]))
        expect_reduced(c.rows[i], x, {along, keep}, got[i]);
  }
}

void compare_shapes(const compiled_rows& c, const std::vector<shape>& shapes) {
  std::mt19937 engine(1);
  for (const shape& extents : shapes)
    for (const layout& where : {in_rows(extents), in_rows(extents, 1), anywhere(extents, engine)})
      compare_layout(c, extents, where);
}

void compare_sizes(const compiled_rows& c, const std::vector<std::int64_t>& sizes) {
  for (const std::int64_t n : sizes)
    for (int k = 0; k < operand_kinds; ++k) {
      const auto kind = static_cast<operand_kind>(k);
      const pattern p = draw_pattern(kind, c.type, n);
      const operand x{c.type, {n}, elements_of(p)};
      for (const layout& where : {in_rows(x.extents), in_rows(x.extents, 3),
                                  layout{std::max<std::int64_t>(n - 1, 0), n, {-1}}}) {
        const std::vector<outcome> got = run(*c.kernel, x, where, {});
        for (std::size_t i = 0; i < got.size(); ++i)
          if (is_operand_of(c.rows[i], kind)) expect_reduced(c.rows[i], p, got[i]);
      }
    }
}

}  // namespace reduction
