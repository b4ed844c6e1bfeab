// confine_watch.c -- while programs run that nobody trusts: the loop in which the grader listens to
// them, answers, and ends what is past its limits. What became of one is confine.c's to say.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exercises/grader/confine_parts.h"
#include "tensor/clock.h"

enum { PIECE = 4096, MOST_AT_ONCE = 16, LOOK_MS = 10, CALL_MS = 100 };

// ---- listening ---------------------------------------------------------------------------------
static void close_end(int *descriptor) {
    close(*descriptor);
    *descriptor = -1;
}

static void listen_to_output(Confined *run) {
    size_t most = (size_t)run->limits.output_bytes;
    while (run->output >= 0) {
        char rest[PIECE];
        bool full = run->count == most;
        ssize_t got = read(run->output, full ? rest : run->bytes + run->count,
                           full ? sizeof rest : most - run->count);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EAGAIN) return;
        if (got <= 0) close_end(&run->output);
        if (got > 0 && full) run->flooded = true;
        if (got > 0 && full) return;
        if (got > 0) run->count += (size_t)got;
    }
}

static void listen_to_channel(Confined *run) {
    char piece[PIECE];
    ssize_t got = read(run->channel, piece, sizeof piece);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0)
        close_end(&run->channel);
    else if (!run->hear(run->argument, run, piece, (size_t)got))
        run->unheard = true;
}

static void listen_to_failure(Confined *run) {
    ssize_t got = read(run->failed, &run->failure, sizeof run->failure);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got != sizeof run->failure) run->failure.step[0] = '\0';
    close_end(&run->failed);
}

bool confine_say(Confined *run, const void *bytes, size_t count) {
    if (run->channel < 0) return false;
    return send(run->channel, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)count;
}

// ---- called off --------------------------------------------------------------------------------
// The data of the signal handler, which must be static. Signals are handled, not masked, because a
// BLAS has threads that would receive them.
static const int endings[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { ENDINGS = sizeof endings / sizeof endings[0] };
static volatile sig_atomic_t called_off; // the signal that has come; 0: none

static void note(int number) { called_off = number; }

void confine_hold(ConfineHold *hold) {
    struct sigaction noted = {.sa_handler = note}; // no SA_RESTART: poll returns
    sigemptyset(&noted.sa_mask);
    called_off = 0;
    for (int i = 0; i < ENDINGS; i++) {
        sigaction(endings[i], NULL, &hold->before[i]);
        if (hold->before[i].sa_handler != SIG_IGN) sigaction(endings[i], &noted, NULL);
    }
}

bool confine_is_called_off(void) { return called_off != 0; }

void confine_release(const ConfineHold *hold) {
    for (int i = 0; i < ENDINGS; i++) sigaction(endings[i], &hold->before[i], NULL);
    int number = called_off;
    called_off = 0;
    if (number) raise(number);
}

// ---- ends --------------------------------------------------------------------------------------
// Its group is its session's, and cannot be another's as long as it has not been reaped.
static void end_group(const Confined *run) {
    (void)kill(-run->pid, SIGKILL);
    (void)kill(run->pid, SIGKILL);
}

static void drain(Confined *run) {
    listen_to_output(run);
    for (int i = 0; run->channel >= 0 && !run->unheard && i < 1 << 16; i++) {
        struct pollfd more = {.fd = run->channel, .events = POLLIN};
        if (poll(&more, 1, 0) <= 0) break;
        listen_to_channel(run);
    }
    if (run->failed >= 0) listen_to_failure(run);
}

void watch_end(Confined *run) {
    end_group(run);
    while (wait4(run->pid, &run->status, 0, &run->use) < 0 && errno == EINTR) {
    }
    run->ended = true;
    run->ended_at = clock_seconds();
    drain(run);
}

static void look_for_end(Confined *run) {
    siginfo_t seen = {.si_pid = 0};
    if (waitid(P_PID, (id_t)run->pid, &seen, WEXITED | WNOHANG | WNOWAIT) != 0 || seen.si_pid == 0)
        return;
    watch_end(run); // parts of a compiler may be left
}

// How long it stood in a queue for a processor.
static double waited_seconds(const Confined *run) {
    char path[64];
    double waited = 0.0, unused; // nanoseconds
    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)run->pid);
    FILE *file = fopen(path, "re");
    bool told = file && fscanf(file, "%lf %lf", &unused, &waited) == 2;
    if (file) fclose(file);
    return told ? 1e-9 * waited : 0.0;
}

// That time does not count; but after so many deadlines, the machine is too busy.
static bool has_more_time(Confined *run, double now) {
    double wall = run->limits.wall_seconds, begun = run->begun;
    run->starved = now >= begun + PATIENCE * wall;
    double until = begun + wall + waited_seconds(run);
    if (run->starved || until <= now) return false;
    run->deadline = until;
    return true;
}

static void enforce(Confined *run) {
    double now = clock_seconds();
    bool late = now >= run->deadline;
    if (!run->ended && confine_is_called_off()) {
        run->timed_out = run->starved = true;
        watch_end(run);
    }
    if (late && !run->ended) look_for_end(run); // it may have ended in the same moment
    bool wanted = !run->flooded && !run->unheard;
    if (run->ended || (!late && wanted) || (wanted && has_more_time(run, now))) return;
    run->timed_out = wanted;
    watch_end(run);
}

// ---- serving -----------------------------------------------------------------------------------
bool confine_ended(const Confined *run) { return run->ended; }

static bool any_ended(Confined *const runs[], int count) {
    for (int i = 0; i < count; i++)
        if (runs[i]->ended) return true;
    return false;
}

static void watch_once(Confined *const runs[], int count) {
    enum { OUTPUT, CHANNEL, HANDLE, WATCHED };
    struct pollfd watched[MOST_AT_ONCE * WATCHED];
    double least = 3600.0, now = clock_seconds();
    bool blind = false;
    for (int i = 0; i < count; i++) {
        struct pollfd *own = watched + WATCHED * i;
        own[OUTPUT] = (struct pollfd){.fd = runs[i]->output, .events = POLLIN};
        own[CHANNEL] = (struct pollfd){.fd = runs[i]->channel, .events = POLLIN};
        own[HANDLE] = (struct pollfd){.fd = runs[i]->handle, .events = POLLIN};
        if (runs[i]->deadline - now < least) least = runs[i]->deadline - now;
        blind = blind || runs[i]->handle < 0;
    }
    int wait = least <= 0 ? 0 : (int)(1000.0 * least) + 1;
    if (wait > CALL_MS) wait = CALL_MS; // another thread may have been told that we are called off
    if (blind && wait > LOOK_MS) wait = LOOK_MS;
    if (poll(watched, (nfds_t)(WATCHED * count), wait) < 0) return;
    for (int i = 0; i < count; i++) {
        const struct pollfd *own = watched + WATCHED * i;
        if (own[OUTPUT].revents) listen_to_output(runs[i]);
        if (own[CHANNEL].revents) listen_to_channel(runs[i]);
        if (own[HANDLE].revents || runs[i]->handle < 0) look_for_end(runs[i]);
    }
}

void confine_serve(Confined *const runs[], int count) {
    if (count > MOST_AT_ONCE) count = MOST_AT_ONCE;
    while (count > 0 && !any_ended(runs, count)) {
        watch_once(runs, count);
        for (int i = 0; i < count; i++) enforce(runs[i]);
    }
}
