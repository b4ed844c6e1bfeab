// fake_cublas.cpp -- cuBLAS on the CPU: column-major, in plain loops that sum in double, checked as
// the real library checks and a little more. It runs on streams like kernels.
#include <algorithm>
#include <stdarg.h>
#include <string.h>

#include "tests/emulator/fake_internal.h"

// NVIDIA's headers leave it open.
struct cublasContext {
    int number; // counted since fake_reset, for messages
    cudaStream_t stream = nullptr;
    void *workspace = nullptr; // the user's
    size_t workspace_bytes = 0;
    cublasMath_t math = CUBLAS_DEFAULT_MATH;
};

namespace {

struct Blas {
    int created = 0;
    int64_t without_workspace = 0;
    std::vector<std::unique_ptr<cublasContext>> handles;
};

Blas &blas() { // never freed, as the streams
    static Blas *blas = new Blas;
    return *blas;
}

cublasStatus_t invalid(const char *format, ...) __attribute__((format(printf, 1, 2)));
cublasStatus_t invalid(const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fake::set_fault("%s", text);
    return CUBLAS_STATUS_INVALID_VALUE;
}

std::vector<std::unique_ptr<cublasContext>>::iterator find(cublasHandle_t handle) {
    auto found = blas().handles.begin();
    while (found != blas().handles.end() && found->get() != handle) ++found;
    return found;
}

cublasStatus_t check_handle(cublasHandle_t handle) {
    if (find(handle) != blas().handles.end()) return CUBLAS_STATUS_SUCCESS;
    fake::set_fault("%p is no cuBLAS handle, or was destroyed", (void *)handle);
    return CUBLAS_STATUS_NOT_INITIALIZED;
}
#define CHECK_HANDLE(handle)                                                                       \
    FAKE_BLAS_CALL();                                                                              \
    if (check_handle(handle) != CUBLAS_STATUS_SUCCESS) return CUBLAS_STATUS_NOT_INITIALIZED

// ---- one matrix --------------------------------------------------------------------------------
// op(matrix) has `rows` x `columns` elements; stored column-major, `ld` floats from one column to
// the next, `stride` from one matrix of the batch to the next.
struct Matrix {
    const char *name;
    const float *data;
    cublasOperation_t op;
    int64_t rows, columns, ld, stride;

    bool transposed() const { return op != CUBLAS_OP_N; } // for real numbers C is T
    int64_t stored_rows() const { return transposed() ? columns : rows; }
    int64_t stored_columns() const { return transposed() ? rows : columns; }
    const float *at(int64_t batch) const { return data + batch * stride; }
    float element(int64_t batch, int64_t row, int64_t column) const {
        return at(batch)[transposed() ? column + row * ld : row + column * ld];
    }
};

bool good_shape(const char *function, const Matrix &m) {
    bool known = m.op == CUBLAS_OP_N || m.op == CUBLAS_OP_T || m.op == CUBLAS_OP_C;
    int64_t least = m.stored_rows() > 1 ? m.stored_rows() : 1;
    if (known && m.ld >= least && m.stride >= 0) return true;
    invalid("%s: %s, stored %lld x %lld: operation %d, leading dimension %lld, stride %lld",
            function, m.name, (long long)m.stored_rows(), (long long)m.stored_columns(), (int)m.op,
            (long long)m.ld, (long long)m.stride);
    return false;
}

// Does all of it, in all batches, lie in device memory? The real library would find out while it
// runs, if ever.
bool in_device_memory(const char *function, const Matrix &m, int64_t batches) {
    std::string what = std::string(function) + ": " + m.name;
    if (fake::place_of(m.data) != fake::Place::DEVICE) {
        fake::set_fault("%s: %p is not device memory", what.c_str(), (const void *)m.data);
        return false;
    }
    int64_t last = (batches - 1) * m.stride + (m.stored_columns() - 1) * m.ld + m.stored_rows();
    return fake::in_bounds(m.data, (size_t)last * sizeof(float), what.c_str());
}

// ---- products ----------------------------------------------------------------------------------
struct Product { // C (m,n) = alpha op(A) (m,k) . op(B) (k,n) + beta C, for each of the batch
    const char *function;
    Matrix a, b, c;
    float alpha, beta;
    int64_t batches;

