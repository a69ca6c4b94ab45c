// Package minidump reads Windows minidump files and presents them as a target.Target. It handles
// only the container: it knows nothing about the CLR, and it does not read module files from disk.
// Start reading at Open and File.
//
// Open reads the stream directory and the memory lists. Other streams are decoded on first use. A
// corrupt stream does not make the dump unusable; File.Warnings reports it. Every count, size and
// RVA is checked against the file before anything is allocated. A File is safe for concurrent use.
//
// The format is documented in minidumpapiset.h
// (https://learn.microsoft.com/windows/win32/api/minidumpapiset/), the register contexts in
// winnt.h.
//
// Stability: stable.
package minidump
