package tasks

import (
	"slices"

	"github.com/sosgo/sosgo/internal/app/tasks/internal/ilcalls"
	"github.com/sosgo/sosgo/metadata"
)

// callsOwn reports whether m makes the calls that are sought only on an object in a field of the object that m is called on, where only new objects are
// ever stored: each object has one of its own. The code that makes such an object, and calls m on it, does not lead to calls on objects that are there.
func (l *Leads) callsOwn(p *program, m programMethod) (bool, error) {
	md, il, instance, err := l.ilOf(p, m)
	if err != nil || !instance {
		return false, err
	}
	if taken, err := l.takes(md, il, nil); taken || err != nil {
		return false, err
	}
	sites, err := ilcalls.Of(md, il)
	if err != nil {
		return false, err
	}
	for i := range sites {
		if _, ok := l.sought(sites[i].Method); !ok {
			continue
		}
		path := subject(&sites[i])
		if path == nil || path.Class != "" || path.Arg != 0 || len(path.Fields) != 1 {
			return false, nil
		}
		owner, err := md.MethodOwner(m.row)
		if err != nil {
			return false, err
		}
		if own, err := l.ownField(p, md, owner, path.Fields[0]); !own || err != nil {
			return false, err
		}
	}
	return true, nil
}

// ownField reports whether code stores only new objects in a field of a class, one that is no struct.
func (l *Leads) ownField(p *program, md *metadata.Metadata, class uint32, field string) (bool, error) {
	def, err := md.TypeDef(class)
	if err != nil {
		return false, err
	}
	if base, err := md.TypeFullName(typeOf(md, def.Extends)); err != nil || base == "System.ValueType" {
		return false, nil //nolint:nilerr // a base that can't be named may be
	}
	rows, err := md.Fields(class)
	if err != nil {
		return false, err
	}
	for row := range rows.All() {
		full := ilcalls.FieldName(md, metadata.NewToken(metadata.TableField, row))
		if full == "" || full[len(full)-min(len(full), len(field)+1):] != "."+field {
			continue
		}
		for _, m := range p.stores[full] {
			md, il, _, err := l.ilOf(p, m)
			if err != nil {
				return false, err
			}
			stored, err := ilcalls.Stored(md, il, full)
			if err != nil || slices.ContainsFunc(stored, func(o ilcalls.Owned) bool { return !o.New }) {
				return false, err
			}
		}
		return len(p.stores[full]) > 0, nil
	}
	return false, nil // of a base class
}

// calledBy reports whether a method that calls m leads to the calls that are sought, as one does not that calls m only on objects which it makes itself,
// and whether it calls m on the object that it is called on.
func (l *Leads) calledBy(p *program, m, by programMethod) (leads, own bool, err error) {
	md, err := p.modules[m.module].Metadata()
	if err != nil {
		return false, false, err
	}
	name := ilcalls.MemberName(md, metadata.NewToken(metadata.TableMethodDef, m.row))
	if l.virtual[nameOf(name)] {
		return true, false, nil // it may be called by another name
	}
	md, il, instance, err := l.ilOf(p, by)
	if err != nil {
		return false, false, err
	}
	list, err := ilcalls.Receivers(md, il, name)
	if err != nil || len(list) == 0 {
		return true, false, err // by the name of a base class or an interface
	}
	if !slices.ContainsFunc(list, func(o ilcalls.Owned) bool { return !o.New }) {
		return false, false, nil
	}
	return true, instance && !slices.ContainsFunc(list, func(o ilcalls.Owned) bool { return !o.This }), nil
}

// ilOf returns the IL of a method, with its metadata and whether it is an instance method.
func (l *Leads) ilOf(p *program, m programMethod) (md *metadata.Metadata, il []byte, instance bool, err error) {
	if md, err = p.modules[m.module].Metadata(); err != nil {
		return nil, nil, false, err
	}
	def, err := md.MethodDef(m.row)
	if err != nil {
		return nil, nil, false, err
	}
	body, err := l.r.code.ILOf(p.modules[m.module], m.row)
	return md, body.Code, def.Flags&methodStatic == 0, err
}
