/* icuuc.dll: Windows 10's ICU, which Wine 8 lacks and Qt6Core links to.
 *
 * Opening a converter fails as it does for an unknown encoding, which Qt takes for "no such codec".
 */
#define EXPORT __declspec(dllexport)
#define U_FILE_ACCESS_ERROR 4

typedef void *pointer;

static void fail(pointer error)
{
    if (error)
        *(int *)error = U_FILE_ACCESS_ERROR;
}

EXPORT pointer ucnv_open(pointer name, pointer error) { fail(error); return 0; }
EXPORT void ucnv_close(pointer converter) {}
EXPORT void ucnv_reset(pointer converter) {}
EXPORT signed char ucnv_getMaxCharSize(pointer converter) { return 1; }
EXPORT pointer ucnv_getName(pointer converter, pointer error) { fail(error); return 0; }
EXPORT pointer ucnv_getStandardName(pointer name, pointer standard, pointer error) { fail(error); return 0; }
EXPORT pointer ucnv_getAvailableName(int index) { return 0; }
EXPORT int ucnv_countAvailable(void) { return 0; }
EXPORT void UCNV_FROM_U_CALLBACK_SUBSTITUTE(void) {}
EXPORT void UCNV_TO_U_CALLBACK_SUBSTITUTE(void) {}
EXPORT void ucnv_cbToUWriteUChars(pointer a, pointer s, int length, int offset, pointer error) { fail(error); }
EXPORT void ucnv_cbFromUWriteUChars(pointer a, pointer s, pointer limit, int offset, pointer error) { fail(error); }
EXPORT int ucnv_toUCountPending(pointer converter, pointer error) { fail(error); return 0; }
EXPORT int ucnv_fromUCountPending(pointer converter, pointer error) { fail(error); return 0; }
EXPORT void ucnv_getToUCallBack(pointer converter, pointer *action, pointer *context)
{
    if (action)
        *action = 0;
    if (context)
        *context = 0;
}
EXPORT void ucnv_getFromUCallBack(pointer converter, pointer *action, pointer *context)
{
    ucnv_getToUCallBack(converter, action, context);
}
EXPORT void ucnv_setToUCallBack(pointer c, pointer a, pointer b, pointer d, pointer f, pointer error) { fail(error); }
EXPORT void ucnv_setFromUCallBack(pointer c, pointer a, pointer b, pointer d, pointer f, pointer error) { fail(error); }
EXPORT void ucnv_toUnicode(pointer c, pointer t, pointer tl, pointer s, pointer sl, pointer o, signed char f, pointer error)
{
    fail(error);
}
EXPORT void ucnv_fromUnicode(pointer c, pointer t, pointer tl, pointer s, pointer sl, pointer o, signed char f, pointer error)
{
    fail(error);
}
int DllMainCRTStartup(pointer instance, unsigned reason, pointer reserved) { return 1; }
