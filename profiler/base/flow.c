// flow.c -- breaks text into lines, and keeps numbers beside their units.
#include "profiler/base/flow.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "profiler/base/text.h"

enum { LABEL_AT = 2, TEXT_AT = 18 };

Flow flow_open(FILE *file, const char *label) {
    Flow flow = {.file = file, .indent = label ? TEXT_AT : LABEL_AT};
    if (label) fprintf(file, "%*s%s", LABEL_AT, "", label);
    flow.column = label ? LABEL_AT + text_width(label) : 0;
    return flow;
}

// Writes the finished word; spaces precede words, so no line ends in one.
static void put_word(Flow *flow) {
    if (flow->length == 0) return;
    flow->word[flow->length] = '\0';
    int width = text_width(flow->word);
    bool heading = flow->column == 0 && !flow->begun;
    int at = heading ? 0 : flow->column < flow->indent ? flow->indent : flow->column + 1;
    if (at + width > TEXT_COLUMNS && flow->begun) {
        fputc('\n', flow->file);
        flow->column = 0;
        at = flow->indent;
    }
    fprintf(flow->file, "%*s%s", at - flow->column, "", flow->word);
    flow->column = at + width;
    flow->begun = true;
    flow->length = 0;
}

// A number stays with its unit or its name, "8.40 us" and "bias 32,768", unless that is too long.
static bool belongs(const Flow *flow, char next) {
    enum { LONG = 32 };
    if (flow->length == 0 || flow->length > LONG) return false;
    unsigned char last = (unsigned char)flow->word[flow->length - 1], first = (unsigned char)next;
    return isalnum(last) && isalnum(first) && (isdigit(last) || isdigit(first));
}

static void add(Flow *flow, const char *text) {
    for (const char *c = text; *c; c++)
        if (*c == ' ' && !belongs(flow, c[1]))
            put_word(flow);
        else if (flow->length + 1 < (int)sizeof(flow->word))
            flow->word[flow->length++] = *c;
}

void flow_say(Flow *flow, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    add(flow, text);
}

void flow_close(Flow *flow) {
    put_word(flow);
    fputc('\n', flow->file);
}

void flow_line(FILE *file, const char *label, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    Flow flow = flow_open(file, label);
    add(&flow, text);
    flow_close(&flow);
}

void flow_sum(Flow *flow, const Term terms[], int n, uint64_t total, const char *unit) {
    uint64_t sum = 0;
    int shown = 0;
    for (int i = 0; i < n; i++) sum += terms[i].value;
    for (int i = 0; i < n; i++) {
        if (terms[i].value == 0) continue;
        flow_say(flow, "%s%s%s%s",
                 shown++ == 0   ? ""
                 : sum == total ? " + "
                                : ", ",
                 terms[i].name, terms[i].name[0] ? " " : "", text_count((int64_t)terms[i].value).s);
    }
    if (sum != total)
        flow_say(flow, "%stogether %s", shown ? "; " : "", text_count((int64_t)total).s);
    else if (shown != 1)
        flow_say(flow, "%s%s", shown ? " = " : "", text_count((int64_t)total).s);
    flow_say(flow, " %s", unit);
}