    // As in every BLAS: otherwise A and B are not even read, and may be NULL.
    bool reads() const { return alpha != 0.0f && a.columns > 0; }
};

void multiply(const Product &p, int64_t batch) {
    int64_t m = p.c.rows, n = p.c.columns, k = p.reads() ? p.a.columns : 0;
    std::vector<float> packed((size_t)(m * k)); // op(A), column-major
    for (int64_t i = 0; i < m; i++)
        for (int64_t l = 0; l < k; l++) packed[(size_t)(i + l * m)] = p.a.element(batch, i, l);
    std::vector<double> sums((size_t)m);
    for (int64_t j = 0; j < n; j++) {
        std::fill(sums.begin(), sums.end(), 0.0);
        for (int64_t l = 0; l < k; l++) {
            double factor = (double)p.b.element(batch, l, j);
            const float *column = &packed[(size_t)(l * m)];
            for (int64_t i = 0; i < m; i++) sums[(size_t)i] += factor * (double)column[i];
        }
        float *c = (float *)p.c.at(batch) + j * p.c.ld;
        for (int64_t i = 0; i < m; i++) {
            double rest = p.beta == 0.0f ? 0.0 : (double)p.beta * (double)c[i]; // NaN is not read
            c[i] = (float)((double)p.alpha * sums[(size_t)i] + rest);
        }
    }
}

// Uses the workspace, as the real one might: what somebody else keeps there is gone.
void scribble(void *workspace, size_t bytes) {
    if (workspace) memset(workspace, 0xff, bytes < 4096 ? bytes : 4096);
}

cublasStatus_t queue(cublasHandle_t handle, const Product &p) {
    bool good = in_device_memory(p.function, p.c, p.batches) &&
                (!p.reads() || (in_device_memory(p.function, p.a, p.batches) &&
                                in_device_memory(p.function, p.b, p.batches))) &&
                fake::in_bounds(handle->workspace, handle->workspace_bytes, "workspace of cuBLAS");
    if (!good) {
        fake::refuse(cudaErrorIllegalAddress);
        return CUBLAS_STATUS_EXECUTION_FAILED;
    }
    if (!fake::stream_exists(handle->stream)) return CUBLAS_STATUS_EXECUTION_FAILED;
    if (!handle->workspace) blas().without_workspace++;
    void *workspace = handle->workspace;
    size_t bytes = handle->workspace_bytes;
    auto run = [=] {
        scribble(workspace, bytes);
        for (int64_t batch = 0; batch < p.batches; batch++) multiply(p, batch);
    };
    fake::queue(handle->stream, {run, p.function, fake::times().kernel, true});
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t gemm(cublasHandle_t handle, const Product &p) {
    bool negative = p.c.rows < 0 || p.c.columns < 0 || p.a.columns < 0 || p.batches < 0;
    if (negative || !good_shape(p.function, p.a) || !good_shape(p.function, p.b) ||
        !good_shape(p.function, p.c)) {
        if (negative) fake::set_fault("%s: a negative size", p.function);
        return CUBLAS_STATUS_INVALID_VALUE;
    }
    if (p.batches > 1 && p.c.stride == 0)
        return invalid("%s: all products of the batch go to one place", p.function);
    if (p.c.rows == 0 || p.c.columns == 0 || p.batches == 0) return CUBLAS_STATUS_SUCCESS;
    return queue(handle, p);
}

} // namespace

namespace fake {

void reset_blas() { blas() = Blas(); }

int list_blas(FILE *file) {
    for (auto &handle : blas().handles)
        if (file) fprintf(file, "leak: cuBLAS handle #%d\n", handle->number);
    return (int)blas().handles.size();
}

} // namespace fake

// ---- for tests ---------------------------------------------------------------------------------
void *fake_blas_workspace(cublasHandle_t handle) {
    fake::Lock lock;
    return find(handle) == blas().handles.end() ? nullptr : handle->workspace;
}

int64_t fake_blas_without_workspace(void) {
    fake::Lock lock;
    return blas().without_workspace;
}

// ---- the functions of cuBLAS: handles ----------------------------------------------------------
cublasStatus_t cublasCreate(cublasHandle_t *handle) {
    FAKE_BLAS_CALL();
    if (!handle) return invalid("cublasCreate: nowhere to put the handle");
    *handle = new cublasContext{++blas().created};
    blas().handles.emplace_back(*handle);
    return CUBLAS_STATUS_SUCCESS;
}

// Waits for the device, as the real one does.
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
    fake::BlasCall call(__func__);
    if (check_handle(handle) != CUBLAS_STATUS_SUCCESS) return CUBLAS_STATUS_NOT_INITIALIZED;
    fake::wait_for_all();
    blas().handles.erase(find(handle));
    return call.status;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
    CHECK_HANDLE(handle);
    if (!fake::stream_exists(stream)) return CUBLAS_STATUS_INVALID_VALUE;
    handle->stream = stream;
    handle->workspace = nullptr; // documented: back to the default pool
    handle->workspace_bytes = 0;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t *stream) {
    CHECK_HANDLE(handle);
    *stream = handle->stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes) {
    CHECK_HANDLE(handle);
    if (workspace && fake::place_of(workspace) != fake::Place::DEVICE)
        return invalid("cublasSetWorkspace: %p is not device memory", workspace);
    if ((uintptr_t)workspace % 256)
        return invalid("cublasSetWorkspace: %p does not lie on 256 bytes", workspace);
    if (!fake::in_bounds(workspace, bytes, "cublasSetWorkspace"))
        return CUBLAS_STATUS_INVALID_VALUE;
    handle->workspace = workspace;
    handle->workspace_bytes = bytes;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
    CHECK_HANDLE(handle);
    switch ((int)mode & ~CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION) {
    case CUBLAS_DEFAULT_MATH:
    case CUBLAS_PEDANTIC_MATH:
    case CUBLAS_TF32_TENSOR_OP_MATH:
        handle->math = mode;
        return CUBLAS_STATUS_SUCCESS;
    default:
        return invalid("cublasSetMathMode: the fake has no mode %d", (int)mode);
    }
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode) {
    CHECK_HANDLE(handle);
    *mode = handle->math;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion(cublasHandle_t handle, int *version) {
    CHECK_HANDLE(handle);
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}

const char *cublasGetStatusString(cublasStatus_t status) {
    static const struct {
        cublasStatus_t status;
        const char *text;
    } all[] = {
        {CUBLAS_STATUS_SUCCESS, "success"},
        {CUBLAS_STATUS_NOT_INITIALIZED, "the library was not initialized"},
        {CUBLAS_STATUS_ALLOC_FAILED, "the resource allocation failed"},
        {CUBLAS_STATUS_INVALID_VALUE,
         "an unsupported value or parameter was passed to the function"},
        {CUBLAS_STATUS_EXECUTION_FAILED, "the function failed to launch on the GPU"},
        {CUBLAS_STATUS_INTERNAL_ERROR, "an internal operation failed"},
        {CUBLAS_STATUS_NOT_SUPPORTED, "the requested functionality is not supported"},
    };
    for (auto &one : all)
        if (one.status == status) return one.text;
    return "unrecognized status";
}

// ---- the functions of cuBLAS: products ---------------------------------------------------------
// C (m,n) = alpha op(A) (m,k) . op(B) (k,n) + beta C, column-major
cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                           int m, int n, int k, const float *alpha, const float *a, int lda,
                           const float *b, int ldb, const float *beta, float *c, int ldc) {
    CHECK_HANDLE(handle);
    if (!alpha || !beta) return invalid("cublasSgemm: no alpha or no beta");
    return gemm(handle, {"cublasSgemm",
                         {"A", a, op_a, m, k, lda, 0},
                         {"B", b, op_b, k, n, ldb, 0},
                         {"C", c, CUBLAS_OP_N, m, n, ldc, 0},
                         *alpha,
                         *beta,
                         1});
}

