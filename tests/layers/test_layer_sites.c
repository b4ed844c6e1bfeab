// test_layer_sites.c -- call sites die with their layers; reused site numbers do not mislead.
#include "layers/cost.h"
#include "profiler/session/profiler.h"
#include "tensor/memory.h"
#include "tests/helpers/expect.h"

// ---- call sites --------------------------------------------------------------------------------
static void run_new_model(void) {
    Layer *model = mlp_new((int64_t[]){4, 3, 2}, 3, mlp_defaults());
    Tensor *x = tensor_full_new(SHAPE(2, 4), 1.0f);
    Scope *scope = scope_open();
    layer_forward(model, x);
    scope_close(scope);
    tensor_free(x);
    layer_free(model);
}

START_TEST(sites_die_with_their_model) {
    const Context *context = context_current();
    int before = context->n_sites;
    for (int i = 0; i < 3000; i++) run_new_model();
    ck_assert_int_le(context->n_sites, before + 4);
    expect_no_error();
}
END_TEST

START_TEST(who_has_numbers_of_sites_finds_their_names) {
    Context *context = context_current();
    SiteReader reader = {0}, second = {0};
    char path[40];
    int first = context->n_sites;
    site_reader_add(&reader);
    site_reader_add(&second);
    site_reader_remove(&second);
    for (int i = 0; i < 5; i++) run_new_model();
    ck_assert_int_eq(context->n_sites, first + 20); // even if addresses repeat
    for (int i = 0; i < 20; i++) {
        static const char *const names[] = {"(model)", "fc1", "relu1", "fc2"};
        ck_assert_str_eq(site_path(context, first + i, path, sizeof path), names[i % 4]);
    }
    site_reader_remove(&reader);
    site_reader_remove(&reader);
    for (int i = 0; i < 50; i++) run_new_model();
    ck_assert_int_eq(context->n_sites, first + 20);
}
END_TEST

// Memory that outlives its layer is not charged to another, nor is the backward of its graph.
START_TEST(what_a_dead_layer_left_is_not_the_next_ones) {
    Context *context = context_current();
    Layer *next = sequential_new();
    layer_add_child(next, "lin", linear_new(2, 2, true));
    Tensor *x = tensor_full_new(SHAPE(3, 2), 1.0f);
    char path[40];
    for (int graph = 0; graph < 2; graph++) {
        Layer *outer = sequential_new(), *middle = sequential_new();
        layer_add_child(outer, "old", middle);
        layer_add_child(middle, "act", relu_new());
        tensor_requires_grad(x, graph == 1);
        Scope *scope = scope_open();
        Tensor *y = layer_forward(outer, x);
        int site = y->storage->site;
        Tensor *z = graph ? tensor_neg(y) : NULL;
        if (graph) tensor_release(y); // only the graph holds it now
        layer_free(outer);
        layer_forward(next, x);
        ck_assert_str_eq(site_path(context, site, path, sizeof path), "old.act");
        if (z) ck_assert_int_eq(autograd_backward(tensor_sum(z, DIM_ALL, false)), STATUS_OK);
        scope_close(scope);
    }
    expect_no_error();
    tensor_free(x);
    layer_free(next);
}
END_TEST

START_TEST(a_reader_outlives_its_context) {
    SiteReader reader = {0};
    Context *context = context_new();
    context_push(context);
    site_reader_add(&reader);
    run_new_model();
    context_pop();
    context_free(context);
    ck_assert_ptr_null(reader.context);
    site_reader_remove(&reader);
}
END_TEST

// A layer that is freed takes along the sites of the ops inside it, and no other's.
START_TEST(what_ran_inside_goes_too_and_what_lives_stays) {
    Context *context = context_current();
    Layer *kept = relu_new();
    Tensor *x = tensor_full_new(SHAPE(2), 1.0f);
    Scope *scope = scope_open();
    layer_forward(kept, x);
    site_leave(site_enter(kept->serial, kept->name, kept->type->name));
    int alone = 0, most = 0, before_all = context->n_sites;
    while (context->sites[alone].owner != kept->serial) alone++;
    for (int i = 0; i < 100; i++) {
        Layer *outer = relu_new();
        int before = site_enter(outer->serial, "outer", "Outer");
        Scope *inner = scope_open();
        layer_forward(kept, x);
        scope_close(inner);
        site_leave(before);
        layer_free(outer);
        most = context->n_sites;
    }
    ck_assert_int_le(most, before_all + 3);
    ck_assert(!context->sites[alone].dead);
    scope_close(scope);
    tensor_free(x);
    layer_free(kept);
    ck_assert(context->sites[alone].dead);
}
END_TEST

START_TEST(a_session_says_that_its_context_is_gone) {
    Layer *model = mlp_new((int64_t[]){4, 3, 2}, 3, mlp_defaults());
    Tensor *x = tensor_full_new(SHAPE(5, 4), 1.0f);
    Profiler *profiler = profiler_new(profiler_defaults());
    Context *context = dry_run_begin(model);
    profiler_start(profiler);
    Scope *scope = scope_open();
    layer_forward(model, x);
    scope_close(scope);
    dry_run_end(context);
    ProfilerSummary summary;
    ck_assert_int_eq(profiler_summarise(profiler, &summary), STATUS_STATE);
    expect_error(STATUS_STATE, "the context in which it ran is gone");
    ck_assert_int_eq(profiler_write_trace(profiler, "/tmp/never"), STATUS_STATE);
    expect_error(STATUS_STATE, "another context");
    ck_assert_int_eq(profiler_stop(profiler), STATUS_OK);
    profiler_free(profiler);
    expect_no_error();
    tensor_free(x);
    layer_free(model);
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {sites_die_with_their_model, 0},
        {who_has_numbers_of_sites_finds_their_names, 0},
        {what_a_dead_layer_left_is_not_the_next_ones, 0},
        {a_session_says_that_its_context_is_gone, 0},
        {a_reader_outlives_its_context, 0},
        {what_ran_inside_goes_too_and_what_lives_stays, 0},
        {NULL, 0},
    };
    return harness_main("layer_sites", tests);
}
