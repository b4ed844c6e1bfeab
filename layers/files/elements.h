// elements.h -- internal: numbers as files store them, and their conversion to what tensors hold.
// Their places in files: input_file.h.
#ifndef LAYERS_FILES_ELEMENTS_H
#define LAYERS_FILES_ELEMENTS_H

#include "layers/files/whole_file.h"
#include "tensor/tensor.h"

typedef struct Element { // one kind of number; little-endian unless said otherwise
    const char *name;    // safetensors' name: "F32"
    const char *numpy;   // NumPy's name without the byte order: "f4"; NULL: it has none
    int size;            // bytes
    int bits;            // of an integer, without its sign
    bool is_signed;
    double (*real)(const uint8_t *at);     // for floating-point kinds; a NaN stays one
    int64_t (*integer)(const uint8_t *at); // for integers that int64 holds
} Element;

const Element *element_by_name(const char *name); // NULL: there is none
const Element *element_by_numpy(const char *name);
const Element *element_of(DType dtype); // the kind that a tensor of this dtype holds

// True if numbers convert: any floating-point kind fits float32, rounded to nearest; an integer
// kind fits every dtype that holds all of its values exactly.
bool element_fits(const Element *element, DType dtype);
// Converts n numbers of a kind that element_fits; the two blocks may not overlap.
void element_convert(const Element *element, const uint8_t *from, int64_t n, DType dtype, void *to);

// Reverses each number's bytes in place, where the file's order is not this machine's.
void element_order(const Element *element, bool big_endian, uint8_t *bytes, int64_t n);
bool element_in_order(const Element *element, bool big_endian); // true: it changes nothing

// Converts one number of a float32 or int64 tensor to this kind, in this machine's order: rounded
// to nearest; for integers the lower bits; for a bool whether it is not 0. False: cannot write it.
bool element_store(const Element *element, const void *number, DType dtype, uint8_t *to);

// Writes the elements of a contiguous tensor with values, little-endian. Returns a device's own
// error; closing the file reports the file's.
Status elements_write(WholeFile *file, const Tensor *tensor);
// As elements_write, with each number converted by element_store.
Status elements_write_as(WholeFile *file, const Tensor *tensor, const Element *element);

#endif
