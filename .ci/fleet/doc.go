// Package fleet asks DuckDB the questions of docs/fleet.md. DuckDB needs cgo: without it there are no tests.
package fleet
