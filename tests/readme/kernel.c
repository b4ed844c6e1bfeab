#include <ridgepoint/ridgepoint.h>

enum { N = 256 };
float a[N][N], b[N][N], c[N][N];

static void multiply(void) { // c += a . b, as a first draft has it
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++) c[i][j] += a[i][k] * b[k][j];
}

int main(void) {
    Machine machine; // its ceilings: measured in three seconds, once, and kept
    bool fresh;
    char kept_in[512];
    machine_obtain(&(MachineRequest){0}, &machine, &fresh, kept_in);
    ProfilerOptions options = profiler_defaults();
    options.machine = &machine;
    Profiler *profiler = profiler_new(options);
    profiler_start(profiler);
    for (int i = 0; i < 10; i++) {
        PROFILE_KERNEL("multiply", 2.0 * N * N * N, 4.0 * N * N * sizeof(float)) { multiply(); }
    }
    profiler_stop(profiler);
    profiler_print(profiler, stdout);
    if (error_pending()) printf("%s\n", error_message()); // the first thing that went wrong
    profiler_free(profiler);
    context_release_thread();
}
