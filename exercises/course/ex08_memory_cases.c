// ex08_memory_cases.c -- exercise 08 in the grader: lists of allocations, and the table of cases.
// The right values come from the library's ledger after it allocates the same blocks; wrong values
// are the ledger's values for a part of the list, or sums over its events.
#include <stdio.h>
#include <string.h>

#include "exercises/course/parts.h"
#include "exercises/course/values.h"
#include "exercises/support/memory_text.h"
#include "tensor/memory.h"

// ---- asking the ledger -------------------------------------------------------------------------
typedef struct List {
    AllocationEvent events[MEMORY_MOST_EVENTS];
    int of[MEMORY_MOST_EVENTS]; // index of the event that allocated the block
    int count;
} List;

enum { ALL_KINDS = -1 };

typedef struct Part { // a part of a list
    int count;        // number of its events, from the first on
    int kind;         // only blocks of this category, or ALL_KINDS
    bool no_frees;
} Part;

typedef struct Record {
    MemoryUse live, peak;
    int64_t total, blocks[MEMORY_KINDS]; // bytes ever allocated; numbers of live blocks
} Record;

static Status allocate_part(const List *list, Part part, Storage **blocks, Record *record) {
    for (int i = 0; i < part.count; i++) {
        const AllocationEvent *event = &list->events[i];
        MemoryKind kind = list->events[list->of[i]].kind;
        if (part.kind != ALL_KINDS && (int)kind != part.kind) continue;
        if (event->is_free && !part.no_frees) {
            storage_release(blocks[list->of[i]]);
            blocks[list->of[i]] = NULL;
            record->blocks[kind]--;
        }
        if (event->is_free) continue;
        blocks[i] = storage_new(device_meta(), event->bytes, (MemoryCategory)kind);
        if (!blocks[i]) return error_status();
        record->blocks[kind]++;
        record->total += event->bytes;
    }
    return STATUS_OK;
}

static Status record_part(const List *list, Part part, Record *record) {
    *record = (Record){.total = 0};
    Storage **blocks = memory_new(sizeof *blocks * MEMORY_MOST_EVENTS);
    Context *context = blocks ? context_new() : NULL;
    if (context) context_push(context);
    Ledger *ledger = context ? context_ledger() : NULL;
    Status status = ledger ? allocate_part(list, part, blocks, record) : error_status();
    if (ledger) record->live = ledger->live;
    if (ledger) record->peak = ledger->peak;
    for (int i = 0; ledger && i < part.count; i++)
        if (blocks[i]) storage_release(blocks[i]);
    if (context) context_pop();
    context_free(context);
    memory_free(blocks);
    return status ? status : error_status();
}

// ---- lists -------------------------------------------------------------------------------------
// Sizes in kB: $a to $d up to 300, $e to $h from 400 to 900, $A to $D from 2,000; more if the unit
// is above 4 bytes.
static void write_list(Draw *draw, const char *pattern, int64_t unit, int ask, CaseRun *run) {
    enum { SHOWN = CASE_LINE - 10 };
    int64_t sizes[128] = {0};
    char text[2 * CASE_LINE - 40];
    for (char c = 'a'; c <= 'd'; c++) sizes[(int)c] = unit * draw_between(draw, 2500, 75000);
    for (char c = 'e'; c <= 'h'; c++) sizes[(int)c] = unit * draw_between(draw, 100000, 225000);
    for (char c = 'A'; c <= 'D'; c++) sizes[(int)c] = unit * draw_between(draw, 500000, 750000);
    text_fill(text, sizeof text, pattern, sizes);
    snprintf(run->input, sizeof run->input, "ask=%d events=%s", ask, text);
    snprintf(run->shown, CASE_LINE, "%.*s%s", SHOWN, *text ? text : "no events",
             strlen(text) > SHOWN ? " ..." : "");
}

// Reads the list back for the ledger, owned. NULL with an error pending.
static List *read_list(const CaseRun *run) {
    List *list = memory_new(sizeof *list);
    if (!list) return NULL;
    const char *text = strstr(run->input, "events=") + strlen("events=");
    list->count = (int)memory_text_read(text, list->events, MEMORY_MOST_EVENTS);
    for (int i = 0; i < list->count; i++) {
        int k = list->events[i].is_free ? i - 1 : i;
        while (list->events[k].is_free || list->events[k].id != list->events[i].id) k--;
        list->of[i] = k;
    }
    return list;
}

