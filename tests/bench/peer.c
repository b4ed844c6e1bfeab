// peer.c -- the pipe to the Python process: one line per request, one line per answer.
#include "tests/bench/peer.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/measure.h"

static struct {
    pid_t process;
    FILE *ask, *answer; // NULL: no peer
    char version[64];
    double start_seconds, resident_mb;
} peer;

// Makes PyTorch keep the memory that it frees: otherwise it pays for page faults at every step.
static void become_python(const char *script, int ask, int answer) {
    const char *python = getenv("RIDGEPOINT_PYTHON");
    if (!python || !python[0]) python = "python3";
    dup2(ask, STDIN_FILENO);
    dup2(answer, STDOUT_FILENO);
    setenv("MALLOC_MMAP_THRESHOLD_", "33554432", 1);
    setenv("MALLOC_TRIM_THRESHOLD_", "4294967296", 1);
    setenv("MALLOC_TOP_PAD_", "134217728", 1);
    execlp(python, python, script, (char *)NULL);
    _exit(127);
}

bool peer_start(const char *script) {
    int ask[2], answer[2];
    if (pipe(ask) || pipe(answer)) return false;
    signal(SIGPIPE, SIG_IGN); // a dead peer then shows as a missing answer
    double start = measure_now();
    peer.process = fork();
    if (peer.process == 0) {
        close(ask[1]);
        close(answer[0]);
        become_python(script, ask[0], answer[1]);
    }
    close(ask[0]);
    close(answer[1]);
    peer.ask = fdopen(ask[1], "w");
    peer.answer = fdopen(answer[0], "r");
    char line[128] = "";
    bool ready = peer.process > 0 && fgets(line, sizeof line, peer.answer) &&
                 sscanf(line, "ready %63s %lf", peer.version, &peer.resident_mb) == 2;
    peer.start_seconds = measure_now() - start;
    if (!ready) peer_stop();
    return ready;
}

const char *peer_version(void) { return peer.version; }
double peer_start_seconds(void) { return peer.ask ? peer.start_seconds : (double)NAN; }
double peer_resident_mb(void) { return peer.ask ? peer.resident_mb : (double)NAN; }

double peer_sample(const char *workload, int threads, double seconds) {
    char line[64];
    double result;
    if (!peer.ask) return (double)NAN;
    fprintf(peer.ask, "%.6f %d %s\n", seconds, threads, workload);
    fflush(peer.ask);
    if (fgets(line, sizeof line, peer.answer) && sscanf(line, "%lf", &result) == 1) return result;
    peer_stop();
    return (double)NAN;
}

void peer_stop(void) {
    if (!peer.ask) return;
    fclose(peer.ask); // the end of its input makes it exit
    fclose(peer.answer);
    if (peer.process > 0) waitpid(peer.process, NULL, 0);
    peer.ask = NULL;
}
