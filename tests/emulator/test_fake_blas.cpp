// test_fake_blas.cpp -- tests the fake cuBLAS against a product written once more, element by
// element: transposes, leading dimensions, strides, batches, K = 0, and what it refuses.
#include "tests/emulator/fake_test.h"

static cublasHandle_t new_handle() {
    cublasHandle_t handle = nullptr;
    ck_good(cublasCreate(&handle));
    return handle;
}

// Small whole numbers, so that sums are exact.
static std::vector<float> some(size_t count, int seed) {
    std::vector<float> values(count);
    for (size_t i = 0; i < count; i++) values[i] = (float)((int)(i * 7 + (size_t)seed) % 11 - 5);
    return values;
}

static float *on_device(const std::vector<float> &values) {
    float *data = device_floats(values.size());
    ck_good(cudaMemcpy(data, values.data(), values.size() * 4, cudaMemcpyHostToDevice));
    ck_good(cudaDeviceSynchronize());
    return data;
}

struct Case {
    cublasOperation_t op_a, op_b;
    int m, n, k, lda, ldb, ldc, batches;
    long long stride_a, stride_b, stride_c;
    float alpha, beta;
};

// What C must be, from what it was: by the definition of column-major storage.
static void expect(const Case &t, const std::vector<float> &a, const std::vector<float> &b,
                   std::vector<float> *c) {
    for (int batch = 0; batch < t.batches; batch++) {
        const float *pa = a.data() + batch * t.stride_a, *pb = b.data() + batch * t.stride_b;
        for (int i = 0; i < t.m; i++) {
            for (int j = 0; j < t.n; j++) {
                float sum = 0.0f, *out = c->data() + batch * t.stride_c + i + (long)j * t.ldc;
                for (int l = 0; l < t.k; l++)
                    sum += (t.op_a == CUBLAS_OP_N ? pa[i + l * t.lda] : pa[l + i * t.lda]) *
                           (t.op_b == CUBLAS_OP_N ? pb[l + j * t.ldb] : pb[j + l * t.ldb]);
                *out = t.alpha * sum + (t.beta == 0.0f ? 0.0f : t.beta * *out);
            }
        }
    }
}

static void try_product(cublasHandle_t handle, const Case &t) {
    int columns_a = t.op_a == CUBLAS_OP_N ? t.k : t.m,
        columns_b = t.op_b == CUBLAS_OP_N ? t.n : t.k;
    size_t last = (size_t)(t.batches - 1);
    std::vector<float> a = some(last * (size_t)t.stride_a + (size_t)(t.lda * columns_a) + 1, 1);
    std::vector<float> b = some(last * (size_t)t.stride_b + (size_t)(t.ldb * columns_b) + 1, 2);
    std::vector<float> c = some(last * (size_t)t.stride_c + (size_t)(t.ldc * t.n), 3);
    if (t.beta == 0.0f) // C is not read then
        for (float &value : c) value = NAN;
    float *da = on_device(a), *db = on_device(b), *dc = on_device(c), *once = on_device(c);
    expect(t, a, b, &c);
    ck_good(cublasSgemmStridedBatched(handle, t.op_a, t.op_b, t.m, t.n, t.k, &t.alpha, da, t.lda,
                                      t.stride_a, db, t.ldb, t.stride_b, &t.beta, dc, t.ldc,
                                      t.stride_c, t.batches));
    harness_assert_close(read_floats(dc, c.size()).data(), c.data(), (int64_t)c.size(), 0.0, 0.0,
                         "batch");
    if (t.batches == 1) {
        ck_good(cublasSgemm(handle, t.op_a, t.op_b, t.m, t.n, t.k, &t.alpha, da, t.lda, db, t.ldb,
                            &t.beta, once, t.ldc));
        harness_assert_close(read_floats(once, c.size()).data(), c.data(), (int64_t)c.size(), 0.0,
                             0.0, "one");
    }
    for (float *data : {da, db, dc, once}) ck_good(cudaFree(data));
}

