// ex08_events.c -- lists of allocations for exercise 08: drawn, replayed by a table of ids, and
// replayed again with each known mistake.
#include <stdio.h>
#include <string.h>

#include "exercises/course/ex08_memory_parts.h"
#include "exercises/course/ex08_values.h"
#include "exercises/support/memory_text.h"

enum { MOST_IDS = 32 };

typedef enum Frees { FREES_RIGHT, FREES_BY_EVENT } Frees; // how a free is taken

typedef struct Replay {
    int64_t live, peak, total;
    int64_t now[MEMORY_KINDS], at_peak[MEMORY_KINDS], highest[MEMORY_KINDS], ever[MEMORY_KINDS];
    int64_t blocks[MEMORY_KINDS]; // live at the end
    struct {
        int64_t bytes;
        MemoryKind kind;
    } of_id[MOST_IDS];
} Replay;

static void replay_free(Replay *replay, const AllocationEvent *event, Frees frees) {
    bool right = frees == FREES_RIGHT;
    MemoryKind was = replay->of_id[event->id].kind;
    int64_t bytes = right ? replay->of_id[event->id].bytes : event->bytes;
    replay->live -= bytes;
    replay->now[right ? was : event->kind] -= bytes;
    replay->blocks[was]--;
}

static Replay replay_all(const AllocationEvent *events, int64_t count, Frees frees) {
    Replay replay = {0};
    for (int64_t i = 0; i < count; i++) {
        const AllocationEvent *event = &events[i];
        if (event->is_free) {
            replay_free(&replay, event, frees);
            continue;
        }
        MemoryKind kind = event->kind;
        replay.of_id[event->id].bytes = event->bytes;
        replay.of_id[event->id].kind = kind;
        replay.live += event->bytes;
        replay.total += event->bytes;
        replay.now[kind] += event->bytes;
        replay.ever[kind] += event->bytes;
        replay.blocks[kind]++;
        if (replay.now[kind] > replay.highest[kind]) replay.highest[kind] = replay.now[kind];
        if (replay.live <= replay.peak) continue;
        replay.peak = replay.live;
        memcpy(replay.at_peak, replay.now, sizeof replay.now);
    }
    return replay;
}

// ---- drawing -----------------------------------------------------------------------------------
typedef struct List {
    AllocationEvent events[MOST_EVENTS];
    int64_t count;
    int64_t next_id;
} List;

static int64_t add(List *list, MemoryKind kind, int64_t id, int64_t bytes) {
    if (id == 0) id = ++list->next_id;
    list->events[list->count++] = (AllocationEvent){.id = id, .bytes = bytes, .kind = kind};
    return id;
}

static void give_back(List *list, int64_t id) {
    list->events[list->count++] = (AllocationEvent){.is_free = true, .id = id, .bytes = 8};
}

static int64_t kilo(Draw *draw, int64_t least, int64_t most) { // bytes, of so many kB
    return 4 * draw_between(draw, 250 * least, 250 * most);
}

// A step of `layers` layers: parameters and state that stay; forward, where each layer has some
// workspace for a while and the last the most, so that the peak is there; then backward, which
// frees what forward kept, but for one. Of the gradients one is freed before the peak and a smaller
// one comes after it: at the peak, at the end, at most and in all are four numbers.
static List draw_step(Draw *draw, int layers) {
    List list = {0};
    int64_t kept[8], workspace = 0;
    add(&list, MEMORY_PARAMETER, 0, kilo(draw, 2000, 3000));
    add(&list, MEMORY_OPTIMIZER, 0, kilo(draw, 100, 900));
    add(&list, MEMORY_GRADIENT, 0, kilo(draw, 100, 900));
    give_back(&list, add(&list, MEMORY_GRADIENT, 0, kilo(draw, 500, 900)));
    for (int i = 0; i < layers; i++) {
        bool last = i == layers - 1;
        int64_t bytes = last ? kilo(draw, 2000, 3000) : kilo(draw, 10, 900);
        workspace = add(&list, MEMORY_WORKSPACE, workspace, bytes); // the id is used again
        kept[i] = add(&list, MEMORY_ACTIVATION, 0, kilo(draw, 10, 900));
        give_back(&list, workspace);
    }
    add(&list, MEMORY_GRADIENT, 0, kilo(draw, 10, 400));
    add(&list, MEMORY_WORKSPACE, workspace, kilo(draw, 10, 900)); // never freed
    int forgotten = (int)draw_between(draw, 0, layers - 1);
    for (int i = layers - 1; i >= 0; i--)
        if (i != forgotten) give_back(&list, kept[i]);
    return list;
}

static void write_run(CaseRun *run, const List *list, int ask) {
    enum { SHOWN = CASE_LINE - 10 };
    snprintf(run->input, sizeof run->input, "ask=%d events=", ask);
    memory_text_write(list->events, list->count, run->input, sizeof run->input);
    char text[2 * CASE_LINE] = "";
    memory_text_write(list->events, list->count, text, sizeof text);
    snprintf(run->shown, CASE_LINE, "%.*s%s", SHOWN, list->count ? text + 1 : "no events",
             strlen(text) > SHOWN ? " ..." : "");
}

