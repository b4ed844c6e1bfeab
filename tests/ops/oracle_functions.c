// oracle_functions.c -- the formulas of the functions of one and of two tensors that are not in
// oracle_elementwise.c.
#include "tests/ops/oracle.h"

// ---- one tensor -------------------------------------------------------------------------------
static double error_function(OpCost *n, const OpParams *p, double a, double b) {
    (void)p, (void)b;
    return transcendental(n, erf, a);
}
static double sine(OpCost *n, const OpParams *p, double a, double b) {
    (void)p, (void)b;
    return transcendental(n, sin, a);
}
static double cosine(OpCost *n, const OpParams *p, double a, double b) {
    (void)p, (void)b;
    return transcendental(n, cos, a);
}
static double reciprocal(OpCost *n, const OpParams *p, double a, double b) {
    (void)p, (void)b;
    return over(n, 1.0, a);
}
static double inverse_root(OpCost *n, const OpParams *p, double a, double b) {
    (void)p, (void)b;
    return 1.0 / transcendental(n, sqrt, a);
}
static double sign(OpCost *n, const OpParams *p, double a, double b) {
    (void)p, (void)b;
    bool above = less(n, 0.0, a), below = less(n, a, 0.0);
    return above ? 1.0 : below ? -1.0 : 0.0;
}
static double down(OpCost *n, const OpParams *p, double a, double b) {
    (void)p, (void)b;
    n->elementwise_flops++;
    return floor(a);
}
static double up(OpCost *n, const OpParams *p, double a, double b) {
    (void)p, (void)b;
    n->elementwise_flops++;
    return ceil(a);
}
static double to_even(OpCost *n, const OpParams *p, double a, double b) {
    (void)p, (void)b;
    n->elementwise_flops++;
    return nearbyint(a);
}

// ---- two tensors ------------------------------------------------------------------------------
static double minimum(OpCost *n, const OpParams *p, double a, double b) {
    (void)p;
    n->elementwise_flops++;
    return isnan(a) || a < b ? a : b;
}
static double with_sign_of_a(OpCost *n, const OpParams *p, double a, double b) {
    (void)p;
    n->elementwise_flops += 4;
    return fmod(a, b);
}
static double with_sign_of_b(OpCost *n, const OpParams *p, double a, double b) {
    (void)p;
    double rest = fmod(a, b);
    n->elementwise_flops += 4;
    return rest != 0.0 && signbit(rest) != signbit(b) ? rest + b : rest;
}
static double power(OpCost *n, const OpParams *p, double a, double b) {
    (void)p;
    n->transcendental_flops++;
    return pow(a, b);
}
static double both(OpCost *n, const OpParams *p, double a, double b) {
    (void)p;
    bool first = equals(n, a, 0.0), second = equals(n, b, 0.0);
    return !first && !second ? 1.0 : 0.0;
}
static double either(OpCost *n, const OpParams *p, double a, double b) {
    (void)p;
    bool first = equals(n, a, 0.0), second = equals(n, b, 0.0);
    return first && second ? 0.0 : 1.0;
}

const OracleFormula oracle_functions[OP_COUNT] = {
    [OP_erf] = {error_function},  [OP_sin] = {sine},
    [OP_cos] = {cosine},          [OP_reciprocal] = {reciprocal},
    [OP_rsqrt] = {inverse_root},  [OP_sign] = {sign},
    [OP_floor] = {down},          [OP_ceil] = {up},
    [OP_round] = {to_even},       [OP_minimum] = {minimum},
    [OP_fmod] = {with_sign_of_a}, [OP_remainder] = {with_sign_of_b},
    [OP_pow_tensor] = {power},    [OP_logical_and] = {both},
    [OP_logical_or] = {either},
};
