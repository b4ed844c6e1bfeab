// test_grading_parts.c -- the parts of grading a class: figures about cases, tables of exercises,
// fingerprints, mutants of solutions. test_archives.c tests archives.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/course/text_file.h"
#include "exercises/instructor/instructor.h"
#include "exercises/instructor/similar.h"
#include "exercises/selftest/sections.h"
#include "tensor/memory.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/work_folder.h"

enum { TEXT = 4096 };

// ---- figures -----------------------------------------------------------------------------------
START_TEST(correlations_are_those_of_numpy) {
    // numpy.corrcoef([1,0,1,1,0], [10,4,7,9,6])[0,1]
    const double x[] = {1, 0, 1, 1, 0}, y[] = {10, 4, 7, 9, 6}, same[] = {3, 3, 3, 3, 3};
    ck_assert_double_eq_tol(correlation(x, y, 5), 0.8411910241920598, 1e-12);
    ck_assert(isnan(correlation(x, same, 5)));
    ck_assert(isnan(correlation(same, y, 5)));
    ck_assert(isnan(correlation(x, y, 0)));
}
END_TEST

static ResultCase case_of(const char *name, bool passed, const char *mistake) {
    ResultCase one = {.exercise = "02 count_flops", .most = 2, .points = passed ? 2 : 0};
    one.state = passed ? CASE_PASSED : CASE_WRONG;
    snprintf(one.name, RESULT_NAME, "%s", name);
    snprintf(one.mistake, RESULT_NAME, "%s", mistake);
    return one;
}

START_TEST(items_add_up_and_survive_failing_allocations) {
    ResultCase cases[3][2] = {{case_of("a", true, ""), case_of("b", true, "")},
                              {case_of("a", false, "mac_vs_flop"), case_of("b", false, "")},
                              {case_of("a", false, "mac_vs_flop"),
                               case_of("b", false, "mac_vs_flop")}};
    Result results[3];
    const Result *list[3];
    for (int i = 0; i < 3; i++) {
        results[i] = (Result){.cases = cases[i], .n_cases = 2, .points = i == 0 ? 4 : 0};
        list[i] = &results[i];
    }
    Items items;
    for (uint64_t n = 1;; n++) {
        memory_fail_at(n);
        Status status = items_count(list, 3, &items);
        memory_fail_at(0);
        if (status == STATUS_OK) break;
        items_free(&items);
        error_clear();
    }
    ck_assert_int_eq(items.n_items, 2);
    ck_assert_int_eq(items.items[0].asked, 3);
    ck_assert_int_eq(items.items[0].passed, 1);
    ck_assert_int_eq(items.items[0].mistaken, 2);
    ck_assert_str_eq(items.items[0].mistake, "mac_vs_flop");
    ck_assert_double_eq_tol(items.items[0].discrimination, 1.0, 1e-12);
    ck_assert_int_eq(items.n_tallies, 1);
    ck_assert_int_eq(items.tallies[0].students, 2); // these are no cases
    items_free(&items);
}
END_TEST

// ---- tables of exercises -----------------------------------------------------------------------
START_TEST(pages_show_the_minutes_and_points_that_there_are) {
    static const char *const pages[] = {"exercises/README.md", "exercises/INSTRUCTOR.md"};
    char *page = file_read(NULL, pages[_i], 1 << 16, NULL),
         *updated = page ? tables_update(page) : NULL;
    ck_assert(page && updated);
    ck_assert_msg(strcmp(page, updated) == 0, "%s: make exercise-tables", pages[_i]);
    memory_free(updated);
    memory_free(page);
}
END_TEST

