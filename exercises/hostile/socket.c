// hostile: forbidden, forbidden, wrong - asks a server
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#ifndef EXERCISE
#define EXERCISE count_flops
#endif

int EXERCISE(void) {
    int end = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons(22)};
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(end, (struct sockaddr *)&server, sizeof server) == 0) puts("LEAKED");
    return 0;
}
