// Package web reports the web requests that a process works on. These are the requests that ASP.NET Core's servers received, with the
// threads and async stacks that handle them, and those sent by HttpClient, with the connection pools.
//
//	r := web.New(binder, collections, tasks)
//	out, err := r.Requests(ctx, web.Process{Heap: heap, Threads: threads, Walk: view.Walk}, web.RequestOptions{})
//
// It reads fields by name (package shapes). Differences between versions are noted at the shapes.
// Secret headers are masked unless they are requested.
//
// Stability: unstable.
package web
