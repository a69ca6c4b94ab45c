package dac

import (
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// Throws reports whether the statement with code at ip throws an exception itself, by the IL instruction throw.
// It returns target.ErrUnsupported for code without a map to IL.
func (r *CodeReader) Throws(ip target.Addr) (bool, error) {
	_, statement, err := r.Statement(ip)
	if err != nil {
		return false, err
	}
	for _, in := range statement {
		if in.Opcode.String() == "throw" {
			return true, nil
		}
	}
	return false, nil
}

// Statement returns the IL instructions of the statement with code at ip, and its method. It returns no
// instructions if the map to IL has no statement there, and target.ErrUnsupported for code without a map.
func (r *CodeReader) Statement(ip target.Addr) (*MethodDesc, []metadata.Instruction, error) {
	info, err := r.MethodAt(ip)
	if err != nil {
		return nil, nil, err
	}
	list, err := r.ILMap(info)
	if err != nil {
		return nil, nil, err
	}
	start, ok, err := r.ILOffset(info)
	if err != nil || !ok {
		return info.Method, nil, err
	}
	if err := r.ILReplaced(info.Method); err != nil {
		return nil, nil, err
	}
	body, err := r.IL(info.Method)
	if err != nil {
		return nil, nil, err
	}
	end := len(body.Code)
	for _, m := range list {
		if il := int(m.IL); il > start {
			end = min(end, il)
		}
	}
	var out []metadata.Instruction
	for in, err := range metadata.Instructions(body.Code) {
		switch {
		case err != nil:
			return nil, nil, err
		case in.Offset >= end:
			return info.Method, out, nil
		case in.Offset >= start:
			out = append(out, in)
		}
	}
	return info.Method, out, nil
}
