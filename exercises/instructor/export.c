// export.c -- the students' names in a Gradescope export, whose folders are submission_1, ...
#include <stdio.h>
#include <string.h>

#include "exercises/instructor/submissions.h"

// The lines of submission_metadata.yml that this file reads:
//
//     submission_123456:            a folder beside that file
//       :submitters:
//       - :name: Jane Doe           only the first of several counts
//         :sid: '7'
//         :email: jane@x.edu
//
// This is no YAML reader: it skips all other lines.

typedef struct Submitter {
    char folder[CLASS_NAME], email[CLASS_NAME], name[CLASS_NAME];
    size_t column; // of the first submitter's keys; deeper lines continue somebody's name
    bool named;    // a first submitter was read, which later ones do not change
} Submitter;

// Takes the text after the key, without quotes. The key must begin the line; elsewhere it may be
// part of a name.
static bool take_value(const char *line, const char *key, char value[CLASS_NAME]) {
    const char *at = line + strspn(line, " -");
    if (strncmp(at, key, strlen(key)) != 0 || value[0] != '\0') return false;
    at += strlen(key);
    at += strspn(at, " ");
    const char quote[3] = {*at == '\'' || *at == '"' ? *at : '\r', '\r'};
    at += quote[0] != '\r';
    snprintf(value, CLASS_NAME, "%.*s", (int)strcspn(at, quote), at);
    return true;
}

static void hand_over(Submitter *submitter, ExportTake *take, void *argument) {
    if (submitter->folder[0] != '\0' && submitter->email[0] != '\0') {
        take(argument, submitter->folder, submitter->email, submitter->name);
    }
    *submitter = (Submitter){.named = false};
}

void export_each(char *text, ExportTake *take, void *argument) {
    Submitter submitter = {.named = false};
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (line[0] != ' ' && line[0] != '-' && line[0] != ':') {
            hand_over(&submitter, take, argument);
            snprintf(submitter.folder, CLASS_NAME, "%.*s", (int)strcspn(line, ":\r"), line);
        } else if (!submitter.named) {
            size_t column = strspn(line, " -");
            if (submitter.column == 0 && memchr(line, '-', column)) submitter.column = column;
            if (column != submitter.column) continue;
            take_value(line, ":name:", submitter.name);
            submitter.named = take_value(line, ":email:", submitter.email);
        }
    }
    hand_over(&submitter, take, argument);
}
