// Views of memory that the library does not own.
#include <array>
#include <complex>
#include <memory>
#include <span>
#include <tuple>

#include "../on_device.hpp"
#include "../spanned.hpp"

namespace {

using dsl::view;

// Foreign memory of a device: an address, and the values there.
template <class T>
struct raw {
  explicit raw(const std::vector<T>& values) : owner(dsl::to_device(values)), at(owner.data()) {}
  std::vector<T> values() const { return owner.copy_to_host(); }
  dsl::array<T> owner;
  T* at;
};
std::vector<float> counted(int n, float first = 0) {
  std::vector<float> v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = first + static_cast<float>(i);
  return v;
}

// Like thrust::device_vector: data() returns an object that holds a pointer.
template <class T>
struct wrapped_pointer {
  T* pointer;
  T* get() const { return pointer; }
  T& operator*() const { return *pointer; }
};
template <class T>
struct wrapping {
  T* first;
  std::size_t count;
  wrapped_pointer<T> data() { return {first}; }
  wrapped_pointer<const T> data() const { return {first}; }
  std::size_t size() const { return count; }
};

template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const dsl::error& e) {
    return e.what();
  }
  return "no error";
}

using foreign = on_device;
ON_EVERY_DEVICE(foreign);

TEST_P(foreign, memory_is_used_in_place) {
  for (const std::int64_t n : sizes()) {
    const auto x = random_floats(n), y = random_floats(n, -2, 2, 2);
    const raw<float> a(x), b(y);
    view in(const_cast<const float*>(a.at), n);
    view out(b.at, n);
    static_assert(std::is_same_v<decltype(in), view<const float, 1>> &&
                  std::is_same_v<decltype(out), view<float, 1>>);
    EXPECT_EQ(out.where(), dsl::device::current());
    out = 2 * in + out;
    const auto z = b.values();
    for (std::size_t i = 0; i < z.size(); ++i) ASSERT_EQ(z[i], 2 * x[i] + y[i]) << i << " of " << n;
  }
}

