// test_confine.c -- confinement of untrusted programs: one program does one bad thing after another
// (fixtures/villain.c), as compiler, as a worker that starts and as one that runs a function, as
// root, as a plain user and as root of a namespace, with layers of protection left out in turn. It
// ends as it should, harms nobody, and leaves nothing.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/exercises/grader/villain.h"

// ---- modes -------------------------------------------------------------------------------------
typedef struct Part {
    const char *name;
    ConfineKind kind;
    bool filtered;
} Part;
enum { PART_START, PART_RUN, PART_COMPILER, PARTS };
static const Part parts[PARTS] = {{"a worker that starts", CONFINE_WORKER, false},
                                  {"a worker that runs", CONFINE_WORKER, true},
                                  {"a compiler", CONFINE_COMPILER, false}};

static const unsigned left_out[] = {0, LAYER_FILES, LAYER_FILES | LAYER_BUBBLEWRAP, LAYER_CALLS,
                                    LAYER_ACCOUNT};
enum { LEFT_OUT = sizeof left_out / sizeof left_out[0], MODES = ALONE_USERS * LEFT_OUT * PARTS };

typedef struct Mode {
    const Part *part;
    int part_number;
    unsigned layers, without;
} Mode;

// Becomes the user of mode `index`; skips modes that equal another or are unavailable.
static Mode enter(int index) {
    Mode mode = {.part_number = index % PARTS,
                 .part = &parts[index % PARTS],
                 .without = left_out[index / PARTS % LEFT_OUT]};
    villain_needed((AloneUser)(index / PARTS / LEFT_OUT));
    VillainRun control = {.deed = "bytes", .kind = mode.part->kind, .without = mode.without};
    if (mode.without == LAYER_FILES && confine_layers() == (confine_layers() & ~mode.without))
        test_skip("no Landlock here to leave out");
    if (mode.without == LAYER_ACCOUNT && !(confine_layers() & LAYER_ACCOUNT))
        test_skip("there is no other account anyway");
    ConfineResult result = villain_run(&control);
    mode.layers = result.layers;
    confine_result_free(&result);
    if (mode.without == LAYER_FILES && !(mode.layers & LAYER_BUBBLEWRAP))
        test_skip("bubblewrap is not installed, or does not work here");
    villain_watch();
    return mode;
}

static bool by_files(const Mode *mode) { return mode->layers & (LAYER_FILES | LAYER_BUBBLEWRAP); }

// ---- harm --------------------------------------------------------------------------------------
// The layers that refuse a deed, each alone: for a worker that starts, one that runs, a compiler.
// SEEMS: under bubblewrap it succeeds, in a folder that nobody else sees.
enum { ALLOWED = 0, CALLS = 1, FILES = 2, EITHER = 3, ALWAYS = 4, SEEMS = 8, UNTRIED = 16 };
typedef struct Harm {
    const char *deed;
    int held[PARTS];
} Harm;

