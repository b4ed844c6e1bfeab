// zoo.c -- looks up networks by name. Which there are: zoo_table.c.
#include "layers/models/zoo_table.h"

#include <string.h>

#include "tensor/status.h"

const ZooModel *zoo_at(int index) {
    return index >= 0 && index < zoo_model_count ? &zoo_models[index] : NULL;
}

const ZooModel *zoo_find(const char *name) {
    for (int i = 0; name && i < zoo_model_count; i++)
        if (strcmp(zoo_models[i].name, name) == 0) return &zoo_models[i];
    return NULL;
}

Layer *zoo_new(const ZooModel *model, int64_t classes) {
    if (!model) {
        error_set(STATUS_INVALID_ARGUMENT,
                  "zoo_new: there is no network. HINT: zoo_find gives one");
        return NULL;
    }
    if (classes < 1) classes = model->classes;
    if (model->plain) return model->plain(classes);
    if (model->by_name) return model->by_name(model->variant, classes);
    return model->by_form(model, classes);
}

// ---- a name that was meant ---------------------------------------------------------------------
enum { LONGEST = 32 };

// Letters to add, leave out or change, to make one of the other (Wagner and Fischer 1974).
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

const char *zoo_nearest(const char *name) {
    const char *nearest = NULL;
    int least = 4; // more would be another name
    if (!name || strlen(name) > LONGEST) return NULL;
    for (int i = 0; i < zoo_model_count; i++) {
        int apart = distance(name, zoo_models[i].name);
        if (apart >= least) continue;
        least = apart;
        nearest = zoo_models[i].name;
    }
    return nearest;
}
