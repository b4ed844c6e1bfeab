// zoo_table.h -- internal to layers/models/: the table that zoo.c looks names up in.
#ifndef LAYERS_MODELS_ZOO_TABLE_H
#define LAYERS_MODELS_ZOO_TABLE_H

#include "layers/models/zoo.h"

extern const ZooModel zoo_models[];
extern const int zoo_model_count;

#endif
