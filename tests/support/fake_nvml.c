/* A stand-in for the library of NVIDIA's driver. Environment variables say what it answers:
   NVML_FAKE_CODE (an error of the start), NVML_FAKE_SLEEP (seconds to wait first), NVML_FAKE_CUDA (such as 12080),
   NVML_FAKE_CARDS (a line each: name;bytes in all;bytes free;major;minor),
   NVML_FAKE_USE (a line for each card: percent busy;MHz;most MHz;reasons for a low clock),
   NVML_FAKE_PROGRAMS (a line each: number of the card;pid;bytes, -1 for unknown;percent busy;G or C;path).
   Without the last two, it knows nothing of how cards are used, as an old driver. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct { unsigned long long total, free, used; } Memory;
typedef struct { char name[96]; unsigned long long total, free; int major, minor; } Card;

static Card cards[8];
static unsigned int count;

int nvmlInit_v2(void) {
    const char *code = getenv("NVML_FAKE_CODE"), *wait = getenv("NVML_FAKE_SLEEP"), *text = getenv("NVML_FAKE_CARDS");
    if (wait) sleep((unsigned int)atoi(wait));
    if (code) return atoi(code);
    for (count = 0; text && *text && count < 8; count++) {
        Card *card = &cards[count];
        if (sscanf(text, "%95[^;];%llu;%llu;%d;%d", card->name, &card->total, &card->free, &card->major, &card->minor) != 5)
            return 999;
        text = strchr(text, '\n');
        if (text) text++;
    }
    return 0;
}

int nvmlSystemGetDriverVersion(char *text, unsigned int size) {
    const char *version = getenv("NVML_FAKE_DRIVER");
    snprintf(text, size, "%s", version ? version : "580.95.05");
    return 0;
}

int nvmlSystemGetCudaDriverVersion_v2(int *version) {
    const char *cuda = getenv("NVML_FAKE_CUDA");
    *version = cuda ? atoi(cuda) : 13000;
    return 0;
}

int nvmlDeviceGetCount_v2(unsigned int *number) { *number = count; return 0; }

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device) {
    if (index >= count) return 2;
    *device = &cards[index];
    return 0;
}

int nvmlDeviceGetName(void *device, char *text, unsigned int size) {
    snprintf(text, size, "%s", ((Card *)device)->name);
    return 0;
}

int nvmlDeviceGetMemoryInfo(void *device, Memory *memory) {
    Card *card = device;
    memory->total = card->total;
    memory->free = card->free;
    memory->used = card->total - card->free;
    return 0;
}

int nvmlDeviceGetUUID(void *device, char *text, unsigned int size) {
    snprintf(text, size, "GPU-%d", (int)((Card *)device - cards));
    return 0;
}

int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor) {
    *major = ((Card *)device)->major;
    *minor = ((Card *)device)->minor;
    return 0;
}

#define NOT_SUPPORTED 3
#define LINES(text) for (; text && *text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : 0)

typedef struct { unsigned int pid; unsigned long long memory; unsigned int instances[2]; } Running;
typedef struct { unsigned int pid; unsigned long long time; unsigned int shares[4]; } Sample;
typedef struct { unsigned int busy, clock, fastest; unsigned long long reasons; } Use;
typedef struct { int card; unsigned int pid, busy; long long memory; char kind; char path[512]; } Program;

static int use(void *device, Use *found) {
    const char *text = getenv("NVML_FAKE_USE");
    int index = (int)((Card *)device - cards);
    LINES(text) {
        if (index-- == 0)
            return sscanf(text, "%u;%u;%u;%llu", &found->busy, &found->clock, &found->fastest, &found->reasons) == 4
                ? 0 : 999;
    }
    return NOT_SUPPORTED;
}

static int program(const char *text, Program *found) {
    return sscanf(text, "%d;%u;%lld;%u;%c;%511[^\n]", &found->card, &found->pid, &found->memory, &found->busy,
        &found->kind, found->path) == 6;
}

static int running(void *device, unsigned int *number, Running *list, char kind) {
    const char *text = getenv("NVML_FAKE_PROGRAMS");
    unsigned int most = *number;
    Program one;
    if (!text) return NOT_SUPPORTED;
    *number = 0;
    LINES(text) {
        if (!program(text, &one) || one.card != (int)((Card *)device - cards) || one.kind != kind) continue;
        if (*number >= most) return 7;
        list[*number].pid = one.pid;
        list[(*number)++].memory = (unsigned long long)one.memory;
    }
    return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned int *number, Running *list) {
    return running(device, number, list, 'C');
}

int nvmlDeviceGetGraphicsRunningProcesses_v3(void *device, unsigned int *number, Running *list) {
    return running(device, number, list, 'G');
}

int nvmlDeviceGetProcessUtilization(void *device, Sample *list, unsigned int *number, unsigned long long since) {
    const char *text = getenv("NVML_FAKE_PROGRAMS");
    unsigned int most = *number;
    Program one;
    if (!text) return NOT_SUPPORTED;
    *number = 0;
    LINES(text) {
        if (!program(text, &one) || one.card != (int)((Card *)device - cards) || !one.busy || *number + 2 > most) continue;
        for (int older = 1; older >= 0; older--, (*number)++) {
            list[*number].pid = one.pid;
            list[*number].shares[0] = older ? one.busy / 2 : one.busy;
        }
    }
    return *number ? 0 : 6;
}

int nvmlSystemGetProcessName(unsigned int pid, char *name, unsigned int size) {
    const char *text = getenv("NVML_FAKE_PROGRAMS");
    Program one;
    LINES(text) {
        if (program(text, &one) && one.pid == pid && strcmp(one.path, "-")) {
            snprintf(name, size, "%s", one.path);
            return 0;
        }
    }
    return 6;
}

int nvmlDeviceGetUtilizationRates(void *device, unsigned int *shares) {
    Use found;
    int code = use(device, &found);
    if (!code) shares[0] = found.busy;
    return code;
}

int nvmlDeviceGetClockInfo(void *device, int type, unsigned int *clock) {
    Use found;
    int code = type == 1 ? use(device, &found) : 2;
    if (!code) *clock = found.clock;
    return code;
}

int nvmlDeviceGetMaxClockInfo(void *device, int type, unsigned int *clock) {
    Use found;
    int code = type == 1 ? use(device, &found) : 2;
    if (!code) *clock = found.fastest;
    return code;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons) {
    Use found;
    int code = use(device, &found);
    if (!code) *reasons = found.reasons;
    return code;
}
