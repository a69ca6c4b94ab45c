// Package minidump reads Windows minidump files and presents them as a target.Target. It handles the container only:
// nothing here depends on the CLR, and nothing reads module files from disk.
//
// Opening costs one pass over the stream directory and the memory lists. The other streams are decoded on their first
// use. A stream that is corrupt does not take the dump down: what can be used is used, and File.Warnings lists the
// rest. Every count, size and RVA is checked against the bytes that are there before anything is allocated.
//
// A File is safe for concurrent use.
//
// The format is documented with MiniDumpWriteDump: minidumpapiset.h, and
// https://learn.microsoft.com/windows/win32/api/minidumpapiset/. The register contexts are those of winnt.h.
//
// Stability: stable.
package minidump
