// page.c -- the page: an overview, drawings and tables of the data, and the report as a terminal
// shows it.
#include "profiler/look/page.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/advice/advice.h"
#include "profiler/base/escape.h"
#include "profiler/compare/sweep.h"
#include "profiler/look/chart.h"
#include "profiler/look/page_parts.h"
#include "profiler/report/report.h"
#include "profiler/report/report_table.h"
#include "tensor/version.h"

// ---- parts of the report -----------------------------------------------------------------------
// Writes the output of `print`, as a terminal shows it.
static Status put_printed(const Page *page, void (*print)(const Page *page, FILE *file),
                          WholeFile *file) {
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (!stream) return error_set(STATUS_OUT_OF_MEMORY, "--html: no room for a page");
    print(page, stream);
    bool failed = ferror(stream) != 0;
    if (fclose(stream) != 0 || failed) {
        free(text);
        return error_set(STATUS_OUT_OF_MEMORY, "--html: no room for a page");
    }
    while (size > 0 && text[size - 1] == '\n') text[--size] = '\0';
    whole_file_print(file, "<pre tabindex=\"0\">");
    for (char *line = text, *rest = text; (line = strsep(&rest, "\n"));) {
        escape_xml(file, line);
        if (rest) whole_file_print(file, "\n");
    }
    whole_file_print(file, "</pre>\n");
    free(text);
    return STATUS_OK;
}

static void put_note(const char *text, WholeFile *file) {
    whole_file_print(file, "<p class=\"note\">");
    escape_xml(file, text);
    whole_file_print(file, "</p>\n");
}

static void print_head(const Page *page, FILE *file) { report_print_head(page->profile, file); }
static void print_advice(const Page *page, FILE *file) { advice_print(page->profile, file); }
static void print_all(const Page *page, FILE *file) { report_print(page->profile, file); }
static void print_sweep(const Page *page, FILE *file) { sweep_print(page->sweep, file); }
static void print_diff(const Page *page, FILE *file) { diff_print(page->diff, page->story, file); }

// ---- sections ----------------------------------------------------------------------------------
static Status overview(const Page *page, WholeFile *file) {
    if (page->profile) return put_printed(page, print_head, file);
    return STATUS_OK;
}

static Status compared(const Page *page, WholeFile *file) {
    Status status = put_printed(page, print_diff, file);
    if (!status && !page->story->untimed) page_diff(page->diff, file);
    return status;
}

static Status swept(const Page *page, WholeFile *file) {
    chart_sweep(page->sweep, NULL, file);
    page_sweep(page->sweep, file);
    whole_file_print(file, "<details>\n<summary>As a terminal shows it</summary>\n");
    Status status = put_printed(page, print_sweep, file);
    whole_file_print(file, "</details>\n");
    return status;
}

static Status layers(const Page *page, WholeFile *file) {
    const Profile *profile = page->profile;
    page_layers(profile, file);
    if (!profile->has_machine) return STATUS_OK;
    put_note(
        profile->machine.measured
            ? "A roof is the least time that a layer's arithmetic and bytes could take, by what "
              "this machine was measured to do."
            : "A roof is the least time that a layer's arithmetic and bytes could take, by the "
              "ceilings that were given.",
        file);
    if (profile->totals[REPORT_STEP].latency.count > 0)
        put_note("\"of roof\" is that over the time it took. What bounds it is the largest of "
                 "four figures at best: arithmetic, memory, dispatching, copying to a card.",
                 file);
    return STATUS_OK;
}

static Status operators(const Page *page, WholeFile *file) {
    return page_operators(page->profile, file);
}

static Status roofline(const Page *page, WholeFile *file) {
    if (!chart_roofline(page->profile, NULL, file))
        whole_file_print(file, "<p>None: nothing was measured, or there are no ceilings.</p>\n");
    else
        put_note("A dot is a layer, the larger the more of the step it takes; it leads to its row. "
                 "A roof is what a level of memory gives, up to what the arithmetic can do.",
                 file);
    return STATUS_OK;
}

static Status memory(const Page *page, WholeFile *file) {
    chart_memory(page->profile, NULL, file);
    page_peak(page->profile, file);
    return error_status();
}

static Status step(const Page *page, WholeFile *file) {
    if (!chart_step(page->profile, NULL, file))
        whole_file_print(file, "<p>Nothing was measured.</p>\n");
    return STATUS_OK;
}

static Status parts(const Page *page, WholeFile *file) {
    if (!chart_parts(page->profile, NULL, file))
        whole_file_print(file, "<p>Not known: that takes ceilings of this machine.</p>\n");
    else
        put_note("Each part was measured by itself, and none is a remainder: the roof; the same "
                 "kernel run alone with its operands in the cache; handing work to threads; "
                 "dispatching ops. What they leave is not explained.",
                 file);
    return STATUS_OK;
}

static Status advice(const Page *page, WholeFile *file) {
    if (!profile_is_noise(page->profile)) return put_printed(page, print_advice, file);
    whole_file_print(file, "<p>Times are too noisy, or too few, to say.</p>\n");
    return STATUS_OK;
}

