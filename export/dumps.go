package export

import (
	"context"
	"io"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/export/scrub"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

// ScrubOptions select what is replaced.
type ScrubOptions struct {
	Numbers  bool                     // also numbers, dates and ids of the program's own types
	Compress bool                     // with zstd, in frames that can be read one by one
	Progress func(done, total uint64) // if not nil, receives the bytes that are written
}

// Scrub writes a dump without the data of its process. Objects, types, stacks, locks and tasks stay where they were, so
// that questions about them have the same answers; texts, arrays and what else is no structure are replaced
// (docs/scrub.md).
func Scrub(ctx context.Context, w io.Writer, d *process.Dump, o ScrubOptions) (*answer.Scrubbed, error) {
	if d == nil {
		return nil, errNoDump
	}
	return scrub.Write(ctx, d, w, scrub.Options(o))
}

// ShrinkOptions select the form of a small dump.
type ShrinkOptions struct {
	Compress bool                     // with zstd, in frames that can be read one by one
	Progress func(done, total uint64) // if not nil, receives the bytes that are written
}

// Shrink writes a dump without what no question about crashes, hangs and leaks reads. A mark stands in its place, and
// reads of it fail with target.ErrLeftOut (docs/shrink.md). The dump has secrets as before.
func Shrink(ctx context.Context, w io.Writer, d *process.Dump, o ShrinkOptions) (*answer.Shrunk, error) {
	if d == nil {
		return nil, errNoDump
	}
	return scrub.Shrink(ctx, d, w, scrub.Options{Compress: o.Compress, Progress: o.Progress})
}

var errNoDump = target.Argumentf("no dump was given")
