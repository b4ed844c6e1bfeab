// api.h -- the two marks around the declarations of a public header. Only these declarations get C
// names in C++, are exported by the library, and are installed.
#ifndef TENSOR_API_H
#define TENSOR_API_H

#ifdef __cplusplus
#define RIDGEPOINT_API_BEGIN                                                                       \
    extern "C" {                                                                                   \
    _Pragma("GCC visibility push(default)")
#define RIDGEPOINT_API_END                                                                         \
    _Pragma("GCC visibility pop")                                                                  \
    }
#define RIDGEPOINT_THREAD_LOCAL __thread // thread_local of C++ needs a function that C lacks
#else
#define RIDGEPOINT_API_BEGIN _Pragma("GCC visibility push(default)")
#define RIDGEPOINT_API_END _Pragma("GCC visibility pop")
#define RIDGEPOINT_THREAD_LOCAL _Thread_local
#endif

#endif
