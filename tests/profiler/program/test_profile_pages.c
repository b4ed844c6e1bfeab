// test_profile_pages.c -- --html, --svg, --csv and --output: complete and valid files, with
// everything that a reader looks for, and refusals.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/helpers/folder_runs.h"
#include "tests/helpers/harness.h"
#include "tests/helpers/markup.h"
#include "tests/helpers/profile_document.h"
#include "tests/helpers/work_folder.h"

#define PEAKS "--peaks tests/fixtures/peaks.json "
#define SMALL "--layers 20,10,5 --batch 8 --iterations 10 --epochs 0 --quiet " PEAKS

static void run(const char *program, const char *arguments) {
    free(folder_text(program, arguments, 0, NULL));
}

static char *text_of(const char *name) { // the file's text; free it
    char path[80];
    snprintf(path, sizeof path, "%s/%s", work_folder, name);
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "no %s", path);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(size + 1);
    ck_assert_uint_eq(fread(text, 1, size, file), size);
    text[size] = '\0';
    fclose(file);
    return text;
}

// ---- the page ----------------------------------------------------------------------------------
static void check_page(const char *text) {
    markup_check(text);
    ck_assert_int_eq(markup_count(text, "<script"), 0);
    ck_assert_int_eq(markup_count(text, "://"), markup_count(text, "http://www.w3.org/2000/svg"));
    expect_part(text, "<html lang=\"en\">");
}

START_TEST(a_page_has_every_section) {
    static const char *const sections[] = {"overview", "layers", "operators", "roofs",
                                           "memories", "steps",  "went",      "advice"};
    work_folder_begin();
    run("profile_mlp", SMALL "--html %s/p.html");
    char *text = text_of("p.html"), part[80];
    check_page(text);
    for (int i = 0; i < 8; i++) {
        snprintf(part, sizeof part, "<a href=\"#%s\">", sections[i]);
        expect_part(text, part);
    }
    ck_assert_int_eq(markup_count(text, "<svg "), 4);
    expect_part(text, "Training step");
    expect_part(text, "<tr id=\"layer-0\"><th scope=\"row\">fc1</th><td>Linear</td>");
    expect_part(text, "<a href=\"#layer-0\" aria-label=\"fc1, ");
    expect_part(text, " the roof is ");
    expect_part(text, "by the ceilings that were given."); // because of --peaks
    expect_part(text, "<th scope=\"row\">linear</th>");
    free(text);
    work_folder_end();
}
END_TEST

START_TEST(a_training_has_its_losses) {
    work_folder_begin();
    run("profile_mlp",
        "--layers 784,16,10 --iterations 5 --epochs 1 --quiet " PEAKS "--html %s/p.html");
    char *text = text_of("p.html");
    check_page(text);
    expect_part(text, "<h2 id=\"learnt\">Training</h2>");
    expect_part(text, "id=\"losses-title\"");
    expect_part(text, "test accuracy ");
    free(text);
    work_folder_end();
}
END_TEST

START_TEST(where_nothing_ran_there_are_counts) {
    work_folder_begin();
    run("profile_model", "resnet18 --device meta --quiet --html %s/p.html");
    char *text = text_of("p.html");
    check_page(text);
    expect_part(text, "None: nothing was measured");
    ck_assert_int_eq(markup_count(text, "was measured to do"), 0);
    expect_part(text, "id=\"memory-title\"");
    expect_part(text, "layer1.0.conv1");
    free(text);
    work_folder_end();
}
END_TEST

// 200 layers, with names full of HTML characters.
START_TEST(a_large_one_is_under_500_kB) {
    char arguments[3000] = "", *end = arguments;
    char *const limit = arguments + sizeof arguments;
    work_folder_begin();
    end += snprintf(end, (size_t)(limit - end), "'");
    for (int i = 0; i < 100; i++) end += snprintf(end, (size_t)(limit - end), "Linear(8,8) Tanh ");
    snprintf(end, (size_t)(limit - end), "@ 4x8'");
    char script[4000];
    snprintf(
        script, sizeof script,
        "profile_model %s --iterations 5 --warmup 2 --quiet --peaks \"$OLDPWD\"/tests/fixtures/"
        "peaks.json --html p.html\n[ $(wc -c < p.html) -lt 500000 ]\n",
        arguments);
    work_folder_run(script);
    char *text = text_of("p.html");
    check_page(text);
    ck_assert_int_ge(markup_count(text, "<tr id=\"layer-"), 200);
    free(text);
    work_folder_end();
}
END_TEST

