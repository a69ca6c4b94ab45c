// Package graph is the graph of a heap's objects: references, roots, paths from roots, and retained sizes. It does not
// judge what it finds: see sosgo.View.Leaks. Start at [Build] and [Graph]; [Holders] answers questions about single
// objects.
//
// Nodes are numbers: first the objects by address, then the Sources (threads, frames, handles, static fields), then one
// root. Build reads the heap once. A [RootReader] finds the roots: [RootReader.All] iterates over them, Statics over static
// fields, Dependents over dependent handles. Describe describes one in words, and is slow. Everything else is computed when first needed, and cached. Queries are safe for
// concurrent use. Close frees all memory when nothing uses the graph (Graph.Use).
//
// A damaged or incomplete heap has a graph too. Stats.Warnings returns its missing parts.
//
// Stability: stable.
package graph

import "github.com/sosgo/sosgo/target"

var errClosed = target.Closedf("the graph is closed")