// ---- values, right and wrong -------------------------------------------------------------------
static void expect_live(CaseRun *run, const List *list, const Record *right) {
    int64_t guessed = right->total, first = right->total;
    for (int i = 0; i < list->count; i++) {
        int of_id = 0; // the first block with this id
        while (list->events[of_id].id != list->events[i].id) of_id++;
        if (!list->events[i].is_free) continue;
        guessed -= list->events[i].bytes;
        first -= list->events[of_id].bytes;
    }
    expect_bytes(run, "live", right->live.total);
    run_mistake_integer(run, "frees_ignored", right->total);
    run_mistake_integer(run, "free_size_guessed", guessed);
    run_mistake_integer(run, "id_used_again", first);
    run_mistake_integer(run, "read_beyond_count", right->live.total + MEMORY_BEYOND_BYTES);
}

static Status expect_sums(CaseRun *run, const List *list) {
    Record right;
    Status status = record_part(list, (Part){list->count, ALL_KINDS, false}, &right);
    expect_live(run, list, &right);
    expect_bytes(run, "peak", right.peak.total);
    run_mistake_integer(run, "live_for_peak", right.live.total);
    run_mistake_integer(run, "total_for_peak", right.total);
    expect_bytes(run, "total", right.total);
    run_mistake_integer(run, "peak_for_total", right.peak.total);
    run_mistake_integer(run, "live_for_total", right.live.total);
    return status;
}

// For a list that reaches its peak with event number `peak`, from 1, and again with number `again`.
static Status expect_category(CaseRun *run, const List *list, int kind, int peak, int again) {
    static const char *const names[MEMORY_KINDS] = {"at_peak[PARAMETER]", "at_peak[GRADIENT]",
                                                    "at_peak[OPTIMIZER]", "at_peak[ACTIVATION]",
                                                    "at_peak[WORKSPACE]"};
    enum { RIGHT, AGAIN, OWN, EVER, UNTIL, RECORDS };
    const Part parts[RECORDS] = {{list->count, ALL_KINDS, false},
                                 {again, ALL_KINDS, false},
                                 {list->count, kind, false},
                                 {list->count, kind, true},
                                 {peak, ALL_KINDS, true}};
    Record records[RECORDS];
    for (int i = 0; i < RECORDS; i++)
        if (record_part(list, parts[i], &records[i])) return error_status();
    const MemoryUse *right = &records[RIGHT].peak, *until = &records[UNTIL].live;
    run_expect_integer(run, names[kind], right->category[kind]);
    run_mistake_integer(run, "peak_reached_again", records[AGAIN].live.category[kind]);
    run_mistake_integer(run, "category_at_end", records[RIGHT].live.category[kind]);
    run_mistake_integer(run, "category_own_peak", records[OWN].peak.total);
    run_mistake_integer(run, "category_total", records[EVER].live.total);
    // A free says PARAMETER, so this mistake subtracts all frees from that category.
    if (kind == MEMORY_PARAMETER)
        run_mistake_integer(run, "free_size_guessed",
                            right->total - until->total + until->category[kind]);
    return STATUS_OK;
}

static Status expect_leaks(CaseRun *run, const List *list) {
    Record right;
    Status status = record_part(list, (Part){list->count, ALL_KINDS, false}, &right);
    int64_t all = 0, empty = 0;
    int64_t blocks = right.blocks[MEMORY_ACTIVATION] + right.blocks[MEMORY_WORKSPACE];
    int64_t bytes = right.live.category[MEM_ACTIVATION] + right.live.category[MEM_WORKSPACE];
    for (int i = 0; i < list->count; i++)
        empty += !list->events[i].is_free && list->events[i].bytes == 0;
    for (int k = 0; k < MEMORY_KINDS; k++) all += right.blocks[k];
    run_expect_integer(run, "leaked_blocks", blocks);
    run_mistake_integer(run, "leak_missed", 0);
    run_mistake_integer(run, "empty_block_forgotten", blocks - empty);
    run_mistake_integer(run, "leak_missed", right.blocks[MEMORY_ACTIVATION]);
    run_mistake_integer(run, "leak_missed", right.blocks[MEMORY_WORKSPACE]);
    run_mistake_integer(run, "persistent_called_leak", all);
    run_mistake_integer(run, "persistent_called_leak", blocks + right.blocks[MEMORY_GRADIENT]);
    run_expect_integer(run, "leaked_bytes", bytes);
    run_mistake_integer(run, "leak_missed", 0);
    run_mistake_integer(run, "persistent_called_leak", right.live.total);
    return status;
}

// ---- cases -------------------------------------------------------------------------------------
// A training step: blocks that stay; forward, with the peak at the second layer's workspace;
// backward, which frees all but one of the blocks that forward kept. Values at the peak, at the
// end, at most and in total differ for every category where they can.
#define STEP "p1=$A o2=$a g3=$b g4=$e -4 w5=$c a6=$d -5 w5=$B a7=$f -5 "
#define STEP_BACK "g8=$c w5=$h -7"