static const Harm harms[] = {
    {"fork_one", {CALLS, CALLS, ALLOWED}},
    {"vfork_one", {CALLS, CALLS, ALLOWED}},
    {"clone_new", {CALLS, CALLS, CALLS}},
    {"shell", {EITHER, EITHER, ALLOWED}},
    {"execute_memory", {CALLS, CALLS, UNTRIED}},
    {"new_session", {ALWAYS, ALWAYS, ALWAYS}},
    {"new_group", {ALWAYS, ALWAYS, ALWAYS}},
    {"outlive_parent", {CALLS, CALLS, ALLOWED}},
    {"kill_other", {CALLS, CALLS, CALLS}},
    {"kill_parent", {CALLS, CALLS, CALLS}},
    {"kill_all", {CALLS, CALLS, CALLS}},
    {"tkill_other", {CALLS, CALLS, CALLS}},
    {"queue_other", {CALLS, CALLS, CALLS}},
    {"pidfd_other", {CALLS, CALLS, CALLS}},
    {"take_descriptor", {CALLS, CALLS, CALLS}},
    {"trace", {CALLS, CALLS, CALLS}},
    {"peek_other", {CALLS, CALLS, CALLS}},
    {"peek_parent", {CALLS, CALLS, CALLS}},
    {"limit_other", {CALLS, CALLS, CALLS}},
    {"slow_other", {CALLS, CALLS, CALLS}},
    {"pin_other", {CALLS, CALLS, CALLS}},
    {"raise_limits", {ALWAYS, ALWAYS, ALWAYS}},
    {"internet", {CALLS, CALLS, CALLS}},
    {"unix_socket", {CALLS, CALLS, CALLS}},
    {"socket_pair", {CALLS, CALLS, CALLS}},
    {"shared_memory", {CALLS, CALLS, CALLS}},
    {"messages", {CALLS, CALLS, CALLS}},
    {"semaphores", {CALLS, CALLS, CALLS}},
    {"queue", {CALLS, CALLS, CALLS}},
    {"ring", {CALLS, CALLS, CALLS}},
    {"keys", {CALLS, CALLS, CALLS}},
    {"new_world", {CALLS, CALLS, CALLS}},
    {"mount_over", {ALWAYS, ALWAYS, ALWAYS}},
    {"faults", {CALLS, CALLS, CALLS}},
    {"read_secret", {FILES, EITHER, FILES}},
    {"read_passwd", {FILES, EITHER, FILES}},
    {"read_maps", {FILES, EITHER, FILES}},
    {"read_around", {FILES, EITHER, FILES}},
    {"read_new", {EITHER, EITHER, EITHER}},
    {"read_parent", {FILES, EITHER, FILES}},
    {"list_root", {FILES | SEEMS, EITHER | SEEMS, FILES | SEEMS}},
    {"list_above", {FILES | SEEMS, EITHER | SEEMS, FILES | SEEMS}},
    {"write_here", {EITHER, EITHER, ALLOWED}},
    {"write_tmp", {EITHER, EITHER, FILES | SEEMS}},
    {"write_var", {EITHER, EITHER, FILES | SEEMS}},
    {"write_shm", {EITHER, EITHER, FILES | SEEMS}},
    {"write_above", {EITHER, EITHER, FILES | SEEMS}},
    {"write_hidden", {EITHER, EITHER, FILES | SEEMS}},
    {"write_secret", {EITHER, EITHER, FILES}},
    {"truncate_secret", {CALLS, CALLS, CALLS}},
    {"truncate_open", {CALLS, CALLS, CALLS}},
    {"remove_secret", {EITHER, EITHER, FILES}},
    {"move_secret", {EITHER, EITHER, FILES}},
    {"link_secret", {EITHER, EITHER, FILES}},
    {"make_folder", {EITHER, EITHER, FILES | SEEMS}},
    {"make_link", {EITHER, EITHER, FILES | SEEMS}},
    {"make_fifo", {EITHER, EITHER, FILES | SEEMS}},
    {"change_mode", {CALLS, CALLS, CALLS}},
    {"change_mode_new", {CALLS, CALLS, CALLS}},
    {"change_owner", {CALLS, CALLS, CALLS}},
    {"change_time", {CALLS, CALLS, CALLS}},
    {"change_time_raw", {CALLS, CALLS, CALLS}},
    {"add_attribute", {CALLS, CALLS, CALLS}},
};

static bool is_held(const Mode *mode, int held) {
    return (held & ALWAYS) || ((held & CALLS) && (mode->layers & LAYER_CALLS)) ||
           ((held & FILES) && by_files(mode));
}

// A deed that no layer refuses is not tried, unless it is allowed: then it must succeed.
static void try_harm(const Mode *mode, const Harm *harm) {
    int held = harm->held[mode->part_number];
    if (held != ALLOWED && !is_held(mode, held)) return;
    VillainRun villain = {.deed = harm->deed,
                          .kind = mode->part->kind,
                          .filtered = mode->part->filtered && (mode->layers & LAYER_CALLS),
                          .without = mode->without};
    ConfineResult result = villain_run(&villain);
    bool did = result.end == CONFINE_EXITED && result.code == 0;
    bool seemed = did && (held & SEEMS) && (mode->layers & LAYER_BUBBLEWRAP);
    bool refused = result.end == CONFINE_FORBIDDEN ||
                   (result.end == CONFINE_EXITED && result.code == 1) || seemed;
    ck_assert_msg(held == ALLOWED ? did : refused, "%s, %s, without %u: end %d, code %d: %s",
                  harm->deed, mode->part->name, mode->without, (int)result.end, result.code,
                  result.output);
    confine_result_free(&result);
    (void)unlink("/tmp/room/villain-made"); // a compiler may make it
    const char *left = villain_harm();
    ck_assert_msg(!left, "%s, %s, without %u: %s", harm->deed, mode->part->name, mode->without,
                  left);
}

