// Package web says which requests a process works on: those that came in over the web servers of ASP.NET Core, with the threads
// and async stacks that work on them, and those that it sent by HttpClient, with the pools of connections.
//
//	r := web.New(binder, collections, tasks)
//	out, err := r.Requests(ctx, web.Process{Heap: heap, Threads: threads, Walk: view.Walk}, web.RequestOptions{})
//
// All is read by the names of fields (package shapes). What goes on behind the same names in other versions is said where the
// shapes are declared. Headers that are secrets are masked unless they are asked for.
package web
