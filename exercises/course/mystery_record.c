// mystery_record.c -- the rule that finds a cause, and the table that it reads.
#include "exercises/course/mystery_record.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "exercises/course/table_text.h"

const char *const cause_words[] = {"starved_loader",    "sleeping_threads",
                                   "page_faults",       "heavy_optimizer",
                                   "false_sharing",     "cold_cache",
                                   "out_of_proportion", NULL};
const char *const place_words[] = {"fc1", "relu1", "recall1",   "fc2",    "relu2", "recall2",
                                   "fc3", "loss",  "optimizer", "loader", NULL};

// ---- the rule ----------------------------------------------------------------------------------
static bool is_layer(int place) { return place < PLACE_OPTIMIZER; }

// The layer with the most seconds above its roof.
static int furthest(const MysteryRecord *record) {
    int best = 0;
    for (int i = 1; is_layer(i); i++) {
        const MysteryRow *row = &record->rows[i], *other = &record->rows[best];
        if (row->seconds - row->roof > other->seconds - other->roof) best = i;
    }
    return best;
}

// Functions for the causes: the seconds of a step that a place loses by the cause.
static double waiting(const MysteryRecord *record, int place) {
    return place == PLACE_LOADER ? record->rows[place].seconds : 0.0;
}
static double asleep(const MysteryRecord *record, int place) {
    return place == furthest(record) ? record->off_cores : 0.0;
}
static double faulting(const MysteryRecord *record, int place) {
    return place == furthest(record) ? record->page_faults : 0.0;
}
static double updating(const MysteryRecord *record, int place) {
    return place == PLACE_OPTIMIZER ? record->rows[place].seconds : 0.0;
}
static double slower_together(const MysteryRecord *record, int place) {
    const MysteryRow *row = &record->rows[place];
    return is_layer(place) ? row->seconds - row->one_thread : 0.0;
}
static double fetching(const MysteryRecord *record, int place) {
    const MysteryRow *row = &record->rows[place];
    return is_layer(place) && strcmp(row->memory, "DRAM") == 0 ? row->seconds : 0.0;
}
static double computing(const MysteryRecord *record, int place) {
    double all = 0.0;
    for (int i = 0; i < PLACE_COUNT; i++) all += record->rows[i].flops;
    const MysteryRow *row = &record->rows[place];
    return is_layer(place) && row->flops > 0.6 * all ? row->seconds : 0.0;
}

// A cause shows if it takes at least this share of the step, as exercises/mystery.txt says.
static const struct {
    double share;
    double (*seconds)(const MysteryRecord *record, int place);
} rules[CAUSE_COUNT] = {
    [CAUSE_STARVED_LOADER] = {0.5, waiting},        [CAUSE_SLEEPING_THREADS] = {0.3, asleep},
    [CAUSE_PAGE_FAULTS] = {0.3, faulting},          [CAUSE_HEAVY_OPTIMIZER] = {0.5, updating},
    [CAUSE_FALSE_SHARING] = {0.1, slower_together}, [CAUSE_COLD_CACHE] = {0.1, fetching},
    [CAUSE_OUT_OF_PROPORTION] = {0.5, computing},
};

MysteryFinding mystery_find(const MysteryRecord *record) {
    for (int cause = 0; cause < CAUSE_COUNT; cause++) {
        int place = 0;
        for (int i = 1; i < PLACE_COUNT; i++)
            if (rules[cause].seconds(record, i) > rules[cause].seconds(record, place)) place = i;
        if (rules[cause].seconds(record, place) >= rules[cause].share * record->step)
            return (MysteryFinding){(Cause)cause, place};
    }
    return (MysteryFinding){CAUSE_COUNT, PLACE_COUNT};
}

// ---- the table ---------------------------------------------------------------------------------
static const char header[] = "row,seconds,roof_seconds,one_thread_seconds,flops,memory";
enum { NUMBERS = 4 };
#define MOST_FLOPS 1e15

// The lines below the rows: seconds of the step.
static const struct {
    const char *name;
    size_t offset;
} facts[] = {{"step", offsetof(MysteryRecord, step)},
             {"page_faults", offsetof(MysteryRecord, page_faults)},
             {"off_the_cores", offsetof(MysteryRecord, off_cores)}};
enum { FACTS = sizeof facts / sizeof facts[0] };

static double *fact_of(MysteryRecord *record, int i) {
    return (double *)((char *)record + facts[i].offset);
}

