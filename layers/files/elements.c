// elements.c -- one row for each kind of number that files store, and the loops that convert them.
#include "layers/files/elements.h"

#include <math.h>
#include <string.h>

#include "tensor/math.h"
#include "tensor/op.h"

// Defines name(at): reads a number of this type at any address, aligned or not.
#define LOAD(name, type, result)                                                                   \
    static result name(const uint8_t *at) {                                                        \
        type value;                                                                                \
        memcpy(&value, at, sizeof value);                                                          \
        return (result)value;                                                                      \
    }
LOAD(load_u8, uint8_t, int64_t)
LOAD(load_i8, int8_t, int64_t)
LOAD(load_u16, uint16_t, int64_t)
LOAD(load_i16, int16_t, int64_t)
LOAD(load_u32, uint32_t, int64_t)
LOAD(load_i32, int32_t, int64_t)
LOAD(load_i64, int64_t, int64_t)
LOAD(load_f32, float, double)
LOAD(load_f64, double, double)
#undef LOAD

static int64_t load_bool(const uint8_t *at) { return *at != 0; }

static double load_bf16(const uint8_t *at) {
    return (double)math_from_bits((uint32_t)load_u16(at) << 16);
}

// IEEE 754 binary16: 1 sign, 5 exponent (bias 15), 10 fraction.
static double half_value(uint32_t half) {
    uint32_t sign = (half & 0x8000u) << 16;
    uint32_t exponent = half >> 10 & 31u, fraction = half & 0x3ffu;
    if (exponent == 31) return (double)math_from_bits(sign | 0x7f800000u | fraction << 13);
    if (exponent > 0) return (double)math_from_bits(sign | (exponent + 112) << 23 | fraction << 13);
    double tiny = ldexp((double)fraction, -24); // subnormal as binary16, normal as double
    return sign ? -tiny : tiny;
}

static double load_f16(const uint8_t *at) { return half_value((uint32_t)load_u16(at)); }

// A number of 8 bits: a sign, an exponent, a fraction of `fraction` bits (Micikevicius et al. 2022;
// E4M3 has no infinity; FNUZ has one zero, and its NaN has the bits of -0).
static double small_real(uint8_t bits, int fraction, int bias) {
    int exponent = (bits & 0x7f) >> fraction, one = 1 << fraction;
    int digits = bits & (one - 1), shift = (exponent > 0 ? exponent : 1) - bias - fraction;
    double size = ldexp((double)(exponent > 0 ? one + digits : digits), shift);
    return bits & 0x80 ? -size : size;
}
static double load_e4m3(const uint8_t *at) {
    return (*at & 0x7f) == 0x7f ? (double)NAN : small_real(*at, 3, 7);
}
static double load_e5m2(const uint8_t *at) { return half_value((uint32_t)*at << 8); }
static double load_e4m3fnuz(const uint8_t *at) {
    return *at == 0x80 ? (double)NAN : small_real(*at, 3, 8);
}
static double load_e5m2fnuz(const uint8_t *at) {
    return *at == 0x80 ? (double)NAN : small_real(*at, 2, 16);
}
static double load_e8m0(const uint8_t *at) { // a power of two
    return *at == 0xff ? (double)NAN : ldexp(1.0, *at - 127);
}

static const Element elements[] = {
    {.name = "F32", .numpy = "f4", .size = 4, .real = load_f32},
    {.name = "F64", .numpy = "f8", .size = 8, .real = load_f64},
    {.name = "F16", .numpy = "f2", .size = 2, .real = load_f16},
    {.name = "BF16", .size = 2, .real = load_bf16},
    {.name = "BOOL", .numpy = "b1", .size = 1, .bits = 1, .integer = load_bool},
    {.name = "U8", .numpy = "u1", .size = 1, .bits = 8, .integer = load_u8},
    {.name = "I8", .numpy = "i1", .size = 1, .bits = 7, .is_signed = true, .integer = load_i8},
    {.name = "U16", .numpy = "u2", .size = 2, .bits = 16, .integer = load_u16},
    {.name = "I16", .numpy = "i2", .size = 2, .bits = 15, .is_signed = true, .integer = load_i16},
    {.name = "U32", .numpy = "u4", .size = 4, .bits = 32, .integer = load_u32},
    {.name = "I32", .numpy = "i4", .size = 4, .bits = 31, .is_signed = true, .integer = load_i32},
    {.name = "I64", .numpy = "i8", .size = 8, .bits = 63, .is_signed = true, .integer = load_i64},
    {.name = "F8_E4M3", .size = 1, .real = load_e4m3},
    {.name = "F8_E5M2", .size = 1, .real = load_e5m2},
    {.name = "F8_E4M3FNUZ", .size = 1, .real = load_e4m3fnuz},
    {.name = "F8_E5M2FNUZ", .size = 1, .real = load_e5m2fnuz},
    {.name = "F8_E8M0", .size = 1, .real = load_e8m0},
    // These kinds are listed, but fit no tensor here.
    {.name = "U64", .numpy = "u8", .size = 8},
    {.name = "C64", .numpy = "c8", .size = 8},
};
enum { ELEMENTS = sizeof elements / sizeof elements[0], PIECE = 1 << 15 }; // bytes

const Element *element_by_name(const char *name) {
    for (int i = 0; i < ELEMENTS; i++)
        if (strcmp(elements[i].name, name) == 0) return &elements[i];
    return NULL;
}

const Element *element_by_numpy(const char *name) {
    for (int i = 0; i < ELEMENTS; i++)
        if (elements[i].numpy && strcmp(elements[i].numpy, name) == 0) return &elements[i];
    return NULL;
}

