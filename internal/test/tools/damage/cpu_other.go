//go:build !unix

package main

import "time"

var started = time.Now()

// processorTime returns the time since the start: the system does not tell what was
// used of the processors in a way that is known here.
func processorTime() time.Duration { return time.Since(started) }
