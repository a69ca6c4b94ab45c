// Package web reports the web requests that a process works on. These are the requests that ASP.NET Core's servers received, with the
// threads and async stacks that handle them, and those sent by HttpClient, with the connection pools.
//
//	r := web.New(binder, collections, tasks)
//	out, err := web.Requests(ctx, p, web.RequestOptions{})
//
// It reads fields by name (package shapes). Differences between versions are noted at the shapes.
// Secret headers are masked unless they are requested.
//
// Stability: unstable.
package web
