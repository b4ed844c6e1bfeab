// page.h -- a profile as one HTML file that needs nothing else: to show in class, or to send. Not
// here: the drawings in it (chart.h).
#ifndef PROFILER_LOOK_PAGE_H
#define PROFILER_LOOK_PAGE_H

#include "profiler/compare/diff_print.h"
#include "profiler/compare/sweep.h"
#include "profiler/files/profile_json.h"

typedef struct Page { // what there is to show; NULL: nothing of that
    const char *title;
    const Profile *profile;
    const ProfileTraining *training;
    ProfileDiff *diff; // of `profile` and a base; is sorted
    const DiffStory *story;
    const Sweep *sweep;
    const char *command; // that made it
} Page;

// Valid HTML and SVG, with a style of its own, light and dark, and no script. STATUS_IO,
// STATUS_OUT_OF_MEMORY; then a file that was there is as it was.
Status page_write(const Page *page, const char *path);

// What of it may be a file of its own.
typedef enum PageDrawing {
    PAGE_ROOFLINE,
    PAGE_MEMORY,
    PAGE_STEP,
    PAGE_TIME,
    PAGE_LOSS,
    PAGE_SWEEP,
    PAGE_DRAWINGS
} PageDrawing;
const char *page_drawing_name(int drawing); // "roofline"; NULL behind the last
// An SVG with the page's style, and what its colours mean. As page_write; STATUS_STATE: there is
// nothing to draw.
Status page_write_drawing(const Page *page, PageDrawing drawing, const char *path);

// index.html of a folder: links to n files in it, by their names, and what each is for.
enum { PAGE_FILES = 16 };
Status page_write_index(const char *path, const char *title, const char *const names[], int n);

#endif
