package dac

import (
	"fmt"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// signatureProbe is the number of bytes of a signature to read from memory. Its length is unknown before it is
// parsed.
const signatureProbe = 1024

// DescribeSignature formats the signature of a method or field at a (ECMA-335 II.23.2.1 and II.23.2.4). The
// Module, if not 0, resolves its tokens.
func (r *Runtime) DescribeSignature(a, module target.Addr) (*answer.Signature, error) {
	return r.describeSignature(a, module, formatSignature)
}

// DescribeTypeSignature formats the type of a signature at a. The Module, if not 0, resolves its tokens.
func (r *Runtime) DescribeTypeSignature(a, module target.Addr) (*answer.Signature, error) {
	return r.describeSignature(a, module, formatTypeSignature)
}

func (r *Runtime) describeSignature(a, module target.Addr, format func([]byte, metadata.Resolver) (string, error)) (*answer.Signature, error) {
	names, err := r.signatureNames(module)
	if err != nil {
		return nil, err
	}
	b := make([]byte, signatureProbe)
	n, err := r.Memory().ReadMemory(b, a)
	if n == 0 {
		return nil, err
	}
	text, err := format(b[:n], names)
	if err != nil {
		return nil, fmt.Errorf("signature at %016x: %w", uint64(a), err)
	}
	return &answer.Signature{Signature: text}, nil
}

// signatureNames returns a resolver for the tokens of a module, nil for address 0.
func (r *Runtime) signatureNames(module target.Addr) (metadata.Resolver, error) {
	if module == 0 {
		return nil, nil
	}
	m, err := r.Module(module)
	if err != nil {
		return nil, err
	}
	md, err := m.Metadata()
	if err != nil {
		return nil, err
	}
	return md.Names(), nil
}

func formatSignature(b []byte, names metadata.Resolver) (string, error) {
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
}

func formatTypeSignature(b []byte, names metadata.Resolver) (string, error) {
	n, err := metadata.TypeSigSize(b)
	if err != nil {
		return "", err
	}
	sig, err := metadata.ParseTypeSpec(b[:n])
	return metadata.FormatTypeECMA(&sig, names), err
}
