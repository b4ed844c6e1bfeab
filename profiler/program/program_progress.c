// program_progress.c -- the one progress line on standard error, drawn over itself. Under NO_COLOR,
// it uses no escape sequences, and blanks hide the rest of a longer line.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "profiler/base/text.h"
#include "profiler/program/program.h"
#include "tensor/clock.h"

enum { WIDTH = 79 }; // a terminal's 80 columns without the last, which would begin a new line

void progress_draw(const char *format, ...) {
    char line[200];
    const char *no_colour = getenv("NO_COLOR");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    if (no_colour && no_colour[0])
        fprintf(stderr, line[0] ? "\r%-*.*s" : "\r%*.*s\r", WIDTH, WIDTH, line);
    else
        fprintf(stderr, "\r%s\033[K", line);
    fflush(stderr);
}

bool progress_due(ProgressLine *line) {
    double now = clock_seconds();
    if (now - line->shown < 0.1) return false;
    line->shown = now;
    return true;
}

void progress_clear(const Program *program) {
    if (program->terminal) progress_draw("%s", "");
}

void progress_say(const Program *program, const char *what) {
    if (program->terminal) progress_draw("%s", what);
}

void program_show_progress(void *argument, double fraction) {
    ProgressLine *line = argument;
    if (!progress_due(line)) return;
    double left = (line->shown - line->begun) / fraction * (1.0 - fraction);
    if (fraction > 0.0)
        progress_draw("%s: %.0f%%, %s left", line->what, 100.0 * fraction, text_duration(left).s);
    else
        progress_draw("%s: 0%%", line->what);
}