const Element *element_of(DType dtype) {
    static const char *const names[] = {
        [DTYPE_FLOAT32] = "F32", [DTYPE_INT64] = "I64", [DTYPE_UINT8] = "U8"};
    _Static_assert(sizeof names / sizeof names[0] == DTYPE_COUNT, "each dtype has its element");
    return element_by_name(names[dtype]);
}

bool element_fits(const Element *element, DType dtype) {
    if (element == element_of(dtype)) return true;
    if (dtype == DTYPE_FLOAT32) return element->real || (element->integer && element->bits <= 24);
    if (dtype == DTYPE_INT64) return element->integer != NULL;
    return element->integer && element->bits <= 8 && !element->is_signed;
}

void element_convert(const Element *element, const uint8_t *from, int64_t n, DType dtype,
                     void *to) {
    float *reals = to;
    int64_t *integers = to;
    uint8_t *bytes = to;
    if (element == element_of(dtype)) {
        memcpy(to, from, (size_t)(n * element->size));
        return;
    }
    for (int64_t i = 0; i < n; i++, from += element->size) {
        if (element->real)
            reals[i] = (float)element->real(from);
        else if (dtype == DTYPE_FLOAT32)
            reals[i] = (float)element->integer(from);
        else if (dtype == DTYPE_INT64)
            integers[i] = element->integer(from);
        else
            bytes[i] = (uint8_t)element->integer(from);
    }
}

bool element_in_order(const Element *element, bool big_endian) {
    return element->size == 1 || big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

void element_order(const Element *element, bool big_endian, uint8_t *bytes, int64_t n) {
    if (element_in_order(element, big_endian)) return;
    for (uint8_t *at = bytes; at < bytes + n * element->size; at += element->size)
        for (int i = 0, k = element->size - 1; i < k; i++, k--) {
            uint8_t byte = at[i];
            at[i] = at[k];
            at[k] = byte;
        }
}

// ---- writing ----------------------------------------------------------------------------------
// IEEE 754 binary16 of a float, to nearest, halves to the even one.
static uint16_t half_of(float x) {
    uint32_t bits = math_to_bits(x), size = bits & 0x7fffffffu;
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
    if (size > 0x7f800000u) return sign | 0x7e00u;  // NaN
    if (size >= 0x477ff000u) return sign | 0x7c00u; // from 65520 on: infinity
    // Below 2^-14 the steps are 2^-24, as they are for floats from 0.5 on: adding 0.5 rounds.
    if (size < 0x38800000u)
        return sign | (uint16_t)(math_to_bits(math_from_bits(size) + 0.5f) & 0xffffu);
    uint32_t odd = size >> 13 & 1u;
    return sign | (uint16_t)((size - (112u << 23) + 0xfffu + odd) >> 13);
}

bool element_store(const Element *element, const void *number, DType dtype, uint8_t *to) {
    float real;
    int64_t whole;
    memcpy(&real, number, sizeof real);
    memcpy(&whole, number, dtype == DTYPE_INT64 ? sizeof whole : sizeof real);
    if (dtype == DTYPE_INT64) real = (float)whole;
    if (dtype == DTYPE_FLOAT32) whole = math_to_int64(real);
    const double wide = dtype == DTYPE_INT64 ? (double)whole : (double)real;
    const uint16_t half = half_of(real);
    if (element->integer == load_bool) {
        *to = dtype == DTYPE_FLOAT32 ? real != 0.0f : whole != 0;
    } else if (element->real == load_f32) {
        memcpy(to, &real, sizeof real);
    } else if (element->real == load_f64) {
        memcpy(to, &wide, sizeof wide);
    } else if (element->real == load_f16) {
        memcpy(to, &half, sizeof half);
    } else if (!element->real && element->numpy && element->numpy[0] != 'c') {
        const uint8_t *bytes = (const uint8_t *)&whole; // its lower bytes
        bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
        memcpy(to, bytes + (big ? (int)sizeof whole - element->size : 0), (size_t)element->size);
    } else {
        return false;
    }
    return true;
}

Status elements_write_as(WholeFile *file, const Tensor *tensor, const Element *element) {
    DType dtype = (DType)tensor->dtype;
    if (element == element_of(dtype)) return elements_write(file, tensor);
    int64_t size = dtype_size(dtype), count = tensor->numel, most = PIECE / 8;
    uint8_t piece[PIECE], converted[PIECE];
    for (int64_t done = 0; done < count; done += most) {
        int64_t n = count - done < most ? count - done : most;
        Status status = device_to_host(tensor->device, piece, tensor_raw(tensor) + done * size,
                                       (size_t)(n * size));
        if (status) return status;
        for (int64_t i = 0; i < n; i++)
            element_store(element, piece + i * size, dtype, converted + i * element->size);
        element_order(element, false, converted, n);
        whole_file_write(file, converted, (size_t)(n * element->size));
    }
    return STATUS_OK;
}

Status elements_write(WholeFile *file, const Tensor *tensor) {
    const Element *element = element_of((DType)tensor->dtype);
    Device *device = tensor->device;
    int64_t bytes = tensor_bytes(tensor);
    if (bytes == 0) return STATUS_OK;
    if (device->on_host && element_in_order(element, false)) {
        whole_file_write(file, tensor_raw(tensor), (size_t)bytes);
        return STATUS_OK;
    }
    uint8_t piece[PIECE];
    for (int64_t done = 0; done < bytes; done += PIECE) {
        int64_t n = bytes - done < PIECE ? bytes - done : PIECE;
        Status status = device_to_host(device, piece, tensor_raw(tensor) + done, (size_t)n);
        if (status) return status;
        element_order(element, false, piece, n / element->size);
        whole_file_write(file, piece, (size_t)n);
    }
    return STATUS_OK;
}
