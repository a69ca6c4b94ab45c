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

// moduleFile is the name that SOS prints for a module: the path of its file, of
// an assembly that was loaded from bytes its own name, of a dynamic module
// nothing.
func moduleFile(m *dac.Module) (string, error) {
	path, err := m.Path()
	if err != nil || path != "" {
		return path, err
	}
	at, err := m.Image()
	if err != nil || at.Start == 0 {
		return "", err
	}
	md, err := m.Metadata()
	if err != nil {
		return "", err
	}
	row, err := md.Module(1)
	if err != nil {
		return "", err
	}
	return md.String(row.Name)
}

// moduleLabel is moduleFile, or words for a module without one.
func moduleLabel(m *dac.Module) (string, error) {
	name, err := moduleFile(m)
	if err != nil || name != "" {
		return name, err
	}
	if dynamic, err := m.IsDynamic(); err == nil && dynamic {
		return "Dynamic Module", nil
	}
	return "Unknown Module", nil
}

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
