// blas_openblas.c -- one-thread products by OpenBLAS. The Makefile uses blas_plain.c instead if
// OpenBLAS is not installed.
#include <cblas.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>

#include "tensor/gemm.h"

int openblas_get_num_threads(void);
void openblas_set_num_threads(int n);
int blas_thread_shutdown_(void) __attribute__((weak)); // in a build with its own threads
void *blas_memory_alloc(int unused) __attribute__((weak));
void blas_memory_free(void *buffer) __attribute__((weak));

// A product takes a buffer of 128 MiB of addresses, which OpenBLAS keeps for later ones. If the
// system refuses it (ulimit -v), OpenBLAS asks for ever; so we first ask for a little more.
enum { BUFFER_BYTES = 144 << 20, BUFFERS_MOST = 64 };

bool blas_has_room(void) {
    void *room =
        mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return room != MAP_FAILED && munmap(room, BUFFER_BYTES) == 0;
}

// Only our pool splits work: two pools on the same cores are slower than one. The threads that
// OpenBLAS starts when loaded spin for a while on our cores, so we end them here; a program that
// calls OpenBLAS itself gets new ones.
void blas_settle(void) {
    static _Thread_local bool done; // per calling thread, since OpenBLAS may store it so
    if (done) return;
    if (openblas_get_num_threads() != 1) openblas_set_num_threads(1); // or threads would start
    static atomic_flag ended = ATOMIC_FLAG_INIT;
    // Without room this would wait in vain: each thread first asks for its own buffer.
    if (blas_thread_shutdown_ && blas_has_room() && !atomic_flag_test_and_set(&ended))
        blas_thread_shutdown_();
    done = true;
}

// ---- memory ------------------------------------------------------------------------------------
// Holds that many buffers at once, so that as many exist afterwards. The caller's own buffer counts
// as the first: it exists, or cannot be avoided.
int blas_reserve(int threads) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static int known = 1; // number of buffers that exist
    void *held[BUFFERS_MOST];
    if (!blas_memory_alloc || !blas_memory_free) return threads;
    if (threads > BUFFERS_MOST) threads = BUFFERS_MOST; // the pool's limit, too
    pthread_mutex_lock(&mutex);
    int n = 0;
    for (; n < threads && (n < known || blas_has_room()); n++) held[n] = blas_memory_alloc(0);
    for (int i = n; i-- > 0;) blas_memory_free(held[i]);
    if (n > known) known = n;
    pthread_mutex_unlock(&mutex);
    return n;
}

// ---- products ----------------------------------------------------------------------------------
static void vector_product(const Gemm *g) {
    bool row = g->m == 1; // c^T = op(b)^T a^T, or c = op(a) b: matrix times vector
    const float *matrix = row ? g->b : g->a, *x = row ? g->a : g->b;
    int64_t lda = row ? g->ldb : g->lda;
    bool transposed = row ? g->trans_b : g->trans_a; // storage: (n,k) or (k,m)
    bool plain = row ? transposed : !transposed;     // rows of the matrix give outputs
    int64_t outputs = row ? g->n : g->m;
    int64_t step_x = row ? (g->trans_a ? g->lda : 1) : (g->trans_b ? 1 : g->ldb);
    int64_t step_y = row ? 1 : g->ldc;
    int rows = (int)(plain ? outputs : g->k), columns = (int)(plain ? g->k : outputs);
    cblas_sgemv(CblasRowMajor, plain ? CblasNoTrans : CblasTrans, rows, columns, 1.0f, matrix,
                (int)lda, x, (int)step_x, g->add ? 1.0f : 0.0f, g->c, (int)step_y);
}

void blas_gemm(const Gemm *g) {
    blas_settle();
    if (g->k > 0 && (g->m == 1 || g->n == 1)) {
        vector_product(g);
        return;
    }
    cblas_sgemm(CblasRowMajor, g->trans_a ? CblasTrans : CblasNoTrans,
                g->trans_b ? CblasTrans : CblasNoTrans, (int)g->m, (int)g->n, (int)g->k, 1.0f, g->a,
                (int)g->lda, g->b, (int)g->ldb, g->add ? 1.0f : 0.0f, g->c, (int)g->ldc);
}

const char *blas_name(void) {
    static _Thread_local char name[64];
    char config[128], version[32] = "";
    snprintf(config, sizeof(config), "%s", openblas_get_config());
    sscanf(config, "OpenBLAS %31s", version);
    snprintf(name, sizeof(name), "OpenBLAS %s (%s)", version, openblas_get_corename());
    return name;
}
