// zoo.h -- the published networks by name, with their inputs. The names are torchvision's and
// Hugging Face's; models.h has the networks themselves.
//
//     const ZooModel *resnet = zoo_find("resnet50");
//     Layer *model = zoo_new(resnet, 10);              // of 10 classes; 0: of its own 1,000
#ifndef LAYERS_MODELS_ZOO_H
#define LAYERS_MODELS_ZOO_H

#include "layers/layer.h"

RIDGEPOINT_API_BEGIN

enum { ZOO_FORM = 8 };

typedef struct ZooModel {
    const char *name;   // "resnet50"
    const char *source; // "He et al. 2016"
    // Input that it was designed for: images (channels, height, width), or, with a vocabulary, at
    // most that many token ids (tokens, 0, 0). Most take images of other heights and widths.
    int64_t input[3];
    int64_t vocabulary; // 0: it takes images
    bool of_characters; // ids are characters; for a text, its vocabulary applies
    int64_t classes;    // classes of its output; 0: another kind of output
    // The constructor, one of three: by classes only; by variant and classes; by numbers.
    Layer *(*plain)(int64_t classes);
    Layer *(*by_name)(const char *variant, int64_t classes);
    const char *variant;
    Layer *(*by_form)(const struct ZooModel *model, int64_t classes);
    int64_t form[ZOO_FORM];
} ZooModel;

const ZooModel *zoo_at(int index);          // in the order of a list; NULL past the last
const ZooModel *zoo_find(const char *name); // NULL, without an error: no such name
Layer *zoo_new(const ZooModel *model, int64_t classes); // classes 0: its own. NULL with an error

RIDGEPOINT_API_END

#endif
