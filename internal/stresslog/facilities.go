package stresslog

import "math/bits"

// facilities are the names of the bits of a message's facility (loglf.h).
var facilities = [...]string{"GC", "GCINFO", "STUBS", "JIT", "LOADER", "METADATA", "SYNC", "EEMEM", "GCALLOC", "CORDB", "CLASSLOADER", "CORPROF",
	"DIAGNOSTICS_PORT", "DBGALLOC", "EH", "ENC", "ASSERT", "VERIFIER", "THREADPOOL", "GCROOTS", "INTEROP", "MARSHALER", "TIEREDCOMPILATION", "ZAP",
	"STARTUP", "APPDOMAIN", "CODESHARING", "STORE", "SECURITY", "LOCKS", "BCL", "ALWAYS"}

// Facilities returns the names of the facilities in a mask, or ALL for the mask of all.
func Facilities(mask uint32) []string {
	if mask == 1<<32-1 {
		return []string{"ALL"}
	}
	out := make([]string, 0, bits.OnesCount32(mask))
	for i, name := range facilities {
		if mask>>i&1 != 0 {
			out = append(out, name)
		}
	}
	return out
}
