// test_mystery_record.c -- the record of a mystery: the rule finds each cause at its place, the
// first of several, and none if none shows; a table that is not the lab's is refused.
#include <stdio.h>
#include <string.h>

#include "exercises/course/mystery_record.h"
#include "tests/helpers/harness.h"

// A step of 1 ms in which nothing shows: fc1 and fc2 are alike, and near their roofs.
static MysteryRecord innocent(void) {
    MysteryRecord record = {.seed = 7, .step = 1e-3};
    for (int i = 0; i < PLACE_COUNT; i++)
        record.rows[i] = (MysteryRow){1e-5, 8e-6, 1e-5, 1e4, "L2"};
    record.rows[PLACE_FC1] = (MysteryRow){4e-4, 3e-4, 7e-4, 5e7, "-"};
    record.rows[PLACE_FC2] = (MysteryRow){4e-4, 3e-4, 7e-4, 5e7, "-"};
    record.rows[PLACE_OPTIMIZER] = (MysteryRow){1e-4, 8e-5, 2e-4, 1e6, "L3"};
    return record;
}

static void plant(MysteryRecord *record, Cause cause, int place) {
    MysteryRow *row = &record->rows[place];
    if (cause == CAUSE_STARVED_LOADER) row->seconds = 5e-4;
    if (cause == CAUSE_SLEEPING_THREADS) record->off_cores = 3e-4;
    if (cause == CAUSE_PAGE_FAULTS) record->page_faults = 3e-4;
    if (cause == CAUSE_HEAVY_OPTIMIZER) row->seconds = 5e-4;
    if (cause == CAUSE_FALSE_SHARING) row->one_thread = row->seconds - 1e-4;
    if (cause == CAUSE_COLD_CACHE) strcpy(row->memory, "DRAM");
    if (cause == CAUSE_OUT_OF_PROPORTION) row->flops = 1e9, row->seconds = row->one_thread = 5e-4;
}

static const int places[CAUSE_COUNT] = {
    [CAUSE_STARVED_LOADER] = PLACE_LOADER, [CAUSE_SLEEPING_THREADS] = PLACE_RECALL1,
    [CAUSE_PAGE_FAULTS] = PLACE_RECALL2,   [CAUSE_HEAVY_OPTIMIZER] = PLACE_OPTIMIZER,
    [CAUSE_FALSE_SHARING] = PLACE_RECALL2, [CAUSE_COLD_CACHE] = PLACE_RECALL1,
    [CAUSE_OUT_OF_PROPORTION] = PLACE_FC3,
};

// Plants the cause with `part` of the share that it needs to show.
static MysteryFinding find(int cause, double part) {
    MysteryRecord record = innocent();
    int place = places[cause];
    bool layer = place < PLACE_OPTIMIZER;
    if (layer) record.rows[place].seconds = 3e-4, record.rows[place].one_thread = 3e-4;
    if (cause == CAUSE_COLD_CACHE) record.rows[place].seconds = 1e-4;
    plant(&record, (Cause)cause, place);
    record.step /= part;
    return mystery_find(&record);
}

START_TEST(each_cause_is_found_where_it_is) {
    MysteryFinding found = find(_i, 1.001);
    ck_assert_str_eq(cause_words[found.cause], cause_words[_i]);
    ck_assert_str_eq(place_words[found.place], place_words[places[_i]]);
    ck_assert_int_eq(find(_i, 0.999).cause, CAUSE_COUNT);
}
END_TEST

START_TEST(where_nothing_shows_nothing_is_found) {
    MysteryRecord record = innocent();
    ck_assert_int_eq(mystery_find(&record).cause, CAUSE_COUNT);
    strcpy(record.rows[PLACE_OPTIMIZER].memory, "DRAM"); // an update is expected to use DRAM
    record.rows[PLACE_OPTIMIZER].seconds = 4e-4;
    record.rows[PLACE_OPTIMIZER].flops = 1e12; // an update is no layer
    ck_assert_int_eq(mystery_find(&record).cause, CAUSE_COUNT);
}
END_TEST

START_TEST(of_several_the_first_counts) {
    MysteryRecord record = innocent();
    for (int cause = CAUSE_COUNT - 1; cause >= 0; cause--) {
        plant(&record, (Cause)cause, places[cause]);
        MysteryRow *cold = &record.rows[PLACE_RECALL1];
        if (cause == CAUSE_COLD_CACHE) cold->seconds = cold->one_thread = 3e-4;
        if (cause == CAUSE_FALSE_SHARING) record.rows[PLACE_RECALL2].one_thread = -1e-3;
        ck_assert_str_eq(cause_words[mystery_find(&record).cause], cause_words[cause]);
    }
}
END_TEST

// ---- the table ---------------------------------------------------------------------------------
START_TEST(what_is_written_is_read) {
    MysteryRecord record = innocent(), back;
    char text[MYSTERY_TEXT], again[MYSTERY_TEXT], problem[CASE_LINE];
    record.step = 1.0 / 3e3;
    record.rows[PLACE_RELU1].seconds = 1e-9 / 7.0;
    record.rows[PLACE_FC3].flops = 1e15;
    size_t size = mystery_text(&record, text);
    ck_assert_uint_eq(size, strlen(text));
    ck_assert_msg(mystery_read(text, &back, problem), "%s", problem);
    mystery_text(&back, again);
    ck_assert_str_eq(text, again); // so that the seal fits the text read back
    ck_assert_int_eq(back.seed, 7);
    ck_assert_str_eq(back.rows[PLACE_OPTIMIZER].memory, "L3");
    ck_assert_double_eq(back.rows[PLACE_FC1].roof, 3e-4);
}
END_TEST