// Every deed in every mode. Under the address sanitizer, where processes start slowly and refusals
// by the system are already covered, every fourth in turn, so that each runs for each part.
#ifdef __SANITIZE_ADDRESS__
enum { HARM_STEP = 4 };
#else
enum { HARM_STEP = 1 };
#endif

START_TEST(harm_is_refused) {
    Mode mode = enter(_i);
    if (!(mode.layers & LAYER_CALLS) && !by_files(&mode)) test_skip("nothing would refuse it");
    for (size_t i = (size_t)(_i % HARM_STEP); i < sizeof harms / sizeof harms[0]; i += HARM_STEP)
        try_harm(&mode, &harms[i]);
}
END_TEST

// ---- ends --------------------------------------------------------------------------------------
typedef struct End {
    const char *deed;
    ConfineEnd end;
    int code; // -1: any code
} End;

static const End ends[] = {
    {"well", CONFINE_EXITED, 7},
    {"crash", CONFINE_CRASHED, SIGSEGV},
    {"give_up", CONFINE_CRASHED, SIGABRT},
    {"stack", CONFINE_CRASHED, SIGSEGV},
    {"flood_output", CONFINE_FLOODED, -1},
    {"flood_error", CONFINE_FLOODED, -1},
    {"flood_channel", CONFINE_UNHEARD, -1},
    {"eat", CONFINE_OUT_OF_MEMORY, -1},
    {"rest", CONFINE_TIMED_OUT, -1},
    {"linger", CONFINE_EXITED, 1}, // only a compiler: its children end with it
    {"daemonize", CONFINE_EXITED, 1},
};

static void try_end(const Mode *mode, const End *wanted) {
    bool compiler = mode->part_number == PART_COMPILER;
    bool one_process =
        strcmp(wanted->deed, "linger") != 0 && strcmp(wanted->deed, "daemonize") != 0;
    if (!one_process && !compiler) return; // others may not
    if (strcmp(wanted->deed, "daemonize") == 0 && !(mode->layers & LAYER_CALLS)) return; // it works
    VillainRun villain = {.deed = wanted->deed,
                          .kind = mode->part->kind,
                          .filtered = mode->part->filtered && (mode->layers & LAYER_CALLS),
                          .without = mode->without,
                          .limits = villain_limits};
    if (wanted->end == CONFINE_TIMED_OUT) villain.limits.wall_seconds = 0.2;
    ConfineResult result = villain_run(&villain);
    // A compiler may not send a signal, not even to itself; then abort crashes.
    bool any = wanted->code < 0 || (compiler && wanted->code == SIGABRT);
    // Bubblewrap does not report its child's memory.
    bool same = result.end == wanted->end ||
                (wanted->end == CONFINE_OUT_OF_MEMORY && result.end == CONFINE_CRASHED &&
                 (mode->layers & LAYER_BUBBLEWRAP));
    ck_assert_msg(same && (any || result.code == wanted->code),
                  "%s, %s, without %u: end %d, code %d: %s", wanted->deed, mode->part->name,
                  mode->without, (int)result.end, result.code, result.output);
    ck_assert_uint_le(strlen(result.output), 20000);
    if (strcmp(wanted->deed, "well") == 0) {
        ck_assert_str_eq(result.output, "out\nerror\n");
        ck_assert_uint_eq(villain.heard_bytes, 4);
        ck_assert_mem_eq(villain.heard, "ping", 4);
    }
    confine_result_free(&result);
    const char *left = villain_harm();
    ck_assert_msg(!left, "%s, %s, without %u: %s", wanted->deed, mode->part->name, mode->without,
                  left);
}

START_TEST(it_ends_as_it_should) {
    Mode mode = enter(_i);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) try_end(&mode, &ends[i]);
}
END_TEST

START_TEST(it_finds_little) {
    Mode mode = enter(_i);
    char wanted[64];
    ck_assert_int_eq(setenv("LD_PRELOAD", "", 1), 0);
    VillainRun villain = {.deed = "look", .kind = mode.part->kind, .without = mode.without};
    ConfineResult result = villain_run(&villain);
    unsigned user = mode.layers & LAYER_ACCOUNT ? 65534 : (unsigned)geteuid();
    snprintf(wanted, sizeof wanted, "open=4 uid=%u preload=0\n", user);
    ck_assert_str_eq(result.output, wanted);
    confine_result_free(&result);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{harm_is_refused, MODES},
                                 {it_ends_as_it_should, MODES},
                                 {it_finds_little, MODES},
                                 {NULL, 0}};
    return villain_main("confine", tests);
}
