// misconceptions.h -- known mistakes: name, and what a student is told, in at most 120 characters.
// Each has a page, explain/<name>.md. In alphabetical order.
#ifndef EXERCISES_GRADER_MISCONCEPTIONS_H
#define EXERCISES_GRADER_MISCONCEPTIONS_H

#define MISCONCEPTION_LIST(X)                                                                      \
    X(activation_free,                                                                             \
      "an activation costs, too: one FLOP for each element, and its input and output move")        \
    X(activation_of_batch, "the result is per sample: an activation counts the elements of one "   \
                           "sample, not of the batch")                                             \
    X(batch_forgotten, "the question is about the whole batch: all of its samples go through")     \
    X(batch_multiplied,                                                                            \
      "the result is per sample; multiply by the batch only in profile_forward_pass")              \
    X(bias_as_one, "a bias is one number for each output, not one for the layer")                  \
    X(bias_counted, "biases are not counted here: one addition beside thousands of multiply-adds") \
    X(bias_forgotten, "a layer with a bias owns it beside the weight: out more numbers")           \
    X(bias_per_input,                                                                              \
      "a bias is added to the outputs: it has out_features numbers, not in_features")              \
    X(blocks_forgotten, "that is one block; the model has several of them")                        \
    X(bound_from_efficiency,                                                                       \
      "low FLOP/s does not mean memory-bound: compare intensity and ridge, not times")             \
    X(bound_swapped, "intensity at or above the ridge is compute-bound, below it memory-bound")    \
    X(bytes_for_elements, "asked is how many numbers there are, not how many bytes they take")     \
    X(ceiling_unchecked,                                                                           \
      "a ceiling that is not above 0 makes every quotient meaningless: refuse it first")           \
    X(children_ignored, "a Sequential owns nothing itself: what it holds is in its children")      \
    X(dilation_ignored,                                                                            \
      "a dilated kernel reaches dilation * (k - 1) + 1 far, so it fits less often")                \
    X(double_precision, "the numbers are float32: 4 bytes each, not 8")                            \
    X(elements_for_bytes, "asked are bytes: each float32 number takes 4")                          \
    X(equal_shapes_merged,                                                                         \
      "two tensors of one shape are not one tensor: only the same address is shared")              \
    X(every_use_read, "compulsory traffic reads each operand once, however often it is used")      \
    X(footprint_for_traffic,                                                                       \
      "traffic is not footprint: what one layer writes, the next one reads again")                 \
    X(fraction_inverted,                                                                           \
      "roof_fraction is roof / measured: at most 1, and 1 is as fast as can be")                   \
    X(fraction_of_peak,                                                                            \
      "the fraction is of the roof that limits the work, not always of the peak FLOP/s")           \
    X(frozen_skipped, "a frozen parameter is not trained, but it is a parameter: it counts")       \
    X(gflop_for_flop, "1 GFLOP is 1e9 FLOP: bring both sides of a quotient to the same unit")      \
    X(groups_ignored,                                                                              \
      "with groups, an output channel sees in_channels / groups input channels only")              \
    X(input_channels_forgotten, "each tap of a kernel reads every input channel (of its group)")   \
    X(integer_division, "7 / 2 is 3 between integers: convert to double before you divide")        \
    X(integer_overflow, "that does not fit 32 bits: use int64_t from the first product on")        \
    X(intensity_inverted, "intensity is FLOPs per byte, not bytes per FLOP")                       \
    X(kernel_not_squared, "a k x k kernel has k * k taps: kernel_h * kernel_w")                    \
    X(known_layers_only,                                                                           \
      "parameters are listed in every layer; do not ask which kind of layer it is")                \
    X(mac_vs_flop, "a multiply-add is two FLOPs, a multiplication and an addition, and one MAC")   \
    X(milliseconds_for_seconds,                                                                    \
      "times are in seconds here; convert where you print, not where you compute")                 \
    X(nested_ignored, "a child may have children of its own, to any depth: recurse")               \
    X(on_the_ridge, "exactly on the ridge is compute-bound: >=, not >")                            \
    X(output_channels_forgotten, "the kernel is applied once for every output channel")            \
    X(output_in_over_stride,                                                                       \
      "the kernel has to fit: (h + padding - k) / stride + 1 windows, not h / stride")             \
    X(padding_ignored, "padding makes the input larger before the kernel slides over it")          \
    X(padding_on_one_side, "padding is put on both sides: padding_top and padding_bottom")         \
    X(percent_for_fraction,                                                                        \
      "a fraction is between 0 and 1; percent is for the reader of a report")                      \
    X(plus_one_forgotten, "the first window counts, too: (h + padding - k) / stride, plus 1")      \
    X(read_written_swapped, "a layer reads its input and parameters, and writes its output")       \
    X(ridge_inverted, "the ridge is peak FLOP/s over bytes/s: FLOP per byte, as intensity is")     \
    X(roof_added,                                                                                  \
      "arithmetic and traffic go on at the same time: the longer of both, not their sum")          \
    X(roof_lower, "the roof time is the longer of the two times: the slower one is the limit")     \
    X(rows_ignored,                                                                                \
      "every row of a sample is multiplied: (7, 5, 4) is 5 rows for each of 7 samples")            \
    X(seconds_for_milliseconds, "asked are milliseconds: a thousand to the second")                \
    X(shape_not_propagated, "each layer gets what the one before it gave, not the model's input")  \
    X(shape_unchecked,                                                                             \
      "an input that does not fit is STATUS_SHAPE; a count of it would mean nothing")              \
    X(stride_ignored, "with stride s the kernel takes every s-th place: divide by it")             \
    X(sum_overwritten, "that is the last part only: add it to the total with +=")                  \
    X(tensors_counted, "a tensor is many numbers: count its elements, numel")                      \
    X(tied_counted_twice, "a tensor that two layers share is one tensor: it counts once")          \
    X(tied_read_once, "a shared weight is stored once, but each layer that uses it reads it")      \
    X(unknown_is_zero,                                                                             \
      "unknown is not zero: a layer that you have no rule for is STATUS_UNKNOWN_OP")               \
    X(unmeasured_divided, "without a measured time there is no fraction: NaN")                     \
    X(unmeasured_is_zero, "0 would say infinitely slow; what was not measured is NaN")             \
    X(views_counted, "a view moves and computes nothing: the same numbers, seen in another shape") \
    X(weights_forgotten, "a layer reads its parameters, too, not only its input")                  \
    X(weights_per_sample, "the weights are read once for the whole batch, however large it is")

#endif
