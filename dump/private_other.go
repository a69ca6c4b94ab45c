//go:build !unix

package dump

import "io/fs"

// isPrivate always reports false, so that nothing is cached: the owner of a file is unknown here,
// and Windows can't rename or remove an open file.
func isPrivate(fs.FileInfo) bool { return false }

func isOwn(fs.FileInfo) bool { return false }
