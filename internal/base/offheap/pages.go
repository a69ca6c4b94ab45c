//go:build linux || darwin || windows

package offheap

import "os"

// pages returns as many bytes as whole pages have.
func pages(bytes int) int {
	page := os.Getpagesize()
	return (bytes + page - 1) &^ (page - 1)
}
