package dac

// PerRuntime returns a function that returns the T of a runtime. The first call for a runtime makes it, and it lives as
// long as the runtime. Packages that build on this one keep shared state in it. If two calls make a T at the same time,
// one is dropped, so that make must only allocate:
//
// var readers = dac.PerRuntime(newReader)
func PerRuntime[T any](make func(*Runtime) *T) func(*Runtime) *T {
	key := new(perRuntime)
	return func(r *Runtime) *T {
		r = OrNone(r)
		if v, ok := r.above.Load(key); ok {
			return v.(*T)
		}
		v, _ := r.above.LoadOrStore(key, make(r))
		return v.(*T)
	}
}

// A perRuntime is the identity of one call of PerRuntime.
type perRuntime struct{ _ byte }
