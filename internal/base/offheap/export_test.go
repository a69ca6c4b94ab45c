package offheap

// Spare returns the bytes that b keeps for new arrays.
func Spare(b *Budget) int64 { return b.spare.bytes }
