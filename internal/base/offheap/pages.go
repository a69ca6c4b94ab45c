//go:build linux || darwin || windows

package offheap

import "os"

// pages rounds a number of bytes up to whole pages.
func pages(bytes int) int {
	page := os.Getpagesize()
	return (bytes + page - 1) &^ (page - 1)
}
