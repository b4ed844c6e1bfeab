// markup.c -- walks through elements and attributes, and keeps the open elements and the names.
#include "tests/helpers/markup.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/helpers/expect.h"

enum { DEPTH = 64, NAMES = 4096, NAME = 64 };

typedef struct Names {
    char at[NAMES][NAME];
    int n;
} Names;

static Names ids, targets;

static bool has(const Names *names, const char *name) {
    for (int i = 0; i < names->n; i++)
        if (strcmp(names->at[i], name) == 0) return true;
    return false;
}

static void add(Names *names, const char *name, int length) {
    ck_assert_int_lt(names->n, NAMES);
    ck_assert_int_lt(length, NAME);
    snprintf(names->at[names->n++], NAME, "%.*s", length, name);
}

static bool is_void(const char *name) {
    static const char *const empty[] = {"meta", "br", "hr", "img", "link", "!DOCTYPE"};
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++)
        if (strcmp(name, empty[i]) == 0) return true;
    return false;
}

// Accepts "&amp;" and "&#10;"; returns the position of the next '<'.
static const char *check_text(const char *at) {
    for (; *at && *at != '<'; at++) {
        if (*at != '&') continue;
        size_t length = strcspn(at, "; <");
        ck_assert_msg(at[length] == ';' && length > 2, "no entity: %.40s", at);
    }
    return at;
}

static void check_attribute(const char *name, int n, const char *value, int length) {
    char copy[NAME * 4];
    snprintf(copy, sizeof copy, "%.*s", length, value);
    ck_assert_msg(!strchr(copy, '<'), "in an attribute: %s", copy);
    if (n == 2 && strncmp(name, "id", 2) == 0) {
        ck_assert_msg(!has(&ids, copy), "id %s twice", copy);
        add(&ids, copy, length);
    }
    if (n == 4 && strncmp(name, "href", 4) == 0 && copy[0] == '#')
        add(&targets, copy + 1, length - 1);
    if (n == 15 && strncmp(name, "aria-labelledby", 15) == 0) add(&targets, copy, length);
}

// From the end of the name to after the '>'. *closed is set if the element ends in "/>".
static const char *check_attributes(const char *at, bool *closed) {
    *closed = false;
    for (;;) {
        while (isspace((unsigned char)*at)) at++;
        if (*at == '>') return at + 1;
        if (strncmp(at, "/>", 2) == 0) {
            *closed = true;
            return at + 2;
        }
        int n = (int)strcspn(at, "= >\n");
        if (at[n] != '=') { // HTML: an attribute without a value
            ck_assert_msg(n > 0 && at[n], "no attribute: %.40s", at);
            at += n;
            continue;
        }
        ck_assert_msg(at[n + 1] == '"', "not quoted: %.40s", at);
        const char *value = at + n + 2, *end = strchr(value, '"');
        ck_assert_msg(end != NULL, "no end: %.40s", at);
        ck_assert_ptr_eq(memchr(value, '\n', (size_t)(end - value)), NULL);
        check_attribute(at, n, value, (int)(end - value));
        at = end + 1;
    }
}

void markup_check(const char *text) {
    char open[DEPTH][NAME];
    int depth = 0;
    ids.n = targets.n = 0;
    for (const char *at = check_text(text); *at; at = check_text(at)) {
        bool end = at[1] == '/', closed;
        const char *name = at + 1 + end;
        int length = (int)strcspn(name, " />\n");
        char element[NAME];
        snprintf(element, sizeof element, "%.*s", length, name);
        at = check_attributes(name + length, &closed);
        if (end) {
            ck_assert_msg(depth > 0 && strcmp(open[depth - 1], element) == 0, "</%s> within <%s>",
                          element, depth > 0 ? open[depth - 1] : "");
            depth--;
        } else if (!closed && !is_void(element)) {
            ck_assert_int_lt(depth, DEPTH);
            strcpy(open[depth++], element);
        }
        if (!end && strcmp(element, "style") == 0) at = strstr(at, "</style>");
        ck_assert_ptr_nonnull(at);
    }
    ck_assert_msg(depth == 0, "<%s> is open", depth > 0 ? open[depth - 1] : "");
    for (int i = 0; i < targets.n; i++)
        ck_assert_msg(has(&ids, targets.at[i]), "no id %s", targets.at[i]);
}

int markup_count(const char *text, const char *part) {
    int n = 0;
    for (; (text = strstr(text, part)); text += strlen(part)) n++;
    return n;
}
