// scope.c -- scopes free the results of ops: each is a doubly linked list of the tensors it owns.
#include <stddef.h>

#include "tensor/given.h"
#include "tensor/handle.h"
#include "tensor/memory.h"
#include "tensor/shadow.h"

struct Scope {
    Tensor *first;
    Scope *outer;
    int no_grad; // the context's value at opening
};

Scope *scope_open(void) {
    Context *context = context_current();
    Scope *scope = context->free_scopes;
    if (!memory_request()) {
        error_set(STATUS_OUT_OF_MEMORY, "scope_open: no room for a scope");
        return NULL;
    }
    if (scope) {
        context->free_scopes = scope->outer;
    } else {
        scope = memory_new(sizeof(Scope));
        if (!scope) return NULL;
    }
    scope->first = NULL;
    scope->outer = context->scope;
    scope->no_grad = context->no_grad;
    context->scope = scope;
    return scope;
}

void scope_adopt(Scope *scope, Tensor *tensor) {
    tensor->scope = scope;
    tensor->scope_previous = NULL;
    tensor->scope_next = scope->first;
    if (scope->first) scope->first->scope_previous = tensor;
    scope->first = tensor;
}

void scope_forget(Tensor *tensor) {
    if (tensor->scope_previous)
        tensor->scope_previous->scope_next = tensor->scope_next;
    else
        tensor->scope->first = tensor->scope_next;
    if (tensor->scope_next) tensor->scope_next->scope_previous = tensor->scope_previous;
    tensor->scope = NULL;
}

static void empty(Scope *scope) {
    while (scope->first) {
        Tensor *tensor = scope->first;
        scope->first = tensor->scope_next;
        tensor->scope = NULL;
        tensor_disown(tensor);
    }
}

static void close_innermost(Context *context) {
    Scope *scope = context->scope;
    empty(scope);
    context->scope = scope->outer;
    if (context->no_grad > scope->no_grad) context->no_grad = scope->no_grad;
    scope->outer = context->free_scopes;
    context->free_scopes = scope;
}

static bool is_open(const Context *context, const Scope *scope) {
    for (const Scope *s = context->scope; s; s = s->outer)
        if (s == scope) return true;
    return false;
}

void scope_empty(Scope *scope) {
    Context *context = context_current();
    while (context->scope != scope) close_innermost(context);
    empty(scope);
}

void scope_close(Scope *scope) {
    Context *context = context_current();
    if (!scope || !is_open(context, scope)) return;
    while (context->scope != scope) close_innermost(context);
    close_innermost(context);
}

// Whether it dies with one of the scopes up to `outer`. Otherwise it is an input passed through, or
// was moved out already: its owner keeps it.
static bool dies_inside(const Tensor *tensor, const Scope *outer) {
    const Scope *s = context_current()->scope;
    while (s != outer && s != tensor->scope) s = s->outer;
    return s != outer;
}

void scope_close_with_each(Scope *scope, Tensor *const results[], int n_results) {
    if (!GIVEN(results)) return;
    if (!scope || !is_open(context_current(), scope)) return;
    Scope *outer = scope->outer;
    for (int i = 0; i < n_results; i++) {
        if (!results[i] || !dies_inside(results[i], outer)) continue;
        scope_forget(results[i]);
        if (outer) scope_adopt(outer, results[i]);
    }
    scope_close(scope);
}

Tensor *scope_close_with(Scope *scope, Tensor *result) {
    scope_close_with_each(scope, &result, 1);
    return result;
}

Tensor *tensor_keep(Tensor *tensor) {
    tensor = tensor_here(tensor);
    if (tensor && tensor->scope)
        scope_forget(tensor);
    else if (tensor)
        tensor_own(tensor);
    return tensor;
}

void tensor_release(Tensor *tensor) {
    if (!tensor || !tensor->scope || tensor_is_stranger(tensor)) return;
    scope_forget(tensor);
    tensor_disown(tensor);
}

Tensor *tensor_retain(Tensor *tensor) {
    tensor = tensor_here(tensor);
    if (tensor) tensor_own(tensor);
    return tensor;
}

void tensor_free(Tensor *tensor) {
    if (!tensor || tensor->scope || tensor_is_stranger(tensor)) return;
    tensor_disown(tensor);
}

void scope_free_list(Context *context) {
    while (context->scope) close_innermost(context);
    for (Scope *s = context->free_scopes; s;) {
        Scope *next = s->outer;
        memory_free(s);
        s = next;
    }
    context->free_scopes = NULL;
}