// Every combination of transposes, sizes, gaps between columns and matrices, and factors.
START_TEST(products_are_right) {
    const cublasOperation_t ops[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
    const int sizes[][3] = {{1, 1, 1}, {3, 5, 4}, {17, 2, 33}, {4, 1, 7}, {1, 6, 3}, {3, 2, 0}};
    const float factors[][2] = {{1, 0}, {1, 1}, {2, -3}, {0, 2}, {0, 0}};
    cublasHandle_t handle = new_handle();
    cublasOperation_t op_a = ops[_i % 3], op_b = ops[_i / 3];
    for (auto &size : sizes) {
        int m = size[0], n = size[1], k = size[2];
        for (auto &factor : factors) {
            for (int gap : {0, 3}) {
                int lda = (op_a == CUBLAS_OP_N ? m : k) + gap + 1;
                int ldb = (op_b == CUBLAS_OP_N ? k : n) + gap + 1, ldc = m + gap;
                long long a = gap ? lda * (m + k) : 0, b = gap ? ldb * (n + k) : 0;
                try_product(handle,
                            {op_a, op_b, m, n, k, lda, ldb, ldc, 1, 0, 0, 0, factor[0], factor[1]});
                try_product(handle, {op_a, op_b, m, n, k, lda, ldb, ldc, 3, a, b,
                                     (long long)ldc * n + gap, factor[0], factor[1]});
            }
        }
    }
    ck_good(cublasDestroy(handle));
}
END_TEST

// Heads beside one another in every row, as attention has them: matrices of a batch interlock.
START_TEST(matrices_of_a_batch_may_interlock) {
    cublasHandle_t handle = new_handle();
    try_product(handle, {CUBLAS_OP_N, CUBLAS_OP_N, 3, 4, 5, 6, 10, 6, 2, 3, 5, 3, 1.0f, 0.0f});
}
END_TEST

START_TEST(vectors_are_right) {
    cublasHandle_t handle = new_handle();
    for (cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C}) {
        for (float beta : {0.0f, -2.0f}) {
            int m = 5, n = 3, lda = 6, step_x = 2, step_y = 3;
            bool plain = op == CUBLAS_OP_N;
            int length = plain ? m : n, k = plain ? n : m;
            float alpha = 2.0f;
            std::vector<float> a = some((size_t)(lda * n), 1), x = some((size_t)(k * step_x), 2);
            std::vector<float> y = some((size_t)(length * step_y), 3);
            if (beta == 0.0f)
                for (float &value : y) value = NAN;
            float *da = on_device(a), *dx = on_device(x), *dy = on_device(y);
            for (int i = 0; i < length; i++) {
                float sum = 0.0f, *out = &y[(size_t)(i * step_y)];
                for (int l = 0; l < k; l++)
                    sum += a[(size_t)(plain ? i + l * lda : l + i * lda)] * x[(size_t)(l * step_x)];
                *out = alpha * sum + (beta == 0.0f ? 0.0f : beta * *out);
            }
            ck_good(cublasSgemv(handle, op, m, n, &alpha, da, lda, dx, step_x, &beta, dy, step_y));
            harness_assert_close(read_floats(dy, y.size()).data(), y.data(), (int64_t)y.size(), 0.0,
                                 0.0, "y");
            ck_good(cublasSgemv(handle, op, 0, n, &alpha, da, lda, dx, 1, &beta, dy, 1));
            ck_error(cublasSgemv(handle, op, m, n, &alpha, da, m - 1, dx, 1, &beta, dy, 1),
                     CUBLAS_STATUS_INVALID_VALUE);
            ck_error(cublasSgemv(handle, op, m, n, &alpha, da, lda, dx, 0, &beta, dy, 1),
                     CUBLAS_STATUS_INVALID_VALUE);
        }
    }
}
END_TEST

START_TEST(what_counts_for_nothing_is_not_read) {
    float zero = 0.0f, two = 2.0f, *c = on_device({1.0f, 2.0f}), *nan = device_floats(2);
    cublasHandle_t handle = new_handle();
    ck_good(
        cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 1, 1, &zero, nan, 2, nan, 1, &two, c, 2));
    ck_assert_float_eq(read_floats(c, 2)[1], 4.0f);
    ck_good(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 1, 1, &zero, nullptr, 2, nullptr, 1,
                        &zero, nan, 2));
    ck_assert_float_eq(read_floats(nan, 2)[1], 0.0f);
}
END_TEST

// With n = 0 there is nothing to sum, and y keeps its NaN: a caller must not take gemv for that.
START_TEST(vectors_of_nothing_leave_y) {
    float alpha = 1.0f, beta = 0.0f, *y = device_floats(4);
    ck_good(
        cublasSgemv(new_handle(), CUBLAS_OP_N, 4, 0, &alpha, nullptr, 4, nullptr, 1, &beta, y, 1));
    for (float value : read_floats(y, 4)) ck_assert(isnan(value));
}
END_TEST

