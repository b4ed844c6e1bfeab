// api.h -- what makes a header public: its declarations stand between these two marks. What they
// enclose has C names in C++, and is all that the library exports; nothing else is installed.
#ifndef TENSOR_API_H
#define TENSOR_API_H

#ifdef __cplusplus
#define RIDGEPOINT_API_BEGIN                                                                       \
    extern "C" {                                                                                   \
    _Pragma("GCC visibility push(default)")
#define RIDGEPOINT_API_END                                                                         \
    _Pragma("GCC visibility pop")                                                                  \
    }
#define RIDGEPOINT_THREAD_LOCAL __thread // C++'s own asks a function, which C has not
#else
#define RIDGEPOINT_API_BEGIN _Pragma("GCC visibility push(default)")
#define RIDGEPOINT_API_END _Pragma("GCC visibility pop")
#define RIDGEPOINT_THREAD_LOCAL _Thread_local
#endif

#endif
