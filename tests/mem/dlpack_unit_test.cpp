// DLPack, imported and exported, on the devices that are this machine's memory; tests/python uses
// the libraries' own tensors, also on GPUs.
#include "../on_device.hpp"

#include <array>
#include <complex>
#include <string>

#include <dsl/dlpack.hpp>

namespace {

using legacy = dsl::dlpack::managed_tensor;
using versioned = dsl::dlpack::managed_tensor_versioned;

// DLPack's own header has these names, with its own structures.
struct other_tensor {
  void* data;
  dsl::dlpack::device device;
  int ndim;
  dsl::dlpack::data_type dtype;
  std::int64_t *shape, *strides;
  std::uint64_t byte_offset;
};
struct DLManagedTensor {
  other_tensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor*);
};

// A tensor over memory of the test's, which counts its deletions.
struct producer {
  std::vector<float> data = std::vector<float>(12);
  std::array<std::int64_t, 2> shape{3, 4}, strides{4, 1};
  int deleted = 0;
  versioned tensor{
      {1, 0}, this, [](versioned* t) { ++static_cast<producer*>(t->manager_ctx)->deleted; }, 0, {}};

  producer() {
    for (std::size_t i = 0; i != data.size(); ++i) data[i] = static_cast<float>(i);
    tensor.dl_tensor = {data.data(), {1, 0}, 2, {2, 32, 1}, shape.data(), strides.data(), 0};
  }
};

struct dlpack : on_device {};
INSTANTIATE_TEST_SUITE_P(all, dlpack, testing::Values("host", "sim"),
                         [](const auto& name) { return std::string(name.param); });

TEST_P(dlpack, a_tensor_is_used_in_place_and_deleted_with_the_last_view) {
  producer p;
  {
    std::optional<dsl::view<float, 2>> last;
    {
      const auto m = dsl::from_dlpack<float, 2>(&p.tensor);
      EXPECT_EQ(m.where(), dsl::device::current());
      EXPECT_EQ(m.data(), p.data.data());
      last.emplace(m);
      m = 2 * m;
      EXPECT_EQ(p.data[11], 22);
    }
    const dsl::view<const float, 2> kept = *last;
    EXPECT_EQ(p.deleted, 0);
    EXPECT_EQ(dsl::eval(dsl::sum(kept)).value(), 132);
  }
  EXPECT_EQ(p.deleted, 1);
}

TEST_P(dlpack, strides_offsets_and_missing_strides_are_read) {
  producer p;
  p.tensor.dl_tensor.byte_offset = 11 * sizeof(float);
  p.strides = {-4, -1};
  EXPECT_EQ((dsl::from_dlpack<const float, 2>(&p.tensor).copy_to_host()),
            (std::vector<float>{11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}));
  producer rows;
  rows.tensor.dl_tensor.strides = nullptr;
  EXPECT_EQ((dsl::from_dlpack<const float, 2>(&rows.tensor).copy_to_host()), rows.data);
  producer stretched;
  stretched.strides = {0, 1};
  EXPECT_EQ((dsl::from_dlpack<const float, 2>(&stretched.tensor).copy_to_host()),
            (std::vector<float>{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}));
  producer empty;
  empty.shape = {0, 4};
  empty.tensor.dl_tensor.data = nullptr;
  EXPECT_EQ((dsl::from_dlpack<float, 2>(&empty.tensor).size()), 0);
  producer single;
  single.tensor.dl_tensor.ndim = 0;
  EXPECT_EQ((dsl::from_dlpack<const float, 0>(&single.tensor).copy_to_host()),
            (std::vector<float>{0}));
}

