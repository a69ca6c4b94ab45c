// Package web reports the web requests of a process: the requests that ASP.NET Core's servers received, with the
// threads and async stacks that handle them, and the requests that HttpClient sent, with the connection pools. It also
// reports sessions, WebSockets, and the connections of gRPC, SignalR and Redis. Package sqlpools covers databases.
// Start with Requests (questions.go).
//
//	r := web.New(binder, collections, tasks)
//	out, err := web.Requests(ctx, p, web.RequestOptions{})
//
// It reads fields by name (objects.Binder). Secret headers are masked unless they are requested.
package web
