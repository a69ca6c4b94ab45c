// Package sqlpools says who has the connections to databases: the pools of SqlClient (Microsoft.Data and System.Data) and of
// Npgsql, how many connections of each are idle, what runs on the others, and how many calls wait for one.
//
//	r := sqlpools.New(binder, collections)
//	out, err := r.Pools(ctx, heap, sqlpools.Options{})
//
// All is read by the names of fields (package shapes). What is a secret in connection strings is masked unless it is asked for.
package sqlpools
