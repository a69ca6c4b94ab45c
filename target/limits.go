package target

// Limits bound what a dump can make its readers hold in memory, whatever its file claims. A zero field stands for the
// default, which is far above what processes have.
type Limits struct {
	Ranges  int64 // of memory that a container lists
	Threads int64
	Notes   int64 // of an ELF core
}

// Or returns l with the fields of defaults if it has none.
func (l Limits) Or(defaults Limits) Limits {
	for _, f := range []struct{ to, from *int64 }{{&l.Ranges, &defaults.Ranges}, {&l.Threads, &defaults.Threads}, {&l.Notes, &defaults.Notes}} {
		if *f.to <= 0 {
			*f.to = *f.from
		}
	}
	return l
}