START_TEST(comparisons_and_sweeps_have_pages) {
    work_folder_begin();
    run("profile_mlp", "--device meta --against --fuse --html %s/d.html");
    char *text = text_of("d.html");
    check_page(text);
    expect_part(text, "<h2 id=\"compared\">What changed</h2>");
    expect_part(text, "other counts than with --fuse");
    free(text);
    run("profile_mlp", "--layers 20,10 --iterations 5 --sweep batch=1,64,512 --html %s/s.html");
    text = text_of("s.html");
    check_page(text);
    expect_part(text, "<h2 id=\"swept\">Sweep</h2>");
    expect_part(text, "id=\"sweep-title\"");
    expect_part(text, "<th scope=\"row\">batch 512</th>");
    free(text);
    work_folder_end();
}
END_TEST

// ---- other files -------------------------------------------------------------------------------
START_TEST(the_roofline_is_a_file_of_its_own) {
    work_folder_begin();
    run("profile_mlp", SMALL "--svg %s/r.svg");
    char *text = text_of("r.svg");
    markup_check(text);
    expect_part(text, "<svg xmlns=");
    expect_part(text, "<style>");
    ck_assert_int_eq(markup_count(text, "<a "), 0);
    ck_assert_int_ge(markup_count(text, "<circle "), 3);
    free(text);
    work_folder_end();
}
END_TEST

// Each drawing explains its colours; those that need no times also work where nothing runs.
START_TEST(each_drawing_is_a_file_of_its_own) {
    static const struct {
        const char *arguments, *part;
    } drawings[] = {{SMALL "--svg roofline=%s/d.svg", "bound by arithmetic"},
                    {SMALL "--svg memory=%s/d.svg", ">parameter</text>"},
                    {"--device meta --quiet --svg memory=%s/d.svg", ">activation</text>"},
                    {SMALL "--svg step=%s/d.svg", ">this thread</text>"},
                    {SMALL "--svg time=%s/d.svg", ">left</text>"},
                    {"--layers 784,8,10 --iterations 3 --epochs 1 --steps 20 --quiet " PEAKS
                     "--svg loss=%s/d.svg",
                     ">loss</text>"},
                    {"--layers 20,10 --iterations 5 --sweep batch=1,512 --svg sweep=%s/d.svg",
                     ">batch 512</text>"}};
    work_folder_begin();
    for (size_t i = 0; i < sizeof drawings / sizeof drawings[0]; i++) {
        run("profile_mlp", drawings[i].arguments);
        char *text = text_of("d.svg");
        markup_check(text);
        expect_part(text, "<svg xmlns=");
        expect_part(text, "<style>");
        expect_part(text, drawings[i].part);
        ck_assert_int_eq(markup_count(text, "<p"), markup_count(text, "<path"));
        free(text);
    }
    // A file name with '='; two drawings at once.
    run("profile_mlp", SMALL "--svg %s/a=b.svg --svg memory=%s/m.svg --svg step=%s/s.svg");
    free(text_of("a=b.svg"));
    free(text_of("m.svg"));
    free(text_of("s.svg"));
    work_folder_end();
}
END_TEST

// The columns add up to the JSON's totals.
START_TEST(a_spreadsheet_adds_up) {
    work_folder_begin();
    run("profile_mlp", SMALL "--csv %s/l.csv --json %s/p.json");
    char *text = text_of("l.csv"), path[80], *rest = text, *line = strsep(&rest, "\n");
    ck_assert_str_eq(line, "layer,type,phase,parameters,saved_bytes,total_flops,macs,bytes_read,"
                           "bytes_written,seconds,roof_seconds,roof_fraction,bound\r");
    int64_t flops = 0, parameters = 0, saved = 0;
    while ((line = strsep(&rest, "\n")) && line[0]) {
        char *cell = line, *cells[13];
        for (int c = 0; c < 13; c++) {
            cells[c] = strsep(&cell, ",");
            ck_assert_ptr_nonnull(cells[c]);
        }
        ck_assert_ptr_null(cell);
        parameters += atoll(cells[3]);
        saved += atoll(cells[4]);
        flops += atoll(cells[5]);
        ck_assert(strtod(cells[9], NULL) > 0.0);
    }
    snprintf(path, sizeof path, "%s/p.json", work_folder);
    json_t *json = json_load_file(path, 0, NULL);
    ck_assert_int_eq(parameters, document_integer(json, "model.parameters"));
    ck_assert_int_eq(saved, document_integer(json, "memory.predicted.saved_bytes"));
    ck_assert_int_eq(flops, document_integer(json, "totals.step.total_flops"));
    json_decref(json);
    free(text);
    work_folder_end();
}
END_TEST

