// published.c -- networks by torchvision's names; a test that names an unknown one fails.
#include "tests/helpers/published.h"

#include "tests/helpers/harness.h"

Layer *published_new(const char *name, int64_t classes) {
    const ZooModel *model = zoo_find(name);
    ck_assert_msg(model != NULL, "no model %s", name);
    return zoo_new(model, classes);
}
