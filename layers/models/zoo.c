// zoo.c -- looks up networks by name. The table: zoo_table.c.
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
