// page_parts.h -- internal to profiler/look/: the style and the tables of a page.
#ifndef PROFILER_LOOK_PAGE_PARTS_H
#define PROFILER_LOOK_PAGE_PARTS_H

#include "profiler/look/page.h"

extern const char page_style[]; // CSS of pages and drawings

// page_tables.c: layers with their evidence; operators; memory at the peak; differences; a sweep.
void page_layers(const Profile *profile, WholeFile *file);
Status page_operators(const Profile *profile, WholeFile *file);
void page_peak(const Profile *profile, WholeFile *file);
void page_diff(const ProfileDiff *diff, WholeFile *file);
void page_sweep(const Sweep *sweep, WholeFile *file);

#endif
