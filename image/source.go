package image

import (
	"io"

	"github.com/sosgo/sosgo/internal/mmapfile"
	"github.com/sosgo/sosgo/target"
)

// openSource maps the file at path, so that only the pages that are looked at are read.
func openSource(path string) (target.Source, io.Closer, error) {
	f, err := mmapfile.Open(path, false)
	if err != nil {
		return nil, nil, err
	}
	return f, f, nil
}
