/* python3.dll: holds nothing of its own; its module definition forwards every name to python311.dll. */
int DllMainCRTStartup(void *instance, unsigned reason, void *reserved) { return 1; }