// ---- what each value may be instead ------------------------------------------------------------
static void expect_amount(CaseRun *run, const char *name, int64_t bytes) {
    run_expect_integer(run, name, bytes);
    if (bytes < 1024 * 1024) return; // 0 MB: nobody can tell
    run_mistake_integer(run, "megabytes_for_bytes", bytes / 1000000);
    run_mistake_integer(run, "megabytes_for_bytes", bytes / (1024 * 1024));
}

static void expect_sums(CaseRun *run, const List *list) {
    Replay right = replay_all(list->events, list->count, FREES_RIGHT);
    Replay guessed = replay_all(list->events, list->count, FREES_BY_EVENT);
    expect_amount(run, "live", right.live);
    run_mistake_integer(run, "frees_ignored", right.total);
    run_mistake_integer(run, "free_size_guessed", guessed.live);
    expect_amount(run, "peak", right.peak);
    run_mistake_integer(run, "live_for_peak", right.live);
    run_mistake_integer(run, "total_for_peak", right.total);
    run_mistake_integer(run, "free_size_guessed", guessed.peak);
    expect_amount(run, "total", right.total);
    run_mistake_integer(run, "peak_for_total", right.peak);
    run_mistake_integer(run, "live_for_total", right.live);
}

static void expect_categories(CaseRun *run, const List *list) {
    static const char *const names[] = {"at_peak[PARAMETER]", "at_peak[GRADIENT]",
                                        "at_peak[OPTIMIZER]", "at_peak[ACTIVATION]",
                                        "at_peak[WORKSPACE]"};
    Replay right = replay_all(list->events, list->count, FREES_RIGHT);
    Replay guessed = replay_all(list->events, list->count, FREES_BY_EVENT);
    for (int k = 0; k < MEMORY_KINDS; k++) {
        run_expect_integer(run, names[k], right.at_peak[k]);
        run_mistake_integer(run, "category_at_end", right.now[k]);
        run_mistake_integer(run, "category_own_peak", right.highest[k]);
        run_mistake_integer(run, "category_total", right.ever[k]);
        run_mistake_integer(run, "free_size_guessed", guessed.at_peak[k]);
    }
}

static void expect_leaks(CaseRun *run, const List *list) {
    Replay right = replay_all(list->events, list->count, FREES_RIGHT);
    int64_t blocks = right.blocks[MEMORY_ACTIVATION] + right.blocks[MEMORY_WORKSPACE], all = 0;
    int64_t bytes = right.now[MEMORY_ACTIVATION] + right.now[MEMORY_WORKSPACE];
    for (int k = 0; k < MEMORY_KINDS; k++) all += right.blocks[k];
    run_expect_integer(run, "leaked_blocks", blocks);
    run_mistake_integer(run, "leak_missed", 0);
    run_mistake_integer(run, "persistent_called_leak", all);
    run_expect_integer(run, "leaked_bytes", bytes);
    run_mistake_integer(run, "leak_missed", 0);
    run_mistake_integer(run, "persistent_called_leak", right.live);
}

// ---- cases -------------------------------------------------------------------------------------
Status memory_live_peak_total(Draw *draw, CaseRun *run) {
    List list = draw_step(draw, 2 + draw->run % 4);
    if (draw->run == 3) list.count = 0;
    write_run(run, &list, ASK_LIVE | ASK_PEAK | ASK_TOTAL);
    snprintf(run->asked, CASE_LINE, "bytes: live at the end, highest live, ever allocated");
    snprintf(run->formula, CASE_LINE, "a free subtracts what its allocation added");
    expect_sums(run, &list);
    return STATUS_OK;
}

Status memory_by_category(Draw *draw, CaseRun *run) {
    List list = draw_step(draw, 3 + draw->run % 3);
    write_run(run, &list, ASK_AT_PEAK);
    snprintf(run->asked, CASE_LINE, "bytes of each category at the moment of the peak");
    snprintf(run->formula, CASE_LINE, "they add up to the peak");
    expect_categories(run, &list);
    return STATUS_OK;
}

Status memory_leaks(Draw *draw, CaseRun *run) {
    List list = draw_step(draw, 3 + draw->run % 3);
    write_run(run, &list, ASK_LEAKS);
    snprintf(run->asked, CASE_LINE, "blocks and bytes that were forgotten");
    snprintf(run->formula, CASE_LINE, "activations and workspace that are live at the end");
    expect_leaks(run, &list);
    return STATUS_OK;
}

Status memory_bad_list(Draw *draw, CaseRun *run) {
    int which = draw->run % 4;
    List list = {0};
    int64_t id = add(&list, MEMORY_ACTIVATION, 0, kilo(draw, 1, 900));
    add(&list, MEMORY_ACTIVATION, 0, kilo(draw, 1, 900));
    if (which == 0) give_back(&list, id); // twice, with the one below
    if (which == 1) id = 7;               // never allocated
    if (which <= 1) give_back(&list, id);
    if (which == 2) add(&list, MEMORY_WORKSPACE, id, 400); // lives already
    if (which == 3) list.events[1].bytes = -4;
    write_run(run, &list, 0);
    snprintf(run->asked, CASE_LINE, "the status");
    snprintf(run->formula, CASE_LINE, "such a list cannot have happened");
    run->status = STATUS_INVALID_ARGUMENT;
    run_mistake_status(run, "bad_list_accepted", STATUS_OK);
    return STATUS_OK;
}
