//go:build !unix

package mmapfile

// These systems have no named pipes and devices in folders.
const openFlags = 0
