/* Makes calls of the system fail, wait or be the last of their process: preloaded into a process under test.

   What is to happen is in a small file that all processes of a test map (FAULTS_CONTROL), and that the test changes
   while they run; faults.py has the same layout. Only calls on files below its folder and, where asked for, on
   sockets count. What was written to a file and not yet synchronised is remembered, so that a power cut can take it
   back. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { WRITE = 1, SYNC = 2, RENAME = 4, TRUNCATE = 8, SEND = 16, RECEIVE = 32 };
enum { NOTHING, FAIL, DIE, POWER_CUT, WAIT, SKEW };

struct control {
  _Atomic int calls;        /* which calls count, as a sum of those above */
  _Atomic int action;
  _Atomic int error;        /* errno of FAIL */
  _Atomic int pid;          /* of the one process that it is for; 0: all */
  _Atomic long counted;     /* calls so far */
  _Atomic long first;       /* the call, counted from 0, at which the action begins */
  _Atomic long last;        /* and the one that it ends before */
  _Atomic long wait;        /* microseconds of WAIT */
  _Atomic long clock;       /* milliseconds that clocks are ahead */
  _Atomic long happened;    /* how many calls met the action */
  _Atomic int remember;     /* whether writes are remembered, for a power cut */
  char folder[512];
};

static struct control *control;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct undone { /* one step back */
  struct undone *before;
  dev_t device;
  ino_t inode;
  int handle;      /* of the file, or -1 for a new name in a folder */
  off_t offset, size;
  size_t length;
  char *bytes;     /* what was there */
  char from[1024], to[1024];
};
static struct undone *newest;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void open_control(void) {
  const char *path = getenv("FAULTS_CONTROL");
  if (!path) return;
  int handle = open(path, O_RDWR | O_CLOEXEC);
  if (handle < 0) return;
  void *mapped = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, handle, 0);
  close(handle);
  if (mapped != MAP_FAILED) control = mapped;
}

static int is_ours(const char *path) { return strncmp(path, control->folder, strlen(control->folder)) == 0; }

static int is_file_of_ours(int handle) {
  char link[64], path[1024];
  snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return is_ours(path);
}

static void cut_power(void) {
  pthread_mutex_lock(&lock); /* for good */
  for (struct undone *step = newest; step; step = step->before) {
    if (step->handle < 0) {
      if (step->from[0]) REAL(rename)(step->to, step->from);
      else unlink(step->to); /* a link */
      continue;
    }
    if (step->length) REAL(pwrite64)(step->handle, step->bytes, step->length, step->offset);
    REAL(ftruncate64)(step->handle, step->size);
  }
  kill(getpid(), SIGKILL);
}

/* Whether the call is to fail; errno is set then. */
static int meets(int call) {
  if (!(control->calls & call) || (control->pid && control->pid != getpid())) return 0;
  long number = atomic_fetch_add(&control->counted, 1);
  if (number < control->first || number >= control->last) return 0;
  int action = control->action;
  if (action == NOTHING) return 0;
  atomic_fetch_add(&control->happened, 1);
  if (action == WAIT) {
    usleep(control->wait);
    return 0;
  }
  if (action == DIE) kill(getpid(), SIGKILL);
  if (action == POWER_CUT) cut_power();
  errno = control->error;
  return 1;
}

static int wanted(int handle, int call) {
  return control && (control->calls & call || control->remember) && is_file_of_ours(handle);
}

static void remember(int handle, off_t offset, size_t length) {
  if (!control->remember) return;
  struct stat now;
  if (fstat(handle, &now)) return;
  struct undone *step = calloc(1, sizeof *step);
  step->device = now.st_dev, step->inode = now.st_ino, step->size = now.st_size;
  step->offset = offset;
  /* Files may be closed before the power goes; append-only handles would not write where they are told. */
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
  step->handle = open(link, O_RDWR | O_CLOEXEC);
  if (step->handle < 0) {
    free(step);
    return;
  }
  if (offset < now.st_size) {
    step->length = (size_t)(now.st_size - offset) < length ? (size_t)(now.st_size - offset) : length;
    step->bytes = malloc(step->length);
    if (pread(step->handle, step->bytes, step->length, offset) != (ssize_t)step->length) step->length = 0;
  }
  pthread_mutex_lock(&lock);
  step->before = newest, newest = step;
  pthread_mutex_unlock(&lock);
}

