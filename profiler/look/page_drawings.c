// page_drawings.c -- the drawings of a page as files of their own. Not here: the drawings
// (chart.h).
#include "profiler/look/chart.h"
#include "profiler/look/page_parts.h"

static bool roofline(const Page *page, WholeFile *file) {
    return page->profile && chart_roofline(page->profile, page_style, file);
}

static bool memory(const Page *page, WholeFile *file) {
    return page->profile && chart_memory(page->profile, page_style, file);
}

static bool step(const Page *page, WholeFile *file) {
    return page->profile && chart_step(page->profile, page_style, file);
}

static bool parts(const Page *page, WholeFile *file) {
    return page->profile && chart_parts(page->profile, page_style, file);
}

static bool losses(const Page *page, WholeFile *file) {
    bool trained = page->training && page->training->data;
    return trained && chart_losses(&page->training->curve, page_style, file);
}

static bool sweep(const Page *page, WholeFile *file) {
    return page->sweep && chart_sweep(page->sweep, page_style, file);
}

static const struct {
    const char *name, *lacks; // `lacks`: the data it needs
    bool (*draw)(const Page *page, WholeFile *file);
} drawings[PAGE_DRAWINGS] = {
    [PAGE_ROOFLINE] = {"roofline", "ceilings and times", roofline},
    [PAGE_MEMORY] = {"memory", "ops that were counted", memory},
    [PAGE_STEP] = {"step", "times", step},
    [PAGE_TIME] = {"time", "times and this machine's own ceilings", parts},
    [PAGE_LOSS] = {"loss", "a training whose loss changes", losses},
    [PAGE_SWEEP] = {"sweep", "two points that differ", sweep},
};

const char *page_drawing_name(int drawing) {
    return drawing < PAGE_DRAWINGS ? drawings[drawing].name : NULL;
}

Status page_write_drawing(const Page *page, PageDrawing drawing, const char *path) {
    WholeFile *file = whole_file_open(path);
    if (!file) return error_status();
    if (drawings[drawing].draw(page, file)) return whole_file_close(file);
    whole_file_discard(file);
    if (error_pending()) return error_status();
    return error_set(STATUS_STATE, "--svg %s: nothing to draw, without %s", drawings[drawing].name,
                     drawings[drawing].lacks);
}
