// The emulator behind xrt_emulator.h.
#include "xrt_emulator.h"

#include "xrt_emu_host.h"
