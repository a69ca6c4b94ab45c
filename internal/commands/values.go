package commands

import (
	"errors"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/metadata"
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

// moduleFile and moduleLabel stand for the methods of Module.
func moduleFile(m *dac.Module) (string, error)  { return m.File() }
func moduleLabel(m *dac.Module) (string, error) { return m.Title() }

func trueIndex(b bool) int {
	if b {
		return 1
	}
	return 0
}

// yes is a truth value as SOS's managed commands print it.
func yes(b bool) string { return [2]string{"False", "True"}[trueIndex(b)] }

// orNone is s, or <none> in its place.
func orNone(s string) string {
	if s == "" {
		return "<none>"
	}
	return s
}

// guidText is a GUID as it is written.
func guidText(g [16]byte) string { return metadata.GUID(g).String() }
