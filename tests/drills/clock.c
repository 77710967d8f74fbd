/* A clock that a drill turns: preloaded into a program that asks libc for the time and waits by it, in epoll or
 * on a futex.
 *
 * The file that DRILL_CLOCK names is four numbers, shared with the drill: how much faster time passes,
 * since when by either clock, and what the time of day is wrong by. A jump is the time of day's alone, as
 * it is on a machine whose clock is set; the speed is everybody's, and waits are as much shorter.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct turned {
    int64_t speed, real, steady;
    volatile int64_t jump;
};

static const int64_t SECOND = 1000000000;
static const struct turned *turned;
static int (*clock_of_libc)(clockid_t, struct timespec *);
static int (*wait_of_libc)(int, struct epoll_event *, int, int);
static long (*call_of_libc)(long, ...);

__attribute__((constructor)) static void begin(void) {
    clock_of_libc = dlsym(RTLD_NEXT, "clock_gettime");
    wait_of_libc = dlsym(RTLD_NEXT, "epoll_wait");
    call_of_libc = dlsym(RTLD_NEXT, "syscall");
    const char *name = getenv("DRILL_CLOCK");
    int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *page = mmap(NULL, sizeof *turned, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (page != MAP_FAILED)
        turned = page;
}

int clock_gettime(clockid_t which, struct timespec *time) {
    if (!clock_of_libc)
        clock_of_libc = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = clock_of_libc(which, time);
    int of_day = which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE;
    int steady = which == CLOCK_MONOTONIC || which == CLOCK_MONOTONIC_COARSE || which == CLOCK_BOOTTIME;
    if (failed || !turned || !(of_day || steady))
        return failed;
    int64_t since = of_day ? turned->real : turned->steady;
    int64_t now = time->tv_sec * SECOND + time->tv_nsec;
    now = since + (now - since) * turned->speed + (of_day ? turned->jump : 0);
    time->tv_sec = now / SECOND;
    time->tv_nsec = now % SECOND;
    return 0;
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout) {
    if (turned && timeout > 0)
        timeout = (timeout + turned->speed - 1) / turned->speed;
    return wait_of_libc(epoll, events, most, timeout);
}

/* Rust's standard library waits on a futex until a time of the steady clock, and others for so long. */
long syscall(long number, ...) {
    va_list list;
    long of[6];
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        of[i] = va_arg(list, long);
    va_end(list);
    if (!call_of_libc)
        call_of_libc = dlsym(RTLD_NEXT, "syscall");
    struct timespec until;
    int what = (int)of[1] & FUTEX_CMD_MASK;
    int waits = what == FUTEX_WAIT || (what == FUTEX_WAIT_BITSET && !((int)of[1] & FUTEX_CLOCK_REALTIME));
    if (turned && number == SYS_futex && waits && of[3]) {
        const struct timespec *wanted = (const struct timespec *)of[3];
        int64_t time = wanted->tv_sec * SECOND + wanted->tv_nsec;
        int64_t since = what == FUTEX_WAIT ? 0 : turned->steady;
        time = since + (time - since + turned->speed - 1) / turned->speed;
        until.tv_sec = time / SECOND;
        until.tv_nsec = time % SECOND;
        of[3] = (long)&until;
    }
    return call_of_libc(number, of[0], of[1], of[2], of[3], of[4], of[5]);
}
