// own_names.c -- a guest whose functions have names that the library uses inside: the guest calls
// its own, and the library its own. Logits of a model with all parameters 1 show it.
#include <ridgepoint/ridgepoint.h>

enum { IN = 96, HIDDEN = 64, OUT = 3, BATCH = 40 };

// If the library calls these functions, or reads these variables, it has taken a guest's name.
static int taken;
#define OWN(name)                                                                                  \
    void *name(void);                                                                              \
    void *name(void) {                                                                             \
        taken++;                                                                                   \
        return NULL;                                                                               \
    }
OWN(gemm_run)
OWN(gemm_alone)
OWN(blas_gemm)
OWN(blas_settle)
OWN(blas_name)
OWN(pool_new)
OWN(pool_run)
OWN(pool_free)
OWN(pool_threads)
OWN(pool_default_threads)
OWN(memory_new)
OWN(memory_free)
OWN(memory_resize)
OWN(memory_new_data)
OWN(memory_free_data)
OWN(memory_request)
OWN(handle_new)
OWN(handle_recycle)
OWN(json_file_open)
OWN(json_open)
OWN(json_writer_new)
OWN(json_writer_string)
OWN(whole_file_open)
OWN(text_count)
OWN(text_plain)
OWN(tape_current)
OWN(node_spend)
OWN(deliver_all)
OWN(rule_run)
OWN(scope_adopt)
OWN(shadow_tensor)
OWN(ring_new)
OWN(environment_read)
OWN(system_bytes)
OWN(conv2d_cpu)
OWN(add_cpu)
OWN(sum_cpu)
OWN(linear_cpu)

int main(void) {
    const int64_t sizes[] = {IN, HIDDEN, OUT};
    context_set_threads(2);
    Scope *scope = scope_open();
    Layer *model = mlp_new(sizes, 3, mlp_defaults());
    ParameterList parameters = {0};
    if (layer_parameters(model, &parameters)) return 1;
    no_grad_begin();
    for (int i = 0; i < parameters.count; i++) tensor_fill(parameters.items[i].tensor, 1.0f);
    no_grad_end();
    parameter_list_free(&parameters);
    Tensor *x = tensor_full_new(SHAPE(BATCH, IN), 1.0f);
    Tensor *logits = layer_forward(model, x);
    const float *values = logits ? tensor_data(logits) : NULL;
    int different = values == NULL;
    for (int i = 0; values && i < BATCH * OUT; i++)
        different += values[i] != (float)(HIDDEN * (IN + 1) + 1);
    Tensor *loss = logits ? tensor_mean(logits, DIM_ALL, false) : NULL;
    if (!loss || autograd_backward(loss)) different++;
    printf("%d different, %d taken, %s\n", different, taken, error_message());
    scope_close(scope);
    tensor_free(x);
    layer_free(model);
    context_release_thread();
    return different + taken != 0;
}
