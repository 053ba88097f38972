// Measures products of sparse matrices with vectors and matrices, and entries that are sorted to
// rows. Peers: cuSPARSE.
#include <memory>
#include <random>

#include <dsl/random.hpp>
#include <dsl/sparse.hpp>

#include "check.cuh"
#include "works.hpp"
#if defined(DSL_BENCH_CUSPARSE)
#include "cusparse.cuh"
#endif

namespace bench {
namespace {

/// Rows of `least` to `most` entries in columns at random. One row in `every` has a thousand times
/// as many; 0: none.
struct row_lengths {
  std::int64_t rows;
  int least, most, every;
};

template <class T>
std::shared_ptr<const dsl::sparse::csr<T>> matrix_of(const row_lengths& of) {
  std::mt19937 bits(5);
  std::vector<std::int32_t> offsets{0};
  for (std::int64_t i = 0; i < of.rows; ++i) {
    const int length =
        of.least + static_cast<int>(bits() % static_cast<unsigned>(of.most - of.least + 1));
    const bool is_long = of.every > 0 && i % of.every == of.every / 2;
    offsets.push_back(offsets.back() + (is_long ? 1000 : 1) * length);
  }
  const std::int64_t entries = offsets.back();
  const dsl::random::key k{7};
  return std::make_shared<const dsl::sparse::csr<T>>(
      of.rows, of.rows, dsl::random::uniform<T>(k.fold(0), entries),
      dsl::random::integers<std::int32_t>(k.fold(1), 0, static_cast<std::int32_t>(of.rows),
                                          entries),
      dsl::to_device(offsets));
}

#if defined(DSL_BENCH_CUSPARSE)
/// cuSPARSE's product of a matrix with a vector (columns == 1) or a matrix of rows.
template <class T>
class product_by_cusparse {
 public:
  product_by_cusparse(std::shared_ptr<const dsl::sparse::csr<T>> a, const T* x, T* y,
                      std::int64_t columns)
      : a_(std::move(a)), columns_(columns) {
    const std::int64_t rows = a_->extent(0), width = a_->extent(1);
    // The interface has no pointers to constants.
    const auto writable = [](const auto& of) {
      return const_cast<std::remove_const_t<std::remove_pointer_t<decltype(of.data())>>*>(
          of.data());
    };
    check(cusparseCreate(&handle_));
    check(cusparseSetStream(handle_, stream()));
    check(cusparseCreateCsr(&matrix_, rows, width, a_->entries(), writable(a_->offsets()),
                            writable(a_->columns()), writable(a_->values()), CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type));
    std::size_t bytes = 0;
    if (columns == 1) {
      check(cusparseCreateDnVec(&x_, width, const_cast<T*>(x), type));
      check(cusparseCreateDnVec(&y_, rows, y, type));
      check(cusparseSpMV_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_,
                                    &zero_, y_, type, CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
    } else {
      check(cusparseCreateDnMat(&xs_, width, columns, columns, const_cast<T*>(x), type,
                                CUSPARSE_ORDER_ROW));
      check(cusparseCreateDnMat(&ys_, rows, columns, columns, y, type, CUSPARSE_ORDER_ROW));
      check(cusparseSpMM_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                    CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, xs_, &zero_,
                                    ys_, type, CUSPARSE_SPMM_CSR_ALG2, &bytes));
    }
    memory_ = dsl::array<unsigned char>(static_cast<std::int64_t>(bytes) + 1);
  }
  ~product_by_cusparse() {
    if (columns_ == 1) {
      cusparseDestroyDnVec(x_);
      cusparseDestroyDnVec(y_);
    } else {
      cusparseDestroyDnMat(xs_);
      cusparseDestroyDnMat(ys_);
    }
    cusparseDestroySpMat(matrix_);
    cusparseDestroy(handle_);
  }
  product_by_cusparse(const product_by_cusparse&) = delete;
  product_by_cusparse& operator=(const product_by_cusparse&) = delete;

