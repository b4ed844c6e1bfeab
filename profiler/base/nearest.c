// nearest.c -- the distance between two names (Wagner and Fischer 1974).
#include "profiler/base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { LONGEST = 64, FARTHEST = 3 }; // letters: longest name, greatest distance accepted

// Number of letters to add, leave out or change to turn one name into the other.
static int distance(const char *a, const char *b) {
    int row[LONGEST + 1], length = (int)strlen(b);
    for (int k = 0; k <= length; k++) row[k] = k;
    for (int i = 1; *a; a++, i++) {
        int corner = row[0];
        row[0] = i;
        for (int k = 1; k <= length; k++) {
            int changed = corner + (*a != b[k - 1]);
            int added = 1 + (row[k] < row[k - 1] ? row[k] : row[k - 1]);
            corner = row[k];
            row[k] = changed < added ? changed : added;
        }
    }
    return row[length];
}

const char *nearest_name(const char *name, const char *(*at)(const void *holder, int i),
                         const void *holder) {
    const char *nearest = NULL, *one;
    int least = FARTHEST + 1;
    for (int i = 0; name && (one = at(holder, i)); i++) {
        if (strlen(name) > LONGEST || strlen(one) > LONGEST) continue;
        int apart = distance(name, one), length = (int)strlen(one);
        bool close = name[0] == one[0] ? apart < length : 2 * apart < length;
        if (apart >= least || !close) continue;
        least = apart;
        nearest = one;
    }
    return nearest;
}
