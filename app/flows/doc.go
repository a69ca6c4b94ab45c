// Package flows tells which code has something in hand: the values that flow with a thread or with a suspended async method (the
// AsyncLocals of its ExecutionContext), the objects that variables of async methods refer to, and what a thread that was found does.
//
// It knows nothing of what these things are: who asks says which objects mean something, and gets the stacks and threads.
package flows
