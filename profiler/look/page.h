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

// The roofline alone as a file: an SVG with the same style. STATUS_STATE: without ceilings or times
// there is none.
Status page_write_roofline(const Profile *profile, const char *path);

// index.html of a folder: links to n files in it, by their names, and what each is for.
enum { PAGE_FILES = 16 };
Status page_write_index(const char *path, const char *title, const char *const names[], int n);

#endif
