// elements.h -- internal: numbers as files store them, and what tensors can hold of them.
// Where in a file they lie, and who wants them: input_file.h.
#ifndef LAYERS_FILES_ELEMENTS_H
#define LAYERS_FILES_ELEMENTS_H

#include "layers/files/whole_file.h"
#include "tensor/tensor.h"

typedef struct Element { // one kind of number; little-endian unless said otherwise
    const char *name;    // safetensors' name: "F32"
    const char *numpy;   // NumPy's, without the byte order: "f4"; NULL: it has none
    int size;            // bytes
    int bits;            // of an integer, without its sign
    bool is_signed;
    double (*real)(const uint8_t *at);     // of a floating-point number; a NaN stays one
    int64_t (*integer)(const uint8_t *at); // of an integer that int64 holds
} Element;

const Element *element_by_name(const char *name); // NULL: there is none
const Element *element_by_numpy(const char *name);
const Element *element_of(DType dtype); // as a tensor holds it

// float32 takes any floating-point number, rounded to nearest; and every dtype takes the integers
// all of which it holds exactly.
bool element_fits(const Element *element, DType dtype);
// Of n numbers, of which element_fits; the two may not overlap.
void element_convert(const Element *element, const uint8_t *from, int64_t n, DType dtype, void *to);

// Turns each number's bytes around, in place, where the file's order is not this machine's.
void element_order(const Element *element, bool big_endian, uint8_t *bytes, int64_t n);
bool element_in_order(const Element *element, bool big_endian); // that would change nothing

// One number of a tensor of float32 or int64 as such a number, in this machine's order: rounded to
// nearest, an integer's lower bits, true where it is not 0. False: there is no such kind to write.
bool element_store(const Element *element, const void *number, DType dtype, uint8_t *to);

// Those of a contiguous tensor with values, little-endian. A device's own error; the file's is told
// when it is closed.
Status elements_write(WholeFile *file, const Tensor *tensor);
// The same as numbers of another kind, which element_store writes.
Status elements_write_as(WholeFile *file, const Tensor *tensor, const Element *element);

#endif