// test_exports.c tests the contents.
START_TEST(other_programs_have_their_files) {
    work_folder_begin();
    run("profile_mlp", SMALL "--gbench %s/b.json --openmetrics %s/m.txt");
    char *text = text_of("b.json");
    ck_assert_int_eq(markup_count(text, "\"name\": \"step\""), 5); // five processes
    free(text);
    text = text_of("m.txt");
    expect_part(text, "phase=\"optimizer\"} ");
    free(text);
    run("profile_mlp", "--device meta --quiet --openmetrics %s/m.txt");
    text = text_of("m.txt");
    expect_part(text, "ridgepoint_parameters{model=\"MLP 784-512-256-10 relu\",device=\"meta\"");
    ck_assert_int_eq(markup_count(text, "_seconds{"), 0);
    free(text);
    work_folder_end();
}
END_TEST

START_TEST(a_folder_has_them_all) {
    static const char *const names[] = {"profile.html", "roofline.svg", "memory.svg",
                                        "step.svg",     "time.svg",     "layers.csv",
                                        "profile.json", "memory.json",  "trace.json"};
    work_folder_begin();
    run("profile_mlp", SMALL "--output %s/all");
    char *text = text_of("all/index.html"), part[80];
    check_page(text);
    for (int i = 0; i < 9; i++) {
        snprintf(part, sizeof part, "<a href=\"%s\">", names[i]);
        expect_part(text, part);
        snprintf(part, sizeof part, "all/%s", names[i]);
        free(text_of(part));
    }
    free(text);
    run("profile_model", "lenet5 --device meta --quiet --output %s/meta/");
    text = text_of("meta/index.html");
    ck_assert_int_eq(markup_count(text, "trace.json"), 0);
    ck_assert_int_eq(markup_count(text, "roofline.svg"), 0);
    expect_part(text, "memory.json");
    expect_part(text, "memory.svg");
    free(text);
    // Earlier files, and files elsewhere, are not linked as this run's.
    run("profile_model", "lenet5 --device meta --quiet --output %s/all/ --json %s/other.json");
    text = text_of("all/index.html");
    ck_assert_int_eq(markup_count(text, "trace.json") + markup_count(text, "profile.json"), 0);
    free(text);
    work_folder_end();
}
END_TEST

// ---- refusals ----------------------------------------------------------------------------------
START_TEST(what_cannot_be_is_one_line) {
    static const Refusal refused[] = {
        {"--html /none/p.html", 3, "/none/p.html", NULL},
        {"--svg /none/r.svg", 3, "/none/r.svg", NULL},
        {"--csv /none/l.csv", 3, "/none/l.csv", NULL},
        {"--gbench /none/b.json", 3, "/none/b.json", NULL},
        {"--openmetrics /none/m.txt", 3, "/none/m.txt", NULL},
        {"--output /none/folder", 3, "--output /none/folder: No such file", NULL},
        {"--output=", 2, "expected", NULL},
        {"--output -", 2, "expected a folder", NULL},
        {"--output tests --csv tests/index.html", 2, "writes this file; name another", NULL},
        {"--output tests --csv tests/../tests/roofline.svg", 2, "writes this file; name another",
         NULL},
        {"--json none.json --html ./none.json", 2, "writes this file; name another", NULL},
        {"--html x --svg x", 2, "--html writes this file; name another", NULL},
        {"--html - --json -", 2, "standard output is", NULL},
        {"--peaks none --svg r.svg", 2, "leave out --peaks none", NULL},
        {"--peaks none --svg time=r.svg", 2, "leave out --peaks none", NULL},
        {"--svg sweep=r.svg", 2, "--svg sweep needs --sweep", NULL},
        {"--against --fuse --svg sweep=r.svg", 2, "--svg cannot go with a comparison", NULL},
        {"--epochs 0 --svg loss=r.svg", 2, "--svg loss needs --epochs", NULL},
        {"--svg mermory=r.svg", 2, "--svg mermory: expected roofline, memory, step", NULL},
        {"--svg memory=", 2, "--svg memory=: expected a file", NULL},
        {"--svg memory=x --svg step=./x", 2, "--svg writes this file; name another", NULL},
        {"--svg time=- --json -", 2, "standard output is", NULL},
        {"--html /dev/full --iterations 2 --epochs 0 --quiet " PEAKS, 3, "/dev/full", NULL},
    };
    work_folder_begin();
    expect_refusals(refused, sizeof refused / sizeof refused[0]);
    work_folder_end();
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {a_page_has_every_section, 0},           {a_training_has_its_losses, 0},
        {where_nothing_ran_there_are_counts, 0}, {a_large_one_is_under_500_kB, 0},
        {comparisons_and_sweeps_have_pages, 0},  {the_roofline_is_a_file_of_its_own, 0},
        {each_drawing_is_a_file_of_its_own, 0},  {a_spreadsheet_adds_up, 0},
        {other_programs_have_their_files, 0},    {a_folder_has_them_all, 0},
        {what_cannot_be_is_one_line, 0},         {NULL, 0},
    };
    return harness_main("profile_pages", tests);
}