static void forget(int handle) {
  if (!control->remember) return;
  struct stat now;
  if (fstat(handle, &now)) return;
  char folder[1024] = "";
  if (S_ISDIR(now.st_mode)) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    ssize_t length = readlink(link, folder, sizeof folder - 2);
    if (length > 0) folder[length] = '/', folder[length + 1] = 0;
  }
  pthread_mutex_lock(&lock);
  for (struct undone **at = &newest; *at;) {
    struct undone *step = *at;
    int in_folder = folder[0] && step->handle < 0 && strncmp(step->to, folder, strlen(folder)) == 0 &&
                    !strchr(step->to + strlen(folder), '/');
    if (in_folder || (step->handle >= 0 && step->device == now.st_dev && step->inode == now.st_ino)) {
      *at = step->before;
      if (step->handle >= 0) close(step->handle);
      free(step->bytes);
      free(step);
    } else {
      at = &step->before;
    }
  }
  pthread_mutex_unlock(&lock);
}

ssize_t pwrite64(int handle, const void *bytes, size_t length, off64_t offset) {
  if (wanted(handle, WRITE)) {
    if (meets(WRITE)) {
      /* A disk that fills up takes the first part. */
      if (errno == ENOSPC && length > 1) REAL(pwrite64)(handle, bytes, length / 2, offset), errno = ENOSPC;
      return -1;
    }
    remember(handle, offset, length);
  }
  return REAL(pwrite64)(handle, bytes, length, offset);
}

ssize_t pwrite(int handle, const void *bytes, size_t length, off_t offset) {
  return pwrite64(handle, bytes, length, offset);
}

ssize_t write(int handle, const void *bytes, size_t length) {
  if (wanted(handle, WRITE)) {
    if (meets(WRITE)) return -1;
    remember(handle, lseek(handle, 0, SEEK_CUR), length);
  }
  return REAL(write)(handle, bytes, length);
}

static int cut(int handle, off64_t size, int (*real)(int, off64_t)) {
  if (wanted(handle, TRUNCATE)) {
    if (meets(TRUNCATE)) return -1;
    struct stat now;
    if (control->remember && !fstat(handle, &now) && now.st_size > size)
      remember(handle, size, now.st_size - size);
  }
  return real(handle, size);
}
int ftruncate64(int handle, off64_t size) { return cut(handle, size, REAL(ftruncate64)); }
int ftruncate(int handle, off_t size) { return cut(handle, size, REAL(ftruncate64)); }

static int synchronise(int handle, int (*real)(int)) {
  if (wanted(handle, SYNC)) {
    if (meets(SYNC)) return -1;
    forget(handle);
  }
  return real(handle);
}
int fsync(int handle) { return synchronise(handle, REAL(fsync)); }
int fdatasync(int handle) { return synchronise(handle, REAL(fdatasync)); }

static void remember_name(const char *from, const char *to) {
  struct undone *step = calloc(1, sizeof *step);
  step->handle = -1;
  snprintf(step->from, sizeof step->from, "%s", from);
  snprintf(step->to, sizeof step->to, "%s", to);
  pthread_mutex_lock(&lock);
  step->before = newest, newest = step;
  pthread_mutex_unlock(&lock);
}

int rename(const char *from, const char *to) {
  if (!control || !is_ours(to)) return REAL(rename)(from, to);
  if (meets(RENAME)) return -1;
  int replaces = access(to, F_OK) == 0, done = REAL(rename)(from, to);
  if (!done && control->remember && !replaces) remember_name(from, to);
  return done;
}

int link(const char *from, const char *to) {
  if (!control || !is_ours(to)) return REAL(link)(from, to);
  if (meets(RENAME)) return -1;
  int done = REAL(link)(from, to);
  if (!done && control->remember) remember_name("", to);
  return done;
}

/* A connection that broke, for both sides. */
static ssize_t cut_off(int handle) {
  shutdown(handle, SHUT_RDWR);
  errno = control->error;
  return -1;
}

ssize_t send(int handle, const void *bytes, size_t length, int flags) {
  if (control && meets(SEND)) return cut_off(handle);
  return REAL(send)(handle, bytes, length, flags);
}

ssize_t recv(int handle, void *bytes, size_t length, int flags) {
  if (control && !(flags & MSG_PEEK) && meets(RECEIVE)) return cut_off(handle);
  return REAL(recv)(handle, bytes, length, flags);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  int done = REAL(clock_gettime)(clock, time);
  if (!done && control && control->clock && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    time->tv_sec += control->clock / 1000;
    time->tv_nsec += (control->clock % 1000) * 1000000;
    if (time->tv_nsec >= 1000000000) time->tv_nsec -= 1000000000, time->tv_sec++;
    if (time->tv_nsec < 0) time->tv_nsec += 1000000000, time->tv_sec--;
  }
  return done;
}
