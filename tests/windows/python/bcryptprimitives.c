/* bcryptprimitives.dll: Rust's standard library takes its random numbers from it, and Wine 8 lacks it. */
__declspec(dllimport) unsigned char SystemFunction036(void *buffer, unsigned long length); /* RtlGenRandom */

__declspec(dllexport) int ProcessPrng(unsigned char *buffer, unsigned long long length)
{
    return SystemFunction036(buffer, (unsigned long)length);
}

int DllMainCRTStartup(void *instance, unsigned reason, void *reserved) { return 1; }