static void add(char text[MYSTERY_TEXT], size_t *used, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add(char text[MYSTERY_TEXT], size_t *used, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    *used += (size_t)vsnprintf(text + *used, MYSTERY_TEXT - *used, format, arguments);
    va_end(arguments);
}

size_t mystery_text(const MysteryRecord *record, char text[MYSTERY_TEXT]) {
    MysteryRecord copy = *record;
    size_t used = 0;
    add(text, &used, "mystery,%lld\n%s\n", (long long)record->seed, header);
    for (int i = 0; i < PLACE_COUNT; i++) {
        const MysteryRow *row = &record->rows[i];
        add(text, &used, "%s,%.6g,%.6g,%.6g,%.0f,%.7s\n", place_words[i], row->seconds, row->roof,
            row->one_thread, row->flops, row->memory);
    }
    for (int i = 0; i < FACTS; i++)
        add(text, &used, "%s,%.6g\n", facts[i].name, *fact_of(&copy, i));
    return used;
}

// The text after "name," in a line; NULL: another line.
static const char *after_name(const char *line, const char *name) {
    size_t length = strlen(name);
    return strncmp(line, name, length) == 0 && line[length] == ',' ? line + length + 1 : NULL;
}

static const char *read_row(const char *line, int place, MysteryRow *row) {
    double numbers[NUMBERS];
    char text[TABLE_LINE];
    const char *values = after_name(line, place_words[place]), *last = strrchr(line, ',');
    if (!values || last < values) return "another row is expected";
    snprintf(text, sizeof text, "%.*s", (int)(last - values), values);
    bool sound = table_numbers(text, numbers, NUMBERS);
    if (!sound || numbers[3] != floor(numbers[3]) || numbers[3] > MOST_FLOPS)
        return "four numbers from 0 on are expected, the last one whole";
    size_t length = strlen(last + 1);
    if (length == 0 || length >= sizeof row->memory) return "the last column names a memory, or -";
    *row = (MysteryRow){numbers[0], numbers[1], numbers[2], numbers[3], ""};
    memcpy(row->memory, last + 1, length + 1);
    return NULL;
}

static const char *read_seed(const char *line, int64_t *seed) {
    double number;
    const char *text = after_name(line, "mystery");
    bool whole = text && table_numbers(text, &number, 1) && number == floor(number);
    if (!whole || number < 1 || number > MYSTERY_MOST_SEED)
        return "the first line says which mystery, as in mystery,7";
    *seed = (int64_t)number;
    return NULL;
}

static const char *read_line(const char *line, int index, MysteryRecord *record) {
    if (index == 0) return read_seed(line, &record->seed);
    if (index == 1) return strcmp(line, header) == 0 ? NULL : "another header is expected";
    if (index - 2 < PLACE_COUNT) return read_row(line, index - 2, &record->rows[index - 2]);
    int i = index - 2 - PLACE_COUNT;
    if (i >= FACTS) return "more lines than are expected";
    const char *text = after_name(line, facts[i].name);
    return text && table_numbers(text, fact_of(record, i), 1) ? NULL : "another row is expected";
}

static const char *read_lines(TableText *table, MysteryRecord *record) {
    int lines = 0;
    while (table_next(table)) {
        const char *wrong = read_line(table->line, lines++, record);
        if (wrong) return wrong;
    }
    if (lines < 2 + PLACE_COUNT + FACTS) return "it ends too early";
    return record->step > 0.0 ? NULL : "the step takes no time";
}

bool mystery_read(const char *text, MysteryRecord *record, char problem[CASE_LINE]) {
    TableText table = {.at = text};
    *record = (MysteryRecord){.seed = 0};
    problem[0] = '\0';
    const char *wrong = text ? read_lines(&table, record) : "there is none yet";
    snprintf(record->seal, KEY_SEAL, "%s", table.seal);
    if (wrong)
        snprintf(problem, CASE_LINE, "mystery.csv:%d: %s; write it with ./lab mystery SEED",
                 table.number, wrong);
    return !wrong;
}

bool mystery_is_of(const MysteryRecord *record, const char *token, char problem[CASE_LINE]) {
    char text[MYSTERY_TEXT];
    TableSeal seal = {"mystery.csv", "mystery", record->seal, token};
    return table_is_of(seal, text, mystery_text(record, text), problem);
}
