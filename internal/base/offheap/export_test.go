package offheap

// Spare returns the bytes of memory that b keeps for new arrays.
func Spare(b *Budget) int64 { return b.spare.bytes }