START_TEST(a_table_is_made_anew_and_other_columns_are_kept) {
    const char *page =
        "before\n" TABLE_MARK "\n| # | mine | exercise | points |\n|---|---|---|---|\n"
        "| 02 | my  words | other | 7 |\n| 98 | gone | | |\nafter | 1 |\n";
    char *updated = tables_update(page);
    ck_assert_ptr_nonnull(updated);
    ck_assert_ptr_nonnull(strstr(updated, "\n|---|---|---|---|\n| 00 | | predict | 0 |\n"));
    ck_assert_ptr_nonnull(strstr(updated, "\n| 02 | my  words | count_flops | 12 |\n"));
    ck_assert_ptr_nonnull(strstr(updated, " |\nafter | 1 |\n"));
    ck_assert_ptr_null(strstr(updated, "gone"));
    memory_free(updated);
    ck_assert_ptr_null(tables_update("no table\n| # | exercise |\n"));
    ck_assert_int_eq(error_status(), STATUS_FORMAT);
    error_clear();
}
END_TEST

// ---- sections and mutants ----------------------------------------------------------------------
START_TEST(a_section_has_a_name_words_and_a_mark) {
    static const Section wanted[] = {{"loop", "never ends", "a, b/c", "x\n", 2},
                                     {"mac", "", "3", "", 0},
                                     {"two", "one", "", "a == b\n == no\n", 14},
                                     {"last", "", "", "", 0}};
    const char *text = "before\n\n== loop: never ends [a, b/c]\nx\n== mac [3]\n== two:  one\n"
                       "a == b\n == no\n== last";
    const char *at = text;
    Section section;
    for (int i = 0; i < 4; i++) {
        ck_assert(section_next(&at, &section));
        ck_assert_str_eq(section.name, wanted[i].name);
        ck_assert_str_eq(section.about, wanted[i].about);
        ck_assert_str_eq(section.mark, wanted[i].mark);
        ck_assert_uint_eq(section.length, wanted[i].length);
        ck_assert_int_eq(strncmp(section.body, wanted[i].body, section.length), 0);
    }
    ck_assert(!section_next(&at, &section));
    at = "nothing == in it";
    ck_assert(!section_next(&at, &section));
}
END_TEST

// ---- fingerprints ------------------------------------------------------------------------------
static int common(const char *left, const char *right, int *of) {
    Fingerprints a, b;
    ck_assert_int_eq(fingerprints_of(left, &a), STATUS_OK);
    ck_assert_int_eq(fingerprints_of(right, &b), STATUS_OK);
    *of = a.count;
    fingerprints_remove(&a, &b);
    int shared = *of - a.count;
    fingerprints_free(&a);
    fingerprints_free(&b);
    return shared;
}

START_TEST(fingerprints_see_through_names_comments_and_braces) {
    const char *original = "int sum(const int *a, int n) {\n    int s = 0;\n"
                           "    for (int i = 0; i < n; i++) {\n        if (a[i] > 3) s += a[i];\n"
                           "    }\n    return s;\n}\n";
    const char *copy = "#include <stdio.h>\n/* mine */ static long total(long *v, long m)\n{\n"
                       "  unsigned long t = 17; // \\\n still a comment\n"
                       "  for (long k = 1; k < m; k++)\n    if (v[k] > 9) { t += v[k]; }\n"
                       "  return t; }\n";
    const char *other = "int sum(const int *a, int n) {\n    if (n == 0) return 0;\n"
                        "    return (a[0] > 3 ? a[0] : 0) + sum(a + 1, n - 1);\n}\n";
    int of;
    int shared = common(original, original, &of);
    ck_assert_int_eq(shared, of);
    ck_assert_int_gt(of, 5);
    ck_assert_int_eq(common(original, copy, &of), of);
    ck_assert_int_le(common(original, other, &of), 1);
    // No text makes it read out of bounds, and every text has an end.
    static const char *const broken[] = {"",   "\"",  "'\\",      "/*",      "//\\", "#include",
                                         "\\", "{{{", "\xff\xfe", "a\"b\nc", "0x",   "#"};
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++)
        ck_assert_int_eq(common(broken[i], original, &of), 0);
}
END_TEST