START_TEST(wrong_leading_dimensions_are_refused) {
    cublasHandle_t handle = new_handle();
    float *data = device_floats(64), alpha = 1.0f, beta = 0.0f;
    const struct {
        cublasOperation_t op_a, op_b;
        int m, n, k, lda, ldb, ldc;
        const char *words;
    } wrong[] = {
        {CUBLAS_OP_N, CUBLAS_OP_N, 3, 2, 4, 2, 4, 3, "cublasSgemm: A, stored 3 x 4"},
        {CUBLAS_OP_T, CUBLAS_OP_N, 3, 2, 4, 3, 4, 3, "cublasSgemm: A, stored 4 x 3"},
        {CUBLAS_OP_N, CUBLAS_OP_N, 3, 2, 4, 3, 3, 3, "cublasSgemm: B, stored 4 x 2"},
        {CUBLAS_OP_N, CUBLAS_OP_T, 3, 2, 4, 3, 1, 3, "cublasSgemm: B, stored 2 x 4"},
        {CUBLAS_OP_N, CUBLAS_OP_N, 3, 2, 4, 3, 4, 2, "cublasSgemm: C, stored 3 x 2"},
        {CUBLAS_OP_N, CUBLAS_OP_N, 3, 2, 0, 3, 0, 3, "leading dimension 0"},
        {CUBLAS_OP_N, CUBLAS_OP_N, 3, -2, 4, 3, 4, 3, "a negative size"},
        {CUBLAS_OP_CONJG, CUBLAS_OP_N, 3, 2, 4, 4, 4, 3, "operation 3"},
    };
    for (auto &t : wrong) {
        ck_error(cublasSgemm(handle, t.op_a, t.op_b, t.m, t.n, t.k, &alpha, data, t.lda, data,
                             t.ldb, &beta, data, t.ldc),
                 CUBLAS_STATUS_INVALID_VALUE);
        ck_fault(t.words);
    }
    ck_error(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &alpha, data, 1,
                                       1, data, 1, 1, &beta, data, 1, 0, 2),
             CUBLAS_STATUS_INVALID_VALUE);
    ck_good(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 0, 2, 4, &alpha, nullptr, 1, nullptr, 4,
                        &beta, nullptr, 1)); // nothing to do
    ck_error(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, nullptr, data, 1, data, 1,
                         &beta, data, 1),
             CUBLAS_STATUS_INVALID_VALUE);
}
END_TEST

START_TEST(products_outside_of_memory_are_illegal) {
    float *data = device_floats(12), *c = device_floats(6), host[12] = {0};
    float alpha = 1.0f, beta = 0.0f;
    const float *wrong[] = {data + 1, host};
    const char *words[] = {"cublasSgemm: A: 48 bytes from byte 4 on pass the end of allocation #1",
                           "is not device memory"};
    ck_error(cublasSgemm(new_handle(), CUBLAS_OP_N, CUBLAS_OP_N, 3, 2, 4, &alpha, wrong[_i], 3,
                         data, 4, &beta, c, 3),
             CUBLAS_STATUS_EXECUTION_FAILED);
    ck_fault(words[_i]);
    ck_error(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}
END_TEST

START_TEST(the_workspace_is_lost_with_the_stream) {
    cublasHandle_t handle = new_handle();
    cudaStream_t stream = new_stream(), set = nullptr;
    float *workspace = device_floats(1024), *data = on_device({2.0f, 3.0f, 0.0f});
    float alpha = 1.0f, beta = 0.0f, host;
    cublasMath_t mode;
    ck_good(cublasSetWorkspace(handle, workspace, 4096));
    ck_assert_ptr_eq(fake_blas_workspace(handle), workspace);
    ck_good(cublasSetStream(handle, stream));
    ck_assert_ptr_null(fake_blas_workspace(handle));
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(fake_blas_without_workspace(), i);
        ck_good(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &alpha, data, 1, data + 1, 1,
                            &beta, data + 2, 1));
        ck_assert_int_eq(fake_blas_without_workspace(), 1);
        ck_good(cublasSetWorkspace(handle, workspace, 4096));
    }
    ck_good(cublasGetStream(handle, &set));
    ck_assert_ptr_eq(set, stream);
    ck_good(cudaMemcpy(&host, data + 2, 4, cudaMemcpyDeviceToHost));
    ck_assert_float_eq(host, 0.0f); // the product is on its stream, which nobody waited for
    ck_assert_float_eq(read_floats(data, 3)[2], 6.0f);
    ck_error(cublasSetWorkspace(handle, workspace + 1, 64), CUBLAS_STATUS_INVALID_VALUE);
    ck_error(cublasSetWorkspace(handle, workspace, 4097), CUBLAS_STATUS_INVALID_VALUE);
    ck_error(cublasSetWorkspace(handle, &host, 4), CUBLAS_STATUS_INVALID_VALUE);
    ck_good(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH));
    ck_good(cublasGetMathMode(handle, &mode));
    ck_assert_int_eq(mode, CUBLAS_PEDANTIC_MATH);
    ck_good(cublasDestroy(handle));
    ck_error(cublasDestroy(handle), CUBLAS_STATUS_NOT_INITIALIZED);
    ck_error(cublasSetStream(handle, stream), CUBLAS_STATUS_NOT_INITIALIZED);
    ck_assert_str_eq(cublasGetStatusString(CUBLAS_STATUS_NOT_INITIALIZED),
                     "the library was not initialized");
}
END_TEST

int main() {
    const HarnessTest tests[] = {
        {products_are_right, 9},
        {matrices_of_a_batch_may_interlock, 0},
        {vectors_are_right, 0},
        {what_counts_for_nothing_is_not_read, 0},
        {vectors_of_nothing_leave_y, 0},
        {wrong_leading_dimensions_are_refused, 0},
        {products_outside_of_memory_are_illegal, 2},
        {the_workspace_is_lost_with_the_stream, 0},
        {nullptr, 0},
    };
    return harness_main("fake_blas", tests);
}
