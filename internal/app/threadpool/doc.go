// Package threadpool describes a process's thread pool: its workers and their target, the queued items, the timers, and
// whether the pool keeps up. It does not list what other threads wait for; see package locks.
//
// It reads the class library's objects by field names (objects.Binder). Before .NET 6 the workers belong to the runtime
// (dac.Runtime.NativePool). Start with Pool (questions.go).
package threadpool
