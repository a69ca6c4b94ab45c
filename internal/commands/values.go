package commands

import (
	"errors"

	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/target"
)

// absent notes that a part of an answer could not be had and returns what
// stands in its place.
func absent(c *cli.Context, err error) string {
	c.Warn(err)
	switch {
	case errors.Is(err, target.ErrNotInDump):
		return "<not in dump>"
	case errors.Is(err, target.ErrUnsupported):
		return "<not supported>"
	}
	return "<corrupt>"
}

// textOr is s, or what stands in its place when err says why it is missing.
func textOr(c *cli.Context, s string, err error) string {
	if err != nil {
		return absent(c, err)
	}
	return s
}

func trueIndex(b bool) int {
	if b {
		return 1
	}
	return 0
}
