// published.c -- networks by torchvision's names, as the tests ask for them: there has to be one.
#include "tests/helpers/published.h"

#include "tests/helpers/harness.h"

Layer *published_new(const char *name, int64_t classes) {
    const ZooModel *model = zoo_find(name);
    ck_assert_msg(model != NULL, "no model %s", name);
    return zoo_new(model, classes);
}
