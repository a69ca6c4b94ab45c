package minidump

// StoredBytes returns the number of bytes of memory that the dump holds.
func StoredBytes(f *File) uint64 {
	var n uint64
	for _, r := range f.mem.Ranges() {
		n += r.Size
	}
	return n
}