  void run() {
    if (columns_ == 1)
      check(cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_, y_,
                         type, CUSPARSE_SPMV_ALG_DEFAULT, memory_.data()));
    else
      check(cusparseSpMM(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE,
                         CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, xs_, &zero_, ys_, type,
                         CUSPARSE_SPMM_CSR_ALG2, memory_.data()));
  }

 private:
  static constexpr cudaDataType type = sizeof(T) == 4 ? CUDA_R_32F : CUDA_R_64F;
  const T one_ = 1, zero_ = 0;
  std::shared_ptr<const dsl::sparse::csr<T>> a_;
  std::int64_t columns_;
  cusparseHandle_t handle_{};
  cusparseSpMatDescr_t matrix_{};
  cusparseDnVecDescr_t x_{}, y_{};
  cusparseDnMatDescr_t xs_{}, ys_{};
  dsl::array<unsigned char> memory_;
};
#endif

// The first row makes the matrix; the others of the same work take it.
template <class T>
void product(const char* name, const row_lengths& of, std::int64_t columns = 1) {
  const auto kept = std::make_shared<std::weak_ptr<const dsl::sparse::csr<T>>>();
  const auto matrix = [=] {
    auto a = kept->lock();
    if (a == nullptr) *kept = a = matrix_of<T>(of);
    return a;
  };
  // The mean length of a row is enough for the bytes: the values and columns of the entries, the
  // offsets, and x and y once.
  const double mean = 0.5 * (of.least + of.most) * (of.every > 0 ? 1 + 999.0 / of.every : 1),
               rows = static_cast<double>(of.rows);
  work w("sparse", dsl::dtype_v<T>, std::to_string(of.rows), name,
         rows * (mean * (sizeof(T) + 4) + 4 + 2 * sizeof(T) * static_cast<double>(columns)));
  w.by("dsl", [=] {
    const auto a = matrix();
    const auto x = operand<T>(slot::a, of.rows * columns);
    const auto y = target<T>(slot::out, of.rows * columns);
    if (columns == 1) return job{[=] { y = dsl::matmul(*a, x); }, y};
    const auto xs = dsl::reshape(x, of.rows, columns);
    auto ys = dsl::reshape(y, of.rows, columns);
    return job{[=]() mutable { ys = dsl::matmul(*a, xs); }, y};
  });
#if defined(DSL_BENCH_CUSPARSE)
  w.by("cuSPARSE", [=] {
    const auto y = target<T>(slot::out, of.rows * columns);
    const auto library = std::make_shared<product_by_cusparse<T>>(
        matrix(), operand<T>(slot::a, of.rows * columns).data(), y.data(), columns);
    return job{[=] { library->run(); }, y};
  });
#endif
}

constexpr std::int64_t n = 1'000'000, entries = 1 << 24;
const rows products([] {
  product<float>("5 to 50 entries a row, times a vector", {n, 5, 50, 0});
  product<double>("5 to 50 entries a row, times a vector", {n, 5, 50, 0});
  product<float>("1 to 9 entries a row, times a vector", {n, 1, 9, 0});
  product<float>("5 to 50 entries a row, some 1000 times as many, times a vector",
                 {n, 5, 50, 10'000});
  product<float>("5 to 50 entries a row, times 8 columns", {n, 5, 50, 0}, 8);

  // Entries in any order become rows.
  work("sparse", dsl::dtype::float32, std::to_string(entries), "from_coo", 20.0 * entries,
       timing::call)
      .by("dsl", [] {
        const dsl::random::key k{7};
        const auto rows = std::make_shared<dsl::array<std::int32_t>>(
            dsl::random::integers<std::int32_t>(k.fold(0), 0, n, entries));
        const auto columns = std::make_shared<dsl::array<std::int32_t>>(
            dsl::random::integers<std::int32_t>(k.fold(1), 0, n, entries));
        const auto values = operand<float>(slot::a, entries);
        const auto count = target<std::int64_t, 0>(slot::out, 1);
        return job{[=] { count = dsl::sparse::from_coo(n, n, *rows, *columns, values).entries(); },
                   count};
      });
});

}  // namespace
}  // namespace bench