typedef struct Asked {
    const char *pattern;
    int peak, again; // the events that reach the peak, for questions about its composition
} Asked;

static Status ask_list(Draw *draw, CaseRun *run, Asked asked, int64_t unit, int ask) {
    write_list(draw, asked.pattern, unit, ask, run);
    List *list = read_list(run);
    Status status = list ? STATUS_OK : error_status();
    if (!status && (ask & MEMORY_ASK_LIVE)) status = expect_sums(run, list);
    for (int k = 0; k < MEMORY_KINDS && !status && (ask & MEMORY_ASK_AT_PEAK); k++)
        status = expect_category(run, list, k, asked.peak, asked.again);
    if (!status && (ask & MEMORY_ASK_LEAKS)) status = expect_leaks(run, list);
    memory_free(list);
    return status;
}

enum { SUMS = MEMORY_ASK_LIVE | MEMORY_ASK_PEAK | MEMORY_ASK_TOTAL };

static Status live_peak_total(Draw *draw, CaseRun *run) {
    static const char *const patterns[] = {
        STEP STEP_BACK, "", "p1=$A w2=$e -w2=-4096 g3=$f -p3=12288 a4=$a -o4=0 a5=$b -1",
        "w1=$a -1 w1=$e -1 p1=$b a2=$A -2 a2=$f -1 p1=$c", STEP STEP_BACK};
    case_say(run, "bytes: live at the end, highest live, ever allocated",
             "a free subtracts what its allocation added");
    if (draw->run == 2) run_mistake_status(run, "free_size_guessed", STATUS_INVALID_ARGUMENT);
    return ask_list(draw, run, (Asked){patterns[draw->run], 0, 0}, draw->run == 4 ? 40000 : 4,
                    SUMS);
}

static Status by_category(Draw *draw, CaseRun *run) {
    static const Asked lists[] = {
        {STEP STEP_BACK, 10, 10},
        {"p1=$A a2=$e -2 w2=$f g3=$a -2 a2=$b o4=$A w5=$g -?5 g5=$c -2 p2=$d -3 -1", 9, 9},
        {"p1=$A g2=$h -p2=4 o3=$a a4=$e -w4=9 w4=$B -g4=-7 o4=$b g5=$c", 7, 7},
        {"", 0, 0},
        // Sums beyond 32 bits, and a peak at the very end.
        {"p1=$a o2=$b w3=$e -3 g4=$f w5=$A -5 w6=$A+$B", 8, 8}};
    case_say(run, "bytes of each category at the moment of the peak", "they add up to the peak");
    return ask_list(draw, run, lists[draw->run], draw->run == 4 ? 40000 : 4, MEMORY_ASK_AT_PEAK);
}

static Status first_peak(Draw *draw, CaseRun *run) {
    static const Asked lists[] = {{"p1=$A a2=$e w3=$f -3 -2 g4=$e+$f -4 w6=$a", 3, 6},
                                  {"o1=$a a2=$e w3=0 -2 w4=$e g5=0 -4", 2, 5}};
    case_say(run, "bytes of each category when the peak was first reached",
             "a moment with as many live bytes is no new peak");
    return ask_list(draw, run, lists[draw->run], 4, MEMORY_ASK_AT_PEAK);
}

static Status leaks(Draw *draw, CaseRun *run) {
    static const char *const patterns[] = {STEP STEP_BACK,
                                           "a1=$a -1 p1=$e w2=$b -2 o2=$c p3=$f -3 a3=$D",
                                           "p1=$A g2=$a a3=$b -3 w4=$c -4", "a1=0 w2=$a -2 w2=$b",
                                           ""};
    case_say(run, "blocks and bytes that were forgotten",
             "activations and workspace that are live at the end");
    run_mistake_status(run, "empty_block_forgotten", STATUS_INVALID_ARGUMENT);
    return ask_list(draw, run, (Asked){patterns[draw->run], 0, 0}, draw->run == 1 ? 40000 : 4,
                    MEMORY_ASK_LEAKS);
}

