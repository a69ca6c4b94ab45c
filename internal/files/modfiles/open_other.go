//go:build !unix

package modfiles

const openFlags = 0