TEST_P(dlpack, what_does_not_fit_is_an_error_and_leaves_the_tensor_to_the_caller) {
  producer p;
  const auto refused = [&p](const auto& from, const std::string& why) {
    try {
      from();
      ADD_FAILURE() << "not refused: " << why;
    } catch (const dsl::error& e) {
      EXPECT_NE(std::string(e.what()).find(why), std::string::npos) << e.what();
    }
    EXPECT_EQ(p.deleted, 0);
  };
  refused([&] { dsl::from_dlpack<double, 2>(&p.tensor); },
          "a DLPack tensor of float32 as a view of float64");
  refused([&] { dsl::from_dlpack<float, 1>(&p.tensor); },
          "a DLPack tensor of rank 2 as a view of rank 1");
  p.tensor.flags = 1;
  refused([&] { dsl::from_dlpack<float, 2>(&p.tensor); }, "may only be read");
  p.tensor.flags = 0;
  p.strides = {0, 1};
  refused([&] { dsl::from_dlpack<float, 2>(&p.tensor); }, "same place");
  p.strides = {4, 1};
  p.tensor.dl_tensor.byte_offset = 2;
  refused([&] { dsl::from_dlpack<float, 2>(&p.tensor); }, "no multiple of 4");
  p.tensor.dl_tensor.byte_offset = 0;
  p.tensor.dl_tensor.dtype.lanes = 4;
  refused([&] { dsl::from_dlpack<float, 2>(&p.tensor); }, "4 lanes");
  p.tensor.dl_tensor.dtype = {7, 8, 1};
  refused([&] { dsl::from_dlpack<float, 2>(&p.tensor); }, "type code 7");
  p.tensor.dl_tensor.dtype = {2, 32, 1};
  p.tensor.dl_tensor.device = {8, 0};
  refused([&] { dsl::from_dlpack<float, 2>(&p.tensor); }, "neither host nor CUDA");
  p.tensor.dl_tensor.device = {1, 0};
  p.tensor.dl_tensor.ndim = 9;
  refused([&] { dsl::from_dlpack<float, 2>(&p.tensor); }, "rank 9");
  p.tensor.dl_tensor.ndim = 2;
  p.tensor.version.major = 2;
  refused([&] { dsl::from_dlpack<float, 2>(&p.tensor); }, "version 2");
}

TEST_P(dlpack, arrays_are_given_away_with_their_memory) {
  legacy* t = nullptr;
  {
    dsl::array<std::int16_t, 2> m = dsl::reshape(dsl::arange<std::int16_t>(12), 3, 4);
    t = dsl::to_dlpack<legacy>(m.view()(dsl::slice(), dsl::slice(dsl::end, dsl::end, -2)));
  }
  const auto& d = t->dl_tensor;
  EXPECT_EQ(d.ndim, 2);
  EXPECT_EQ((std::array{d.shape[0], d.shape[1], d.strides[0], d.strides[1]}),
            (std::array<std::int64_t, 4>{3, 2, 4, -2}));
  EXPECT_EQ((std::array<int, 3>{d.dtype.code, d.dtype.bits, d.dtype.lanes}),
            (std::array{0, 16, 1}));
  EXPECT_EQ(d.device.device_type, 1);
  EXPECT_EQ(static_cast<const std::int16_t*>(d.data)[4 - 2], 5);
  // Exported and imported again, by the structure of another header.
  const auto back = dsl::from_dlpack<std::int16_t, 2>(reinterpret_cast<DLManagedTensor*>(t));
  EXPECT_EQ(back.copy_to_host(), (std::vector<std::int16_t>{3, 1, 7, 5, 11, 9}));
}

TEST_P(dlpack, const_elements_are_marked) {
  const auto x = dsl::ones<float>(3);
  versioned* const t = dsl::to_dlpack(x);
  EXPECT_EQ(t->flags, 1u);
  EXPECT_EQ(t->version.major, 1u);
  EXPECT_THROW((dsl::from_dlpack<float, 1>(t)), dsl::value_error);
  t->deleter(t);
  EXPECT_THROW(dsl::to_dlpack<legacy>(x), dsl::value_error);
  dsl::array<float> none;
  EXPECT_THROW(dsl::to_dlpack(none), dsl::memory_error);
}

template <class T>
void expect_type(int code) {
  dsl::array<T> x(1);
  versioned* const t = dsl::to_dlpack(x);
  EXPECT_EQ(t->dl_tensor.dtype.code, code);
  EXPECT_EQ(t->dl_tensor.dtype.bits, 8 * sizeof(T));
  EXPECT_EQ((dsl::from_dlpack<T, 1>(t).data()), x.data());
}
TEST_P(dlpack, every_dtype_has_a_type_code) {
  expect_type<bool>(6);
  expect_type<std::int8_t>(0);
  expect_type<std::int64_t>(0);
  expect_type<std::uint32_t>(1);
  expect_type<dsl::half>(2);
  expect_type<dsl::bfloat16>(4);
  expect_type<double>(2);
  expect_type<std::complex<float>>(5);
  expect_type<std::complex<double>>(5);
}

}  // namespace
