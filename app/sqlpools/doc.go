// Package sqlpools reads database connection pools: those of SqlClient (Microsoft.Data and System.Data) and of Npgsql. It reports how many
// connections are idle, what runs on the others, and how many calls wait for one.
//
//	r := sqlpools.New(binder, collections)
//	out, err := r.Pools(ctx, heap, sqlpools.Options{})
//
// It reads fields by name (package shapes). Secrets in connection strings are masked unless they are requested.
//
// Stability: unstable.
package sqlpools
