// page.h -- a profile as one self-contained HTML file, to show in class or to send. Not here: the
// drawings in it (chart.h).
#ifndef PROFILER_LOOK_PAGE_H
#define PROFILER_LOOK_PAGE_H

#include "profiler/compare/profile_diff.h"
#include "profiler/compare/sweep.h"
#include "profiler/files/profile_json.h"

typedef struct Page { // the data to show; NULL: left out
    const char *title;
    const Profile *profile;
    const ProfileTraining *training;
    ProfileDiff *diff; // between a base and `profile`; will be sorted
    const DiffStory *story;
    const Sweep *sweep;
    const char *command; // command line that made the page
} Page;

// Writes valid HTML and SVG with its own style, light and dark, and no script. STATUS_IO,
// STATUS_OUT_OF_MEMORY; an existing file then stays as it was.
Status page_write(const Page *page, const char *path);

// Drawings that can be files of their own.
typedef enum PageDrawing {
    PAGE_ROOFLINE,
    PAGE_MEMORY,
    PAGE_STEP,
    PAGE_TIME,
    PAGE_LOSS,
    PAGE_SWEEP,
    PAGE_DRAWINGS
} PageDrawing;
const char *page_drawing_name(int drawing); // "roofline"; NULL past the last
// Writes an SVG with the page's style and a legend. Fails as page_write; STATUS_STATE: there is
// nothing to draw.
Status page_write_drawing(const Page *page, PageDrawing drawing, const char *path);

// Writes index.html of a folder: links to n files in it by name, each with its purpose.
enum { PAGE_FILES = 16 };
Status page_write_index(const char *path, const char *title, const char *const names[], int n);

#endif
