package commands

import (
	"fmt"

	"github.com/sosgo/sosgo/dac"
	"github.com/sosgo/sosgo/internal/cli"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/report"
	"github.com/sosgo/sosgo/target"
)

// maxSignature is how many bytes of a signature in memory are looked at: its
// length is not known.
const maxSignature = 1024

func dumpSigCommand() cli.Command {
	return signatureCommand("dumpsig", "decode the signature of a method or field", func(b []byte, names metadata.Resolver) (string, error) {
		if n, err := metadata.FieldSigSize(b); err == nil {
			sig, err := metadata.ParseFieldSig(b[:n])
			return "[FIELD] " + metadata.FormatTypeECMA(&sig, names), err
		}
		n, err := metadata.MethodSigSize(b)
		if err != nil {
			return "", err
		}
		sig, err := metadata.ParseMethodSig(b[:n])
		return metadata.FormatMethodECMA("", &sig, names), err
	})
}

func dumpSigElemCommand() cli.Command {
	return signatureCommand("dumpsigelem", "decode one type of a signature", func(b []byte, names metadata.Resolver) (string, error) {
		n, err := metadata.TypeSigSize(b)
		if err != nil {
			return "", err
		}
		sig, err := metadata.ParseTypeSpec(b[:n])
		return metadata.FormatTypeECMA(&sig, names), err
	})
}

// signatureResult is the JSON result of dumpsig and dumpsigelem.
type signatureResult struct {
	Signature string `json:"signature" doc:"the signature in words"`
}

func signatureCommand(name, summary string, format func([]byte, metadata.Resolver) (string, error)) cli.Command {
	return cli.Command{Name: name, Group: cli.GroupTypes, Summary: summary,
		Args: []cli.Arg{{Name: "address", Kind: cli.Address, Summary: "of the signature"},
			{Name: "module", Kind: cli.Address, Optional: true, Summary: "Module whose tokens it has"}},
		Result: []report.Part{report.Whole[signatureResult]()}, NeedsDump: true,
		Run: func(c *cli.Context) error {
			rt, err := runtimeOf(c)
			if err != nil {
				return err
			}
			text, err := signatureAt(c, rt, format)
			if err != nil {
				return err
			}
			if c.JSON() != nil {
				return c.JSON().Value(signatureResult{text})
			}
			c.Printf("%s\n", report.Escape(text))
			return nil
		}}
}

// signatureAt decodes the signature at the address that the user gave.
func signatureAt(c *cli.Context, rt *dac.Runtime, format func([]byte, metadata.Resolver) (string, error)) (string, error) {
	a, _ := c.Addr("address")
	names, err := signatureNames(c, rt)
	if err != nil {
		return "", err
	}
	b := make([]byte, maxSignature)
	n, err := rt.Memory().ReadMemory(b, a)
	if n == 0 {
		return "", err
	}
	text, err := format(b[:n], names)
	if err != nil {
		return "", fmt.Errorf("signature at %016x: %w", uint64(a), err)
	}
	return text, nil
}

// signatureNames resolves tokens by the module that the user gave.
func signatureNames(c *cli.Context, rt *dac.Runtime) (metadata.Resolver, error) {
	a, ok := c.Addr("module")
	if !ok || a == 0 {
		return nil, nil
	}
	m, err := rt.Module(target.Addr(a))
	if err != nil {
		return nil, err
	}
	md, err := m.Metadata()
	if err != nil {
		return nil, err
	}
	return md.Names(), nil
}
