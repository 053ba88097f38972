// The CUDA Array Interface, imported and exported, on the devices that are this machine's memory;
// runtime_calls_test tests the streams.
#include <complex>
#include <memory>

#include <dsl/cuda_array_interface.hpp>

#include "../on_device.hpp"

namespace {

struct array_interface : on_device {};
INSTANTIATE_TEST_SUITE_P(all, array_interface, testing::Values("host", "sim"),
                         [](const auto& name) { return std::string(name.param); });

TEST_P(array_interface, says_what_an_array_is) {
  dsl::array<float, 2> x = dsl::zeros<float>(3, 4);
  const dsl::cuda_array_interface all = dsl::to_cuda_array_interface(x);
  EXPECT_EQ(all.rank, 2);
  EXPECT_EQ(all.shape[0], 3);
  EXPECT_EQ(all.shape[1], 4);
  EXPECT_FALSE(all.has_strides);
  EXPECT_STREQ(all.typestr, "<f4");
  EXPECT_EQ(all.data, x.data());
  EXPECT_FALSE(all.is_read_only);
  EXPECT_EQ(all.stream, 0u);
  EXPECT_EQ(all.version, 3);
  const dsl::cuda_array_interface turned =
      dsl::to_cuda_array_interface(dsl::transpose(x)(dsl::slice(1, 3)));
  EXPECT_TRUE(turned.has_strides);
  EXPECT_EQ(turned.strides[0], 4);
  EXPECT_EQ(turned.strides[1], 16);
  EXPECT_EQ(turned.data, x.data() + 1);
  EXPECT_TRUE(dsl::to_cuda_array_interface(std::as_const(x)).is_read_only);
  EXPECT_STREQ(dsl::to_cuda_array_interface(dsl::array<bool>(1)(dsl::slice())).typestr, "|b1");
  EXPECT_STREQ(
      dsl::to_cuda_array_interface(dsl::array<std::complex<double>>(1)(dsl::slice())).typestr,
      "<c16");
  EXPECT_EQ(dsl::to_cuda_array_interface(x(dsl::slice(0, 0))).data, nullptr);
  EXPECT_THROW(dsl::to_cuda_array_interface(dsl::array<dsl::bfloat16>(1)(dsl::slice())),
               dsl::value_error);
  dsl::array<float> none;
  EXPECT_THROW(dsl::to_cuda_array_interface(none), dsl::memory_error);
}

TEST_P(array_interface, is_used_in_place) {
  auto values = std::make_shared<std::vector<float>>(24);
  for (std::size_t i = 0; i < values->size(); ++i) (*values)[i] = static_cast<float>(i);
  dsl::cuda_array_interface given{
      .rank = 2, .shape = {2, 3}, .typestr = "<f4", .data = values->data()};
  {
    const auto m = dsl::from_cuda_array_interface<float, 2>(given, values);
    EXPECT_EQ(values.use_count(), 2);
    EXPECT_EQ(m.copy_to_host(), (std::vector<float>{0, 1, 2, 3, 4, 5}));
    m = 2 * m;
    EXPECT_EQ((*values)[5], 10);
  }
  EXPECT_EQ(values.use_count(), 1);
  given.has_strides = true;
  given.strides[0] = 8;
  given.strides[1] = 32;
  EXPECT_EQ((dsl::from_cuda_array_interface<float, 2>(given).copy_to_host()),
            (std::vector<float>{0, 8, 16, 4, 10, 18}));
  const auto again = dsl::from_cuda_array_interface<float, 2>(
      dsl::to_cuda_array_interface(dsl::from_cuda_array_interface<float, 2>(given)));
  EXPECT_EQ(again.strides(), (dsl::extents<2>{2, 8}));
}

TEST_P(array_interface, what_is_wrong) {
  std::vector<float> values(6);
  const dsl::cuda_array_interface right{
      .rank = 1, .shape = {6}, .typestr = "<f4", .data = values.data()};
  const auto with = [&](auto change) {
    dsl::cuda_array_interface wrong = right;
    change(wrong);
    (void)dsl::from_cuda_array_interface<float>(wrong);
  };
  with([](auto&) {});
  EXPECT_THROW(with([](auto& i) { i.typestr[0] = '>'; }), dsl::value_error);
  EXPECT_THROW(with([](auto& i) { i.typestr[2] = '8'; }), dsl::value_error);
  EXPECT_THROW(with([](auto& i) { std::fill_n(i.typestr, 8, 'f'); }), dsl::value_error);
  EXPECT_THROW(with([](auto& i) { i.rank = 2; }), dsl::shape_error);
  EXPECT_THROW(with([](auto& i) { i.shape[0] = -1; }), dsl::shape_error);
  EXPECT_THROW(with([](auto& i) { i.has_strides = true, i.strides[0] = 6; }), dsl::shape_error);
  EXPECT_THROW(with([](auto& i) { i.has_strides = true; }),
               dsl::shape_error);  // stride 0 in a target
  EXPECT_THROW(with([](auto& i) { i.is_read_only = true; }), dsl::value_error);
  EXPECT_THROW(with([](auto& i) { i.version = 4; }), dsl::value_error);
  EXPECT_THROW(with([](auto& i) { i.data = nullptr; }), dsl::memory_error);
  dsl::cuda_array_interface stretched = right;
  stretched.is_read_only = stretched.has_strides = true;
  EXPECT_EQ(dsl::from_cuda_array_interface<const float>(stretched).copy_to_host(),
            std::vector<float>(6));
}

}  // namespace
