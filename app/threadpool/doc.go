// Package threadpool describes a process's thread pool: how many workers it has and wants, what is queued where, which timers are
// scheduled, and whether the pool keeps up. It reads the class library's objects by the names of their fields (package shapes). Before .NET
// 6 the workers belong to the runtime (dac.Runtime.NativePool).
//
// Stability: unstable.
package threadpool
