package code

import (
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// Throws reports whether the statement whose code is at ip throws an exception itself, by the IL instruction throw. The error is a target.ErrUnsupported for code without a map to IL.
func (r *Reader) Throws(ip target.Addr) (bool, error) {
	info, err := r.MethodAt(ip)
	if err != nil {
		return false, err
	}
	list, err := r.ILMap(info)
	if err != nil {
		return false, err
	}
	start, ok, err := r.ILOffset(info)
	if err != nil || !ok {
		return false, err
	}
	if err := r.ILReplaced(info.Method); err != nil {
		return false, err
	}
	body, err := r.IL(info.Method)
	if err != nil {
		return false, err
	}
	end := len(body.Code)
	for _, m := range list {
		if il := int(m.IL); il > start {
			end = min(end, il)
		}
	}
	for in, err := range metadata.Instructions(body.Code) {
		switch {
		case err != nil:
			return false, err
		case in.Offset >= end:
			return false, nil
		case in.Offset >= start && in.Opcode.String() == "throw":
			return true, nil
		}
	}
	return false, nil
}
