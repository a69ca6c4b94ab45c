//go:build !unix

package main

import "time"

var started = time.Now()

// processorTime returns the time since the start, because there is no portable way to get the CPU
// time.
func processorTime() time.Duration { return time.Since(started) }