START_TEST(a_seal_is_of_every_number) {
    MysteryRecord record = innocent(), back;
    char text[MYSTERY_TEXT + 64], seal[KEY_SEAL], problem[CASE_LINE];
    static const char token[] = "0123456789ab";
    size_t size = mystery_text(&record, text);
    key_seal(token, text, size, seal);
    snprintf(text + size, sizeof text - size, "# sealed %s\n", seal);
    ck_assert(mystery_read(text, &back, problem));
    ck_assert(mystery_is_of(&back, token, problem));
    ck_assert(mystery_is_of(&back, "", problem)); // practice accepts any owner
    ck_assert(!mystery_is_of(&back, "0123456789ac", problem));
    ck_assert_ptr_nonnull(strstr(problem, "./lab mystery"));
    char *digit = strstr(text, "0.0004");
    *(digit + 5) = '5';
    ck_assert(mystery_read(text, &back, problem));
    ck_assert(!mystery_is_of(&back, token, problem));
}
END_TEST

static void assert_refused(const char *text, const char *why) {
    MysteryRecord record;
    char problem[CASE_LINE];
    ck_assert_msg(!mystery_read(text, &record, problem), "%s", text);
    ck_assert_msg(strstr(problem, "mystery.csv:") == problem, "%s", problem);
    ck_assert_msg(strstr(problem, why) != NULL, "%s", problem);
}

// Expects a refusal of the sound text with `old` replaced.
static void assert_refused_with(const char *old, const char *new, const char *why) {
    MysteryRecord record = innocent();
    char text[MYSTERY_TEXT], changed[2 * MYSTERY_TEXT];
    mystery_text(&record, text);
    const char *at = strstr(text, old);
    ck_assert_msg(at != NULL, "%s", old);
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
    assert_refused(changed, why);
}

START_TEST(tables_that_are_none_are_refused) {
    static const struct {
        const char *old, *new, *why;
    } changes[] = {
        {"mystery,7", "mystery,0", "which mystery"},
        {"mystery,7", "mystery,7.5", "which mystery"},
        {"mystery,7", "mystery,1e7", "which mystery"},
        {"mystery,7", "mystery,", "which mystery"},
        {"mystery,7\n", "", "which mystery"},
        {"row,", "rows,", "header"},
        {"fc1,", "fc2,", "another row"},
        {"\nrelu1,", "\nrelu1;", "another row"},
        {"0.0004,0.0003", "-0.0004,0.0003", "four numbers"},
        {"0.0004,0.0003", "nan,0.0003", "four numbers"},
        {"0.0004,0.0003", "0x1,0.0003", "four numbers"},
        {"0.0004,0.0003", "1e999,0.0003", "four numbers"},
        {"0.0004,0.0003", "0.0004", "four numbers"},
        {"0.0004,0.0003", "0.0004,0.0003,1", "four numbers"},
        {"50000000,-", "50000000.5,-", "four numbers"},
        {"50000000,-", "1e300,-", "four numbers"},
        {"50000000,-", "50000000,", "names a memory"},
        {"50000000,-", "50000000,-----------------", "names a memory"},
        {"step,0.001", "step,0", "no time"},
        {"step,0.001", "step,x", "another row"},
        {"step,0.001\n", "", "another row"},
        {"off_the_cores,0\n", "", "too early"},
        {"off_the_cores,0\n", "off_the_cores,0\noff_the_cores,0\n", "more lines"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
        assert_refused_with(changes[i].old, changes[i].new, changes[i].why);
    assert_refused(NULL, "none yet");
    assert_refused("", "too early");
    assert_refused("\x7f"
                   "ELF\1\1\n",
                   "which mystery");
}
END_TEST

// Cuts it at any byte before the last row's number.
START_TEST(a_table_that_is_cut_is_refused) {
    MysteryRecord record = innocent(), back;
    char text[MYSTERY_TEXT], cut[MYSTERY_TEXT], problem[CASE_LINE];
    size_t size = mystery_text(&record, text);
    for (size_t i = 0; i + 2 < size; i++) {
        snprintf(cut, sizeof cut, "%.*s", (int)i, text);
        ck_assert_msg(!mystery_read(cut, &back, problem), "%d bytes", (int)i);
    }
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {{each_cause_is_found_where_it_is, CAUSE_COUNT},
                                 {where_nothing_shows_nothing_is_found, 0},
                                 {of_several_the_first_counts, 0},
                                 {what_is_written_is_read, 0},
                                 {a_seal_is_of_every_number, 0},
                                 {tables_that_are_none_are_refused, 0},
                                 {a_table_that_is_cut_is_refused, 0},
                                 {NULL, 0}};
    return harness_main("mystery_record", tests);
}
