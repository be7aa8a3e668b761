// Functions of the C library that give the kernel an address, in a page that another process has just written.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/un.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

static struct {
    _Alignas(4096) int writes;
    char path[200];
    union {
        struct timespec time, times[2];
        struct flock lock;
        struct itimerval timer;
        sigset_t signals;
        struct sockaddr_un address;
        struct epoll_event event;
        struct sysinfo system;
        struct statfs files;
        struct statx extended;
        struct stat status;
        struct rlimit limit;
        struct sched_param priority;
        cpu_set_t processors;
        stack_t stack;
        loff_t offset;
        int ends[2], number;
        unsigned char bytes[512];
    };
    socklen_t length;
} shared;

static int failures;

/// The last thread writes the page, which it also touches first: no other process has it then.
static void write_elsewhere(void) {
#pragma omp parallel
    if (omp_get_thread_num() == omp_get_num_threads() - 1) ++shared.writes;
    errno = 0;
}

static void check(const char* name, long result) {
    if (result == 0) return;
    printf("%s: %ld, %s\n", name, result, strerror(errno));
    ++failures;
}

// What a call needs, then the call itself.
#define FAILS(call, ...)                                                                                               \
    do {                                                                                                               \
        memset(shared.bytes, 0, sizeof shared.bytes);                                                                  \
        __VA_ARGS__;                                                                                                   \
        write_elsewhere();                                                                                             \
        check(#call, (call) < 0);                                                                                      \
    } while (0)

static char folder[100], file[120];

static void name_file(const char* end) { snprintf(shared.path, sizeof shared.path, "%s%s", file, end); }

static void use_times(void) {
    FAILS(nanosleep(&shared.time, NULL), shared.time.tv_nsec = 1000);
    FAILS(-clock_nanosleep(CLOCK_MONOTONIC, 0, &shared.time, NULL), shared.time.tv_nsec = 1000);
    FAILS(thrd_sleep(&shared.time, NULL), shared.time.tv_nsec = 1000);
    FAILS(setitimer(ITIMER_VIRTUAL, &shared.timer, NULL));
    FAILS(getitimer(ITIMER_VIRTUAL, &shared.timer));
    FAILS(sigprocmask(SIG_BLOCK, NULL, &shared.signals));
    FAILS(sigpending(&shared.signals));
    FAILS(sigaltstack(NULL, &shared.stack));
}

static void use_files(int opened) {
    FAILS(fcntl(opened, F_SETLK, &shared.lock), shared.lock.l_type = F_WRLCK);
    FAILS(fcntl(opened, F_GETLK, &shared.lock), shared.lock.l_type = F_WRLCK);
    name_file(".queue");
    FAILS(mkfifo(shared.path, 0600));
    FAILS(unlinkat(AT_FDCWD, shared.path, 0));
    name_file(".folder");
    FAILS(mkdirat(AT_FDCWD, shared.path, 0700));
    FAILS(unlinkat(AT_FDCWD, shared.path, AT_REMOVEDIR));
    name_file("");
    FAILS(chown(shared.path, (uid_t)-1, (gid_t)-1));
    FAILS(fchmodat(AT_FDCWD, shared.path, 0600, 0));
    FAILS(utime(shared.path, NULL));
    FAILS(utimes(shared.path, NULL));
    FAILS(utimensat(AT_FDCWD, shared.path, shared.times, 0));
    FAILS(futimens(opened, shared.times));
    FAILS(fstatat(AT_FDCWD, shared.path, &shared.status, 0));
    FAILS(statx(AT_FDCWD, shared.path, 0, STATX_ALL, &shared.extended));
    FAILS(statfs(shared.path, &shared.files));
    FAILS(fstatfs(opened, &shared.files));
    FAILS(euidaccess(shared.path, R_OK));
    FAILS(faccessat(AT_FDCWD, shared.path, R_OK, 0));
    FAILS(renameat(AT_FDCWD, shared.path, AT_FDCWD, shared.path));
    FAILS(ftok(shared.path, 1));
    FAILS(truncate64(shared.path, 3));
    FAILS(copy_file_range(opened, &shared.offset, opened, NULL, 0, 0));
    strcpy(shared.path, "/proc/self/exe");
    FAILS(readlinkat(AT_FDCWD, shared.path, (char*)shared.bytes, 500));
}

static void name_address(void) {
    shared.address.sun_family = AF_UNIX;
    snprintf(shared.address.sun_path, sizeof shared.address.sun_path, "%s/socket", folder);
}

static void use_sockets(void) {
    FAILS(socketpair(AF_UNIX, SOCK_STREAM, 0, shared.ends));
    const int server = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
    FAILS(bind(server, (struct sockaddr*)&shared.address, sizeof shared.address), name_address());
    check("listen", listen(server, 1));
    FAILS(connect(client, (struct sockaddr*)&shared.address, sizeof shared.address), name_address());
    int accepted = -1;
    FAILS(accepted = accept(server, (struct sockaddr*)&shared.address, &shared.length),
          shared.length = sizeof shared.address);
    FAILS(getsockname(server, (struct sockaddr*)&shared.address, &shared.length),
          shared.length = sizeof shared.address);
    FAILS(setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &shared.number, sizeof shared.number));
    FAILS(getsockopt(server, SOL_SOCKET, SO_TYPE, &shared.number, &shared.length), shared.length = sizeof(int));
    check("write", write(client, "some", 4) != 4);
    FAILS(recvfrom(accepted, shared.bytes, 4, 0, NULL, NULL));
}

static void use_system(void) {
    int pipe_ends[2];
    FAILS(pipe2(shared.ends, O_CLOEXEC), (void)0);
    check("pipe", pipe(pipe_ends));
    const int set = epoll_create1(0);
    FAILS(epoll_ctl(set, EPOLL_CTL_ADD, pipe_ends[0], &shared.event), shared.event.events = EPOLLIN);
    FAILS(epoll_wait(set, &shared.event, 1, 0));
    FAILS(ioctl(pipe_ends[0], FIONREAD, &shared.number));
    FAILS(getrandom(shared.bytes, 100, 0));
    FAILS(getentropy(shared.bytes, 100));
    FAILS(sysinfo(&shared.system));
    FAILS(-pthread_getaffinity_np(pthread_self(), sizeof shared.processors, &shared.processors));
    FAILS(-pthread_setaffinity_np(pthread_self(), sizeof shared.processors, &shared.processors),
          sched_getaffinity(0, sizeof shared.processors, &shared.processors));
    FAILS(sched_getparam(0, &shared.priority));
    FAILS(sched_setscheduler(0, SCHED_OTHER, &shared.priority));
    FAILS(prlimit(0, RLIMIT_NOFILE, NULL, &shared.limit));
    FAILS(mincore(&shared, 4096, shared.bytes));
}

int main(void) {
    write_elsewhere();
    strcpy(folder, "/tmp/kumiki-calls-XXXXXX");
    check("mkdtemp", mkdtemp(folder) == NULL);
    snprintf(file, sizeof file, "%s/file", folder);
    const int opened = open(file, O_CREAT | O_RDWR, 0600);
    use_times();
    use_files(opened);
    use_sockets();
    use_system();
    unlink(file);
    snprintf(file, sizeof file, "%s/socket", folder);
    unlink(file);
    check("rmdir", rmdir(folder));
    printf("%d failures\n", failures);
    return 0;
}
