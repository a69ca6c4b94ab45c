// Package sqlpools reads the database connection pools of SqlClient (Microsoft.Data and System.Data), Npgsql and
// Microsoft.Data.Sqlite. It reports idle connections, the commands and holders of the others, waiting calls, and failed
// commands. It does not cover HTTP connections; see package web.
// Start with SQLPools (questions.go).
//
//	r := sqlpools.New(binder, collections)
//	out, err := r.Pools(ctx, heap, sqlpools.Options{})
//
// It reads fields by name (objects.Binder). Secrets in connection strings are masked unless they are requested.
package sqlpools