static Status bad_list(Draw *draw, CaseRun *run) {
    static const struct {
        const char *pattern, *mistake;
    } lists[] = {
        {"a1=$a a2=$b -1 -1", "bad_list_accepted"},
        {"a1=$a w2=$b -7 -2 -1", "bad_list_accepted"},
        {"a1=$a w1=$b -1", "bad_list_accepted"},
        {"a1=$a w2=-4 -2 -1", "bad_list_accepted"},
        {"-1", "bad_list_accepted"},
        {"w2=$a -1 a1=$b -1 -2", "bad_list_accepted"},
        {"a1=$a -1 w1=$b -1 -1 a3=$c", "id_used_again"},
        {"a1=$a -1 a1=$b a1=$c -1", "id_used_again"},
        {"a1=0 -1 -1", "bad_list_accepted"},
        {"a1=0 w1=$a -1", "empty_block_forgotten"},
    };
    write_list(draw, lists[draw->run].pattern, 4, 0, run);
    case_say(run, "the status", "such a list cannot have happened");
    run->status = STATUS_INVALID_ARGUMENT;
    run_mistake_status(run, lists[draw->run].mistake, STATUS_OK);
    return STATUS_OK;
}

static Status account(Draw *draw, CaseRun *run, const char *pattern, Status expected) {
    write_list(draw, pattern, 4, MEMORY_ASK_ACCOUNT, run);
    memory_expect_account(run, expected);
    return STATUS_OK;
}

static Status odd_lists(Draw *draw, CaseRun *run) {
    static const char *const patterns[] = {
        "p0=$A a-1=$e w7=$a a4294967303=$b g9223372036854775807=$c -7 --1 w4294967295=$d -0",
        "a1=0 p2=$a g3=0 -1 w1=$b -3 o3=$e -2 w2=0 -1",
        "a1..1200=$a -2..1199 w2..600=$b g5000=$c -2..599",
    };
    case_say(run, "what is live, the peak, the total, what was forgotten",
             "ids, sizes and lists as large or small as they come");
    run_mistake_status(run, draw->run == 1 ? "empty_block_forgotten" : "id_used_again",
                       STATUS_INVALID_ARGUMENT);
    if (draw->run < 3)
        return ask_list(draw, run, (Asked){patterns[draw->run], 0, 0}, 4, SUMS | MEMORY_ASK_LEAKS);
    static const char *const accounts[] = {STEP STEP_BACK, "a1=$a w2=$b -1 g3=$c -1 -2",
                                           "a1=$a w2=$b o3=$c w2=$d -1", "a1=$a w2=$b g3=-4 -1"};
    return account(draw, run, accounts[draw->run - 3],
                   draw->run == 3 ? STATUS_OK : STATUS_INVALID_ARGUMENT);
}

enum { TRAINING = 1 }; // index of the second function, training_memory

static const ExerciseCase cases[] = {
    {.name = "live_peak_total",
     .points = 1,
     .runs = 5,
     .clauses = "1 2 3 5 7 10 22",
     .make = live_peak_total},
    {.name = "by_category", .points = 1, .runs = 5, .clauses = "2 3 5 6 22", .make = by_category},
    {.name = "first_peak", .points = 1, .runs = 2, .clauses = "6", .make = first_peak},
    {.name = "leaks", .points = 1, .runs = 5, .clauses = "8 9 22", .make = leaks},
    {.name = "bad_list",
     .points = 1,
     .runs = 10,
     .clauses = "3 4 9",
     .needs = "live_peak_total",
     .make = bad_list},
    {.name = "odd_lists",
     .points = 1,
     .runs = 7,
     .hidden = true,
     .clauses = "3 9 11",
     .make = odd_lists},
    {.name = "parameters_gradients",
     .function = TRAINING,
     .points = 1,
     .runs = 6,
     .clauses = "12 13 22 23",
     .make = memory_parameters},
    {.name = "optimizer_state",
     .function = TRAINING,
     .points = 1,
     .runs = 6,
     .clauses = "14 22",
     .make = memory_optimizer},
    {.name = "activations",
     .function = TRAINING,
     .points = 1,
     .runs = 8,
     .clauses = "15 16 17 18 19 20 23 24",
     .make = memory_activations},
    {.name = "kept_buffers",
     .function = TRAINING,
     .points = 1,
     .runs = 23,
     .hidden = true,
     .clauses = "11 15 16 17 18 19 20 23 24",
     .make = memory_kept_buffers},
    {.name = "training_total",
     .function = TRAINING,
     .points = 1,
     .runs = 3,
     .clauses = "21 22",
     .make = memory_total},
    {.name = "adam_by_hand",
     .points = 1,
     .runs = 1,
     .by_hand = "08_adam_megabytes",
     .make = memory_by_hand},
};

const Exercise exercise_08 = {.number = "08",
                              .name = "memory",
                              .function = "memory_use training_memory",
                              .title = "Where the bytes go",
                              .minutes = 75,
                              .points = 12,
                              .cases = cases,
                              .n_cases = sizeof cases / sizeof cases[0]};