START_TEST(what_many_have_is_no_evidence) {
    enum { STUDENTS = 20, PRINTS = 20 };
    uint64_t hashes[STUDENTS][PRINTS];
    Fingerprints prints[STUDENTS];
    Similar similar;
    for (int i = 0; i < STUDENTS; i++) {
        for (int k = 0; k < PRINTS; k++) { // half is common to all, half is unique
            hashes[i][k] = (uint64_t)(k < PRINTS / 2 ? k : 1000 * (i + 1) + k);
        }
        prints[i] = (Fingerprints){hashes[i], PRINTS};
    }
    ck_assert_int_eq(similar_find(prints, STUDENTS, &similar), STATUS_OK);
    ck_assert_int_eq(similar.compared, STUDENTS * (STUDENTS - 1) / 2);
    ck_assert_int_eq(similar.count, 0);
    ck_assert(similar.usual < 0.05);
    similar_free(&similar);
    memcpy(hashes[7], hashes[3], sizeof hashes[7]);
    for (uint64_t n = 1;; n++) {
        memory_fail_at(n);
        Status status = similar_find(prints, STUDENTS, &similar);
        memory_fail_at(0);
        if (status == STATUS_OK) break;
        similar_free(&similar);
        error_clear();
    }
    ck_assert_int_eq(similar.count, 1);
    ck_assert(similar.pairs[0].left == 3 && similar.pairs[0].right == 7);
    ck_assert_double_eq(similar.pairs[0].of_left, 1.0);
    ck_assert_int_eq(similar.pairs[0].rare, PRINTS / 2);
    similar_free(&similar);
}
END_TEST

// ---- mutants -----------------------------------------------------------------------------------
START_TEST(mutants_are_edits_that_fit_once) {
    const char *solution = "int f(void) {\n    int a = 1;\n    int b = 2;\n    return a + b;\n}\n";
    const char *text =
        "# known mistakes\n== one [12]\n-    int a = 1;\n+    int a = 3;\n+    a++;\n"
        "# between\n-    int b = 2;\n+    int b = 4;\n== two\n-    int b = 2;\n+\n";
    Mutant mutant;
    bool found;
    ck_assert_int_eq(mutant_next(&text, solution, &mutant, &found), STATUS_OK);
    ck_assert_str_eq(mutant.name, "one");
    ck_assert_int_eq(mutant.clause, 12);
    ck_assert_str_eq(mutant.source, "int f(void) {\n    int a = 3;\n    a++;\n    int b = 4;\n"
                                    "    return a + b;\n}\n");
    memory_free(mutant.source);
    ck_assert_int_eq(mutant_next(&text, solution, &mutant, &found), STATUS_OK);
    ck_assert_str_eq(mutant.name, "two");
    ck_assert_int_eq(mutant.clause, 0);
    ck_assert_str_eq(mutant.source, "int f(void) {\n    int a = 1;\n\n    return a + b;\n}\n");
    memory_free(mutant.source);
    ck_assert_int_eq(mutant_next(&text, solution, &mutant, &found), STATUS_OK);
    ck_assert(!found);
    static const char *const wrong[] = {"== absent\n-    int c;\n+    int d;\n",
                                        "== twice\n-    int\n+\n", "== nothing\n",
                                        "== same\n-    int a = 1;\n+    int a = 1;\n"};
    for (int i = 0; i < 4; i++) {
        const char *at = wrong[i];
        const char *source = i == 1 ? "    int\n    int\n" : solution;
        ck_assert_int_eq(mutant_next(&at, source, &mutant, &found), STATUS_FORMAT);
        ck_assert_ptr_null(mutant.source);
        error_clear();
    }
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {correlations_are_those_of_numpy, 0},
        {items_add_up_and_survive_failing_allocations, 0},
        {pages_show_the_minutes_and_points_that_there_are, 2},
        {a_table_is_made_anew_and_other_columns_are_kept, 0},
        {a_section_has_a_name_words_and_a_mark, 0},
        {fingerprints_see_through_names_comments_and_braces, 0},
        {what_many_have_is_no_evidence, 0},
        {mutants_are_edits_that_fit_once, 0},
        {NULL, 0},
    };
    return harness_main("grading_parts", tests);
}