static Status training(const Page *page, WholeFile *file) {
    const ProfileTraining *trained = page->training;
    chart_losses(&trained->curve, NULL, file);
    whole_file_print(file, "<p>%lld steps, mean loss of the last epoch %.4f",
                     (long long)trained->fit.steps, trained->fit.final_loss);
    if (trained->test_accuracy >= 0.0)
        whole_file_print(file, ", test accuracy %.2f%%", 100.0 * trained->test_accuracy);
    whole_file_print(file, ".</p>\n");
    return STATUS_OK;
}

static Status report(const Page *page, WholeFile *file) {
    return put_printed(page, print_all, file);
}

// ---- the page ----------------------------------------------------------------------------------
typedef struct Section {
    const char *id, *title;
    bool there;
    Status (*put)(const Page *page, WholeFile *file);
} Section;
enum { SECTIONS = 11 };

static void list_sections(const Page *page, Section sections[SECTIONS]) {
    const Profile *profile = page->profile;
    bool has_ops = profile && profile->n_ops > 0,
         training_done = page->training && page->training->data;
    const Section all[SECTIONS] = {
        {"overview", "Overview", profile != NULL, overview},
        {"compared", "What changed", page->diff != NULL, compared},
        {"swept", "Sweep", page->sweep != NULL, swept},
        {"layers", "Layers", has_ops, layers},
        {"operators", "Operators", has_ops, operators},
        {"roofs", "Roofline", has_ops, roofline},
        {"memories", "Memory over the step", has_ops, memory},
        {"steps", "The step", has_ops, step},
        {"went", "Where the time went", has_ops, parts},
        {"advice", "What would help", has_ops, advice},
        {"learnt", "Training", training_done, training},
    };
    memcpy(sections, all, sizeof(all));
}

static void put_begin(const char *title, const char *command, WholeFile *file) {
    whole_file_print(file, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                           "<meta name=\"viewport\" content=\"width=device-width, "
                           "initial-scale=1\">\n<title>");
    escape_xml(file, title);
    whole_file_print(file, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<header>\n<h1>",
                     page_style);
    escape_xml(file, title);
    whole_file_print(file, "</h1>\n<p class=\"note\">Ridgepoint %s", ridgepoint_version());
    if (command) {
        whole_file_print(file, ": <code>");
        escape_xml(file, command);
        whole_file_print(file, "</code>");
    }
    whole_file_print(file, "</p>\n");
}

static void put_navigation(const Section *sections, WholeFile *file) {
    whole_file_print(file, "<nav aria-label=\"Sections\"><ul>\n");
    for (int i = 0; i < SECTIONS; i++)
        if (sections[i].there)
            whole_file_print(file, "<li><a href=\"#%s\">%s</a></li>\n", sections[i].id,
                             sections[i].title);
    whole_file_print(file, "</ul></nav>\n</header>\n<main>\n");
}

static void put_end(WholeFile *file) { whole_file_print(file, "</main>\n</body>\n</html>\n"); }

static Status put_sections(const Page *page, WholeFile *file) {
    Section sections[SECTIONS];
    Status status = STATUS_OK;
    list_sections(page, sections);
    put_begin(page->title, page->command, file);
    put_navigation(sections, file);
    for (int i = 0; i < SECTIONS && !status; i++) {
        const Section *section = &sections[i];
        if (!section->there) continue;
        whole_file_print(file,
                         "<section tabindex=\"0\" aria-labelledby=\"%s\">\n<h2 id=\"%s\">%s</h2>\n",
                         section->id, section->id, section->title);
        status = section->put(page, file);
        whole_file_print(file, "</section>\n");
    }
    if (!status && page->profile && page->profile->n_ops > 0) {
        whole_file_print(file, "<details>\n<summary>As a terminal shows it</summary>\n");
        status = report(page, file);
        whole_file_print(file, "</details>\n");
    }
    put_end(file);
    return status;
}

Status page_write(const Page *page, const char *path) {
    WholeFile *file = whole_file_open(path);
    if (!file) return error_status();
    Status status = put_sections(page, file);
    if (!status) return whole_file_close(file);
    whole_file_discard(file);
    return status;
}

Status page_write_index(const char *path, const char *title, const char *const names[], int n) {
    static const struct {
        const char *name, *what;
    } files[] = {{"profile.html", "the page: layers, roofline, memory, where time went"},
                 {"roofline.svg", "the roofline alone"},
                 {"memory.svg", "memory over the step"},
                 {"step.svg", "the ops of the step, by thread and by layer"},
                 {"time.svg", "where the time of each layer went"},
                 {"layers.csv", "each phase of each layer, for a spreadsheet"},
                 {"profile.json", "every count and sample, for a program"},
                 {"memory.json", "live bytes at every op"},
                 {"trace.json", "training steps, for ui.perfetto.dev"}};
    WholeFile *file = whole_file_open(path);
    if (!file) return error_status();
    put_begin(title, NULL, file);
    whole_file_print(file, "</header>\n<main>\n<ul>\n");
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        for (int k = 0; k < n; k++)
            if (strcmp(names[k], files[i].name) == 0)
                whole_file_print(file, "<li><a href=\"%s\">%s</a>: %s</li>\n", files[i].name,
                                 files[i].name, files[i].what);
    whole_file_print(file, "</ul>\n");
    put_end(file);
    return whole_file_close(file);
}