// The same for each of a batch; from one matrix to the next it is stride floats, or 0 for A and B.
cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t op_a,
                                         cublasOperation_t op_b, int m, int n, int k,
                                         const float *alpha, const float *a, int lda,
                                         long long stride_a, const float *b, int ldb,
                                         long long stride_b, const float *beta, float *c, int ldc,
                                         long long stride_c, int batches) {
    CHECK_HANDLE(handle);
    if (!alpha || !beta) return invalid("cublasSgemmStridedBatched: no alpha or no beta");
    return gemm(handle, {"cublasSgemmStridedBatched",
                         {"A", a, op_a, m, k, lda, stride_a},
                         {"B", b, op_b, k, n, ldb, stride_b},
                         {"C", c, CUBLAS_OP_N, m, n, ldc, stride_c},
                         *alpha,
                         *beta,
                         batches});
}

// y = alpha op(A) x + beta y, where A (m,n) is stored column-major. As a product of matrices it is
// y^T = x^T . op(A)^T: vectors are rows, whose leading dimension is the step.
cublasStatus_t cublasSgemv(cublasHandle_t handle, cublasOperation_t op, int m, int n,
                           const float *alpha, const float *a, int lda, const float *x, int step_x,
                           const float *beta, float *y, int step_y) {
    CHECK_HANDLE(handle);
    if (!alpha || !beta) return invalid("cublasSgemv: no alpha or no beta");
    if (step_x <= 0 || step_y <= 0) return invalid("cublasSgemv: steps %d and %d", step_x, step_y);
    bool plain = op == CUBLAS_OP_N;
    int length = plain ? m : n, k = plain ? n : m;
    Product p = {"cublasSgemv",
                 {"x", x, CUBLAS_OP_N, 1, k, step_x, 0},
                 {"A", a, plain ? CUBLAS_OP_T : CUBLAS_OP_N, k, length, lda, 0},
                 {"y", y, CUBLAS_OP_N, 1, length, step_y, 0},
                 *alpha,
                 *beta,
                 1};
    // As in every BLAS, and unlike a product of matrices: with nothing to sum, y stays as it is.
    if (m == 0 || n == 0)
        return good_shape(p.function, p.b) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
    return gemm(handle, p);
}