TEST_P(foreign, extents_and_strides) {
  const raw<float> memory(counted(24));
  const view m(memory.at, {2, 3});
  static_assert(std::is_same_v<decltype(m), const view<float, 2>>);
  EXPECT_EQ(m.copy_to_host(), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  const std::int64_t columns = 3;
  EXPECT_EQ(view(memory.at + 1, {std::int64_t{2}, columns}, {12, 4}).copy_to_host(),
            (std::vector<float>{1, 5, 9, 13, 17, 21}));
  EXPECT_EQ(view(memory.at + 23, {2, 2}, {-6, -1}, dsl::device::current()).copy_to_host(),
            (std::vector<float>{23, 22, 17, 16}));
  EXPECT_EQ(view(memory.at, std::array{2, 2, 1}, std::array{1, 2, 0}).copy_to_host(),
            (std::vector<float>{0, 2, 1, 3}));
  EXPECT_EQ(view(memory.at, 3, 5).copy_to_host(), (std::vector<float>{0, 5, 10}));
  // A literal 0 is an extent or a stride, not a device.
  const float* const to_read = memory.at + 1;
  EXPECT_EQ(view(to_read, 4, 0).copy_to_host(), (std::vector<float>{1, 1, 1, 1}));
  EXPECT_EQ(view(to_read, {2, 2}, {0, 0}, dsl::device::current()).copy_to_host(),
            (std::vector<float>{1, 1, 1, 1}));
  EXPECT_EQ(view(to_read, {2}, {0}).copy_to_host(), (std::vector<float>{1, 1}));
  EXPECT_EQ(view(to_read, 0, 0).size(), 0);
  static_assert(!std::is_constructible_v<dsl::device, int> &&
                !std::is_constructible_v<dsl::device, std::nullptr_t>);
  EXPECT_EQ(view(memory.at, 3, name()).where(), dsl::device::current());
  view transposed(memory.at, {3, 4}, {1, 3});
  const dsl::array<float, 2> ones = dsl::full<float>(1, 3, 4);
  transposed = 2 * ones + transposed;
  auto expected = counted(24);
  for (std::size_t i = 0; i < 12; ++i) expected[i] += 2;
  EXPECT_EQ(memory.values(), expected);
}

TEST_P(foreign, targets_that_overlap_operands_in_another_view) {
  constexpr int n = 5000;
  for (const int shift : {1, 3, 4, 64, 1024}) {
    const raw<float> memory(counted(n + shift));
    view front(memory.at, n), back(memory.at + shift, n);
    back = 2 * front + back;
    auto expected = counted(n + shift);
    for (int i = n; i-- > 0;)
      expected[static_cast<std::size_t>(i + shift)] += 2 * static_cast<float>(i);
    EXPECT_EQ(memory.values(), expected) << shift;
  }
  // Operands that overlap; one extends further from the same address.
  const raw<float> operands(counted(n));
  const dsl::array<float> sum = 2 * view(operands.at, n / 2) + view(operands.at, n / 2, 2);
  EXPECT_EQ(sum(n / 2 - 1).value(), 4.f * (n / 2 - 1));
  // An in-place assignment needs no temporary, whichever views express it.
  const raw<float> memory(counted(n));
  view in(memory.at, n), out(memory.at, n);
  out = 2 * in + out;
  EXPECT_EQ(memory.values()[n - 1], 3.f * (n - 1));
}

TEST_P(foreign, targets_with_elements_in_common) {
  const raw<float> memory(counted(64));
  const raw<double> doubles(std::vector<double>(64));
  view all(memory.at, 32), odd(memory.at + 1, 16, 2), even(memory.at, 16, 2),
      third(memory.at + 2, 16, 3);
  const auto both = [](const auto& a, const auto& b) {
    dsl::tie(a, b) = dsl::vectorize([](auto x) { return std::tuple{2 * x, x + 1}; })(1.f);
  };
  const char* const says = "two targets have an element in common";
  EXPECT_NE(error_of([&] { both(even, third); }).find(says), std::string::npos);
  EXPECT_NE(error_of([&] { both(all, view(memory.at + 31, 32)); }).find(says), std::string::npos);
  both(odd, even);
  EXPECT_EQ(view(memory.at, 4).copy_to_host(), (std::vector<float>{2, 2, 2, 2}));
  // Elements of two sizes: a float that is half of a double.
  auto* const halves = reinterpret_cast<float*>(doubles.at);
  EXPECT_NE(error_of([&] { both(view(halves + 3, 2, 2), view(doubles.at, 2)); }).find(says),
            std::string::npos);
  EXPECT_NE(error_of([&] { both(view(doubles.at, 2), view(halves + 3, 2, 2)); }).find(says),
            std::string::npos);
  both(view(halves, 4, 4),
       view(doubles.at + 1, 4, 2));  // every second double, and the float before each
}

TEST_P(foreign, addresses) {
  const raw<float> memory(counted(1025 + 3));
  for (const int first : {1, 2, 3}) {
    view x(memory.at + first, 1025);
    dsl::array<float> y = 2 * x + x;
    const auto values = y.copy_to_host();
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(values[i], 3 * static_cast<float>(static_cast<int>(i) + first));
  }
  auto* const odd = reinterpret_cast<float*>(reinterpret_cast<char*>(memory.at) + 2);
  EXPECT_EQ(error_of([&] { (void)view(odd, 4); }),
            "a view of memory at an address that is no multiple of 4, the bytes of an element");
  auto* const late = reinterpret_cast<std::complex<float>*>(memory.at + 1);
  EXPECT_NE(error_of([&] { (void)view(late, 4); }).find("no multiple of 8"), std::string::npos);
  EXPECT_EQ(error_of([] { (void)view(static_cast<float*>(nullptr), 4); }),
            "a view of memory at a null pointer");
  EXPECT_EQ(error_of([&] { (void)view(memory.at, {4, 4}, {1, 1}); }),
            "a view whose strides bring elements to the same place; make it a view of const "
            "elements, to read");
  EXPECT_EQ(view(const_cast<const float*>(memory.at), {3, 3}, {1, 1}).copy_to_host(),
            (std::vector<float>{0, 1, 2, 1, 2, 3, 2, 3, 4}));
  EXPECT_THROW((void)view(memory.at, -1), dsl::shape_error);
  EXPECT_THROW((void)view(memory.at, 2, std::int64_t{1} << 62), dsl::shape_error);
  EXPECT_THROW((void)view(memory.at, {std::int64_t{1} << 40, std::int64_t{1} << 40}),
               dsl::shape_error);
}

TEST_P(foreign, no_elements) {
  view none(static_cast<float*>(nullptr), 0);
  none = 2 * none + none;
  EXPECT_TRUE(none.copy_to_host().empty());
  view rows(static_cast<float*>(nullptr), {0, 5});
  EXPECT_EQ(rows.extent(1), 5);
}

TEST_P(foreign, owners) {
  const raw<float> memory(counted(8));
  auto owner = std::make_shared<int>(0);
  {
    std::optional<view<float>> x;
    x.emplace(memory.at, 8, 1, dsl::device::current(), owner);
    const view<float> copy = (*x)(dsl::slice(2, 4));
    x.reset();
    EXPECT_EQ(owner.use_count(), 2);
    EXPECT_EQ(copy.copy_to_host(), (std::vector<float>{2, 3}));
  }
  EXPECT_EQ(owner.use_count(), 1);
}

TEST_P(foreign, what_has_data_and_size) {
  const raw<float> memory(counted(8));
  wrapping<float> wraps{memory.at, 8};
  view x(wraps);
  static_assert(std::is_same_v<decltype(x), view<float, 1>>);
  static_assert(std::is_same_v<decltype(view(std::as_const(wraps))), view<const float, 1>>);
  static_assert(std::is_same_v<decltype(view(std::declval<std::span<const double>>())),
                               view<const double, 1>>);
  x = 2 * x + x;
  EXPECT_EQ(memory.values()[7], 21);
  const spanned<float, 2> left{memory.at + 1, {2, 3}, {{1, 2}, true}},
      none{memory.at, {2, 2}, {{1, 2}, false}};
  view m(left);
  static_assert(std::is_same_v<decltype(m), view<float, 2>>);
  EXPECT_EQ(m.copy_to_host(), (std::vector<float>{3, 9, 15, 6, 12, 18}));
  EXPECT_EQ(error_of([&] { (void)view(none); }),
            "a view of an mdspan whose mapping has no strides");
}

TEST_P(foreign, memory_of_the_host) {
  std::vector<float> values = counted(100);
  EXPECT_EQ(dsl::device_of(values.data()),
            dsl::device(GetParam() == std::string("sim") ? name() : "host"));
  if (GetParam() == std::string("cuda")) return;
  view x(values);
  x = 2 * x + x;
  EXPECT_EQ(values[99], 297);
  std::array<float, 3> few{1, 2, 3};
  view(std::span(few)) = 2 * x(dsl::slice(0, 3)) + x(dsl::slice(0, 3));
  EXPECT_EQ(few, (std::array<float, 3>{0, 9, 18}));
  const float* const first = values.data();
  view taken(std::move(values));  // the view owns the values from now on
  EXPECT_EQ(taken.data(), first);
  EXPECT_EQ(taken(99).value(), 297);
}

}  // namespace
