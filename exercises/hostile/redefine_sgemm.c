// hostile: forbidden, forbidden, forbidden - its own matrix product
#ifndef EXERCISE
#define EXERCISE count_flops
#endif

void cblas_sgemm(void) {}
int EXERCISE(void) { return 0; }
