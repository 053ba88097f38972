// Arrays, scalars, their lifetimes and their errors.
#include "../on_device.hpp"

#include <complex>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <thread>

namespace {

struct array : on_device {};
ON_EVERY_DEVICE(array);

TEST_P(array, fills) {
  const auto a = dsl::full<double>(0.1, 1000);
  dsl::array<double> b(1000);
  b = 0.1;
  EXPECT_EQ(a.copy_to_host(), std::vector<double>(1000, 0.1));
  EXPECT_EQ(b.copy_to_host(), a.copy_to_host());
  EXPECT_EQ(dsl::zeros<int>(2, 3).copy_to_host(), std::vector<int>(6, 0));
  EXPECT_EQ(dsl::ones<double>(2).copy_to_host(), std::vector<double>(2, 1.0));
}

TEST_P(array, copies_are_deep_and_moves_keep_the_memory) {
  auto a = dsl::to_device(std::vector<int>{1, 2, 3});
  dsl::array<int> b = a;
  b += 1;
  EXPECT_EQ(a.copy_to_host(), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(b.copy_to_host(), (std::vector<int>{2, 3, 4}));
  const int* const data = b.data();
  dsl::array<int> c = std::move(b);
  EXPECT_EQ(c.data(), data);
  a = c;
  EXPECT_EQ(a.copy_to_host(), (std::vector<int>{2, 3, 4}));
  a = dsl::array<int>(5);  // another extent, so new memory
  EXPECT_EQ(a.size(), 5);
}

// Copying into existing memory is an assignment; moving transfers ownership. Every pair of shapes
// that fits for expressions fits for arrays.
TEST_P(array, copies_into_memory_follow_the_rules_of_assignment) {
  std::vector<dsl::extents<2>> shapes;
  for (const std::int64_t rows : {0, 1, 3})
    for (const std::int64_t columns : {0, 1, 2, 4}) shapes.push_back({rows, columns});
  for (const auto& to : shapes)
    for (const auto& from : shapes) {
      dsl::array<int, 2> a(to), wanted(to), b(from);
      a = 5;
      wanted = 5;
      b = dsl::reshape(dsl::arange<int>(b.size()), from);
      bool fits = true, fitted = true;
      try {
        wanted = -(-b);
      } catch (const dsl::shape_error&) {
        fits = false;
      }
      const int* const data = a.data();
      try {
        a = b;
      } catch (const dsl::shape_error&) {
        fitted = false;
      }
      EXPECT_EQ(fitted, fits);
      EXPECT_EQ(a.extents(), to);
      EXPECT_EQ(a.data(), data);
      EXPECT_EQ(a.copy_to_host(), wanted.copy_to_host());
      a = std::move(b);
      EXPECT_EQ(a.extents(), from);
    }
  dsl::array<int> none, a = dsl::ones<int>(3);
  EXPECT_THROW(a = none, dsl::memory_error);
  EXPECT_EQ(a.copy_to_host(), std::vector<int>(3, 1));
  none = a;
  EXPECT_EQ(none.copy_to_host(), std::vector<int>(3, 1));
  EXPECT_NE(none.data(), a.data());
}

TEST_P(array, is_copied_from_another_device) {
  const dsl::array<int> a = dsl::arange<int>(5);
  const dsl::device_guard guard(dsl::device::current() == dsl::device("host") ? "sim" : "host");
  auto b = dsl::zeros<int>(5), other = dsl::zeros<int>(4);
  b = a;
  EXPECT_EQ(b.where(), dsl::device::current());
  EXPECT_EQ(b.copy_to_host(), (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_THROW(other = a, dsl::error);
}

TEST_P(array, without_memory_it_takes_the_shape_of_its_own_rank) {
  dsl::array<float> a;
  EXPECT_THROW(a = dsl::scalar<float>(3), dsl::shape_error);
  EXPECT_THROW(a = 3.0f, dsl::memory_error);
  dsl::array<float, 2> m;
  EXPECT_THROW(m = dsl::ones<float>(3), dsl::shape_error);
  EXPECT_FALSE(a.has_memory() || m.has_memory());
  m = dsl::full<float>(2, 1, 3);
  EXPECT_EQ(m.extents(), (dsl::extents<2>{1, 3}));
}

// A moved-from array cannot be read; as a target it receives memory.
TEST_P(array, is_made_of_one_of_a_narrower_dtype) {
  const dsl::array<std::int16_t, 2> m =
      dsl::reshape(dsl::to_device(std::vector<std::int16_t>{-3, 1, 30'000, 0, 7, 9}), 2, 3);
  const dsl::array<double, 2> wide = m;
  EXPECT_EQ(wide.extents(), m.extents());
  EXPECT_EQ(wide.copy_to_host(), (std::vector<double>{-3, 1, 30'000, 0, 7, 9}));
}

TEST_P(array, moved_from) {
  dsl::scalar<double> s = 2.0, t = std::move(s);
  EXPECT_FALSE(s.has_memory());
  EXPECT_THROW(s.value(), dsl::memory_error);
  EXPECT_THROW(dsl::scalar<double>{s}, dsl::memory_error);
  EXPECT_THROW(t = s, dsl::memory_error);
  EXPECT_THROW((t = s + 1), dsl::memory_error);
  auto x = dsl::ones<double>(3);
  EXPECT_THROW(x = s, dsl::memory_error);
  EXPECT_THROW(x(0) = s, dsl::memory_error);
  EXPECT_EQ(t.value(), 2.0);
  EXPECT_EQ(x.copy_to_host(), std::vector<double>(3, 1));
  const auto again = [&](auto&& give, double wanted) {
    t = std::move(s);
    give();
    EXPECT_EQ(s.value(), wanted);
    EXPECT_EQ(s.where(), dsl::device::current());
  };
  s = 4.0;
  EXPECT_EQ(s.value(), 4.0);
  const dsl::scalar<double> other = 5.0;
  again([&] { s = other; }, 5);
  again([&] { s = other + 1; }, 6);
  again([&] { s = dsl::sum(x); }, 3);
  again([&] { s = x(1); }, 1);
  again([&] { dsl::tie(s) = dsl::sum(x); }, 3);

  dsl::array<double> y = std::move(x);
  EXPECT_EQ(x.extents(), (dsl::extents<1>{0}));
  EXPECT_EQ(x.size(), 0);
  EXPECT_TRUE(x.copy_to_host().empty());
  EXPECT_THROW(y = x + 1, dsl::memory_error);
  EXPECT_THROW(x(0), dsl::memory_error);
  EXPECT_THROW(x = 1.0, dsl::memory_error);
  EXPECT_THROW(x.view().copy_to_host(), dsl::memory_error);
  EXPECT_THROW((dsl::view<double, 0>().copy_to_host()), dsl::memory_error);
  EXPECT_THROW(dsl::element_reference<double>(dsl::view<double, 0>()).value(), dsl::memory_error);
  EXPECT_THROW(dsl::element_reference<double>(dsl::view<double, 0>()) = 1.0, dsl::memory_error);
  x = y + 1;
  EXPECT_EQ(x.copy_to_host(), std::vector<double>(3, 2));
}

// Scalars moved, copied and assigned in any order, compared with optional values.
TEST_P(array, scalars_in_any_order) {
  std::mt19937 random(7);
  std::vector<dsl::scalar<float>> have(4);
  std::vector<std::optional<float>> want(4, 0.0f);
  for (int round = 0; round < 400; ++round) {
    const std::size_t to = random() % 4, from = random() % 4;
    const auto value = static_cast<float>(random() % 100);
    bool threw = false;
    const auto kind = random() % 5;
    try {
      switch (kind) {
        case 0: have[to] = value; break;
        case 1: have[to] = have[from]; break;
        case 2: have[to] = have[from] + 1; break;
        case 3: dsl::tie(have[to]) = have[from] + 1; break;
        default:
          if (to != from) have[to] = std::move(have[from]);
      }
    } catch (const dsl::memory_error&) {
      threw = true;
    }
    EXPECT_EQ(threw, !want[from] && (kind == 2 || kind == 3 || (kind == 1 && to != from)));
    if (kind == 0) want[to] = value;
    else if (kind == 4) want[to] = to != from ? std::exchange(want[from], std::nullopt) : want[to];
    else if (want[from]) want[to] = *want[from] + (kind == 1 ? 0.0f : 1.0f);
    for (std::size_t k = 0; k < have.size(); ++k) {
      ASSERT_EQ(have[k].has_memory(), want[k].has_value());
      EXPECT_EQ(want[k] ? have[k].value() : 0, want[k].value_or(0)) << round;
    }
  }
}

TEST_P(array, what_the_host_has_no_room_for) {
  const auto x = dsl::ones<float>(1);
  const auto z = dsl::ones<std::complex<double>>(1);
  const auto b = dsl::full<bool>(true, 1);
  EXPECT_THROW(dsl::broadcast_to(x, std::int64_t{1} << 61).copy_to_host(), dsl::memory_error);
  EXPECT_THROW(dsl::broadcast_to(z, std::int64_t{1} << 60).copy_to_host(),
               dsl::memory_error);  // 2^64 bytes
  EXPECT_THROW(dsl::save_npy("/dev/shm/none.npy", dsl::broadcast_to(z, std::int64_t{1} << 60)),
               dsl::memory_error);
#if !defined(__SANITIZE_ADDRESS__)  // which ends the program for such a large request
  EXPECT_THROW(dsl::broadcast_to(x, std::int64_t{1} << 50).copy_to_host(), dsl::memory_error);
  EXPECT_THROW(dsl::broadcast_to(b, std::int64_t{1} << 50).copy_to_host(), dsl::memory_error);
  EXPECT_THROW(dsl::save_npy("/dev/shm/none.npy", dsl::broadcast_to(x, std::int64_t{1} << 50)),
               dsl::memory_error);
#endif
}

TEST_P(array, an_expression_outlives_its_operands) {
  const auto e = [] {
    const auto a = dsl::to_device(std::vector<double>{1, 2, 3});
    return 2 * a + dsl::scalar<double>(1.0);
  }();
  const auto reshaped = dsl::reshape(dsl::full<double>(9.0, 4), 2, 2);
  dsl::array<double> out = e;
  dsl::array<double, 2> four = reshaped + 0;
  EXPECT_EQ(out.copy_to_host(), (std::vector<double>{3, 5, 7}));
  EXPECT_EQ(four.copy_to_host(), std::vector<double>(4, 9.0));
}

TEST_P(array, many_arrays_die_while_work_is_queued) {
  auto total = dsl::zeros<double>(10000);
  for (int k = 0; k < 200; ++k) {
    const auto part = dsl::full<double>(double(k), 10000);
    total += part * 2;
  }
  for (const double x : total.copy_to_host()) ASSERT_EQ(x, 199.0 * 200);
}

TEST_P(array, host_threads_with_streams_of_their_own) {
  const auto shared = dsl::full<double>(1.0, 100000);
  std::vector<double> sums(4);
  const dsl::device where = dsl::device::current();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const dsl::device_guard guard(where);
      const dsl::stream mine;
      const dsl::stream_guard on(mine);
      dsl::array<double> x = shared * t;
      for (int k = 0; k < 20; ++k) x = x + shared;
      dsl::scalar<double> s = dsl::sum(x);
      sums[static_cast<std::size_t>(t)] = s.value();
    });
  for (auto& t : threads) t.join();
  for (int t = 0; t < 4; ++t) EXPECT_EQ(sums[static_cast<std::size_t>(t)], 100000.0 * (t + 20));
}

TEST_P(array, one_stream_waits_for_another) {
  const dsl::stream first, second;
  for (int k = 0; k < 20; ++k) {
    dsl::array<double> a;
    {
      const dsl::stream_guard on(first);
      a = dsl::full<double>(1.0, 1 << 18);
      for (int i = 0; i < 5; ++i) a = a * 2;
    }
    const dsl::stream_guard on(second);
    dsl::scalar<double> s = dsl::sum(a);
    ASSERT_EQ(s.value(), 32.0 * (1 << 18));
  }
}

TEST_P(array, scalars_hold_one_value) {
  dsl::scalar<float> s = 2.5f, zero;
  dsl::scalar<float> t = s;
  s = 3.0f;
  EXPECT_EQ(t.value(), 2.5f);
  EXPECT_EQ(zero.value(), 0.0f);
  t = s * t + 1;
  EXPECT_EQ(t.value(), 8.5f);
}

template <class Error, class F>
std::string message(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST_P(array, eval_copies_what_is_evaluated_already) {
  dsl::array<int> x = dsl::arange<int>(4);
  dsl::scalar<int> s = 7;
  auto all = dsl::eval(x), part = dsl::eval(x(dsl::slice(dsl::end, 1, -1)));
  auto one = dsl::eval(s), element = dsl::eval(x(2));
  static_assert(std::is_same_v<decltype(all), dsl::array<int>> &&
                std::is_same_v<decltype(one), dsl::scalar<int>> &&
                std::is_same_v<decltype(element), dsl::scalar<int>>);
  x = 0;
  s = 0;
  EXPECT_EQ(all.copy_to_host(), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(part.copy_to_host(), (std::vector<int>{3, 2}));
  EXPECT_EQ(one.value(), 7);
  EXPECT_EQ(element.value(), 2);
}

TEST_P(array, single_values_take_compound_assignment) {
  dsl::array<int> x = dsl::arange<int>(4);
  dsl::scalar<int> s = 7;
  s += x(3);
  s *= 2;
  x(1) -= s;
  x(2) <<= 3;
  EXPECT_EQ(s.value(), 20);
  EXPECT_EQ(x.copy_to_host(), (std::vector<int>{0, -19, 16, 3}));
}

TEST_P(array, shape_errors_name_the_shapes_and_the_expression_and_change_nothing) {
  auto a = dsl::ones<float>(3), b = dsl::ones<float>(4);
  EXPECT_EQ(message<dsl::shape_error>([&] { a = exp(a) + 2 * b; }),
            "shapes do not broadcast: (3), (4) in exp(a) + 2 * b");
  EXPECT_EQ(message<dsl::shape_error>([&] { a = 2 * b; }),
            "an expression of shape (4) cannot be assigned to shape (3): 2 * a");
  EXPECT_EQ(a.copy_to_host(), std::vector<float>(3, 1.0f));
  EXPECT_NE(message<dsl::shape_error>([&] {
              dsl::reshape(a, 2, 2);
            }).find("cannot reshape (3) to (2, 2)"),
            std::string::npos);
  EXPECT_NE(message<dsl::shape_error>([&] { dsl::zeros<float>(-1); }).find("negative"),
            std::string::npos);
  EXPECT_NE(message<dsl::shape_error>([&] {
              dsl::array<double, 3>(1ll << 31, 1ll << 31, 8);
            }).find("too large"),
            std::string::npos);
  std::vector<float> small(2);
  EXPECT_NE(
      message<dsl::shape_error>([&] { a.copy_to_host(small); }).find("2 elements were given for 3"),
      std::string::npos);
}

TEST_P(array, out_of_memory_says_how_much_was_asked_for) {
  if (dsl::device::current().kind != dsl::backend::cuda) GTEST_SKIP() << "the host overcommits";
  const std::string what = message<dsl::memory_error>([] { dsl::array<char>(1ll << 50); });
  EXPECT_NE(what.find("asked for 1.13e+03 TB"), std::string::npos) << what;
  EXPECT_NE(what.find("are free"), std::string::npos) << what;
  EXPECT_EQ(dsl::ones<int>(1).copy_to_host()[0], 1);
}

TEST(device, names) {
  EXPECT_EQ(dsl::device("host"), dsl::device(dsl::backend::host));
  EXPECT_EQ(dsl::device("cuda:3"), dsl::device(dsl::backend::cuda, 3));
  EXPECT_EQ(std::string(dsl::device(dsl::backend::cuda, 1).name()), "cuda:1");
  for (const char* bad : {"gpu", "", "cuda:", "cuda:x", "Host"})
    EXPECT_NE(
        message<dsl::device_error>([&] { dsl::device{bad}; }).find("valid are \"host\", \"sim\""),
        std::string::npos)
        << bad;
  const std::string none = message<dsl::device_error>([] { dsl::device_guard g("cuda:97"); });
  EXPECT_NE(none.find("cuda:97"), std::string::npos) << none;
}

TEST(device, that_is_not_there) {
  const dsl::device none(dsl::backend::cuda, 97), negative(dsl::backend::cuda, -1);
  EXPECT_THROW(dsl::device{static_cast<const char*>(nullptr)}, dsl::device_error);
  for (const auto& d : {none, negative}) {
    EXPECT_THROW(dsl::array<float>(dsl::extents<1>{3}, d), dsl::device_error);
    EXPECT_THROW(dsl::scalar<float>(1, d), dsl::device_error);
    EXPECT_THROW(dsl::stream{d}, dsl::device_error);
    EXPECT_THROW(dsl::stream::current(d), dsl::device_error);
    EXPECT_THROW(dsl::properties(d), dsl::device_error);
    EXPECT_THROW(d.synchronize(), dsl::device_error);
    EXPECT_THROW(dsl::device_guard{d}, dsl::device_error);
  }
}

TEST(device, name_compares_with_strings) {
  const dsl::text name = dsl::device("sim").name();
  EXPECT_TRUE(name == "sim" && "sim" == name && name != "host" && name != "simulator" &&
              name != "si");
  EXPECT_TRUE(name == std::string("sim") && std::string("host") != name &&
              name == std::string_view("simulator").substr(0, 3));
  EXPECT_TRUE(name == dsl::device("sim").name() && name != dsl::device("host").name() &&
              dsl::text() == "" && dsl::text(nullptr) == "");
  EXPECT_FALSE(name == static_cast<const char*>(nullptr));
}

// In a child process: the variable is read once.
TEST(device_DeathTest, instruction_set_must_be_one) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run_with = [](const char* level) {
    setenv("DSL_SIMD", level, 1);
    const dsl::device_guard guard("host");
    try {
      const auto x = dsl::ones<float>(3);
      dsl::array<float> y = x + x;
      std::fputs(y(2) == 2.0f ? "is 2" : "is wrong", stderr);
    } catch (const dsl::device_error& e) {
      std::fputs(e.what(), stderr);
    }
    std::exit(0);
  };
#if defined(DSL_SIMD)
  constexpr int compiled = DSL_SIMD;
#else
  constexpr int compiled = 0;
#endif
  EXPECT_EXIT(run_with(""), testing::ExitedWithCode(0), "is 2");
  for (int level = 0; level < 3; ++level)
    EXPECT_EXIT(run_with(std::to_string(level).c_str()), testing::ExitedWithCode(0),
                level < compiled ? "compiled with -DDSL_SIMD" : "is 2")
        << level;
  for (const char* level : {"avx2", "3", "-1", "01", " 1"})
    EXPECT_EXIT(run_with(level), testing::ExitedWithCode(0), "DSL_SIMD is .*valid are 0") << level;
}

TEST(device, operands_must_share_one) {
  const dsl::device_guard host("host");
  const auto a = dsl::ones<float>(3);
  const dsl::device_guard sim("sim");
  const auto b = dsl::ones<float>(3);
  EXPECT_NE(message<dsl::device_error>([&] { dsl::array<float> c = a + b; }).find("host and sim"),
            std::string::npos);
}

}  // namespace
