// Package threadpool says what the thread pool of a process does: how many workers it has and wants, what is queued and
// where, which timers are scheduled, and whether the pool keeps up. Everything is read from the class library's own objects
// by the names of their fields (package shapes); before .NET 6 the workers are the runtime's (dac.Runtime.NativePool).
package threadpool
