// annotation.h -- lines that GitHub shows beside a run of a workflow, as its workflow commands are
// written: "::error title=...::..." (docs.github.com, Workflow commands for GitHub Actions). Not
// here: files for a CI (junit.h).
//
//     if (annotation_wanted()) annotation_print("error", "latency:+5%", "broken: +12.0%", stderr);
#ifndef PROFILER_FILES_ANNOTATION_H
#define PROFILER_FILES_ANNOTATION_H

#include <stdbool.h>
#include <stdio.h>

// Is this a step of such a run? Then GITHUB_ACTIONS is "true".
bool annotation_wanted(void);

// `level` is "error", "warning" or "notice". Title and message may be any text: what would end
// either, or is not printable, is written as GitHub reads it, or as '?'.
void annotation_print(const char *level, const char *title, const char *message, FILE *file);

#endif
