package dac

// PerRuntime returns a function that gives the T of a runtime. It is made at the
// first call for that runtime and lives as long: a package that builds on this
// one keeps there what all its users share. Of two T that are made at the same
// time one is dropped, so that make must only allocate.
//
//	var readers = dac.PerRuntime(newReader)
func PerRuntime[T any](make func(*Runtime) *T) func(*Runtime) *T {
	key := new(perRuntime)
	return func(r *Runtime) *T {
		if v, ok := r.above.Load(key); ok {
			return v.(*T)
		}
		v, _ := r.above.LoadOrStore(key, make(r))
		return v.(*T)
	}
}

// A perRuntime is the identity of one call of PerRuntime.
type perRuntime struct{ _ byte }
