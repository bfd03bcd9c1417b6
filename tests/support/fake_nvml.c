/* A stand-in for the library of NVIDIA's driver. Environment variables say what it answers:
   NVML_FAKE_CODE (an error of the start), NVML_FAKE_SLEEP (seconds to wait first), NVML_FAKE_CUDA (such as 12080),
   NVML_FAKE_CARDS (a line each: name;bytes in all;bytes free;major;minor). */
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
