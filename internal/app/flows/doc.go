// Package flows finds the code that refers to an object: through the values that flow with a thread or a suspended
// async method (the AsyncLocals of its ExecutionContext), and through the variables of async methods. It also describes
// the activity of threads.
//
// The package does not interpret the objects. Its callers, such as package web, select objects and get the stacks and
// threads. Start with Flows (questions.go) and Reader (flows.go).
package flows
