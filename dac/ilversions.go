package dac

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/base/limits"
	"github.com/sosgo/sosgo/internal/files/layout"
	"github.com/sosgo/sosgo/metadata"
	"github.com/sosgo/sosgo/target"
)

// States of an ILCodeVersionNode (codeversion.h, RejitFlags), and kinds of the active node of a method
// (ILCodeVersioningState).
const (
	rejitState     = 0xf
	activeExplicit = 1 // the state refers to the active node; otherwise the metadata's IL is active
)

// rejitStates describes the states.
var rejitStates = [...]answer.ReJITState{answer.ReJITRequested, answer.ReJITAsking, answer.ReJITReady}

// describeILVersions adds the versions of IL that profilers requested.
func (r *CodeReader) describeILVersions(ctx context.Context, out *answer.Tiers) {
	c, err := r.members()
	for _, typ := range []string{"ILCodeVersioningState.FirstVersionNode", "ILCodeVersionNode.RejitState"} {
		name, field, _ := strings.Cut(typ, ".")
		if err == nil {
			_, err = r.Runtime().Layout().Offset(name, field)
		}
	}
	if err != nil {
		out.VersionsMissing.Err = err
		return
	}
	modules, err := r.Runtime().Modules()
	if err != nil {
		out.VersionsMissing.Err = err
		out.Note(err)
	}
	for _, m := range modules {
		for e, err := range m.Entries(MapILVersions) {
			if ctx.Err() != nil {
				return
			}
			if err == nil {
				err = r.ilVersionsOf(c, m, e, out)
			}
			if err != nil {
				out.VersionsMissing.Err = cmp.Or(out.VersionsMissing.Err, err)
				out.Note(err)
			}
			if errors.Is(err, errManyVersions) {
				return
			}
		}
	}
}

var errManyVersions = target.Unsupportedf("more than %d versions of IL: the others are not listed", limits.ReplacedMethods)

// ilVersionsOf adds the versions of a method of m.
func (r *CodeReader) ilVersionsOf(c *members, m *Module, e MapEntry, out *answer.Tiers) error {
	rd := layout.Reader{Mem: r.mem, Base: e.Value}
	node, kind, active := rd.Ptr(c.ILState.First), rd.U32(c.ILState.ActiveKind), rd.Ptr(c.ILState.ActiveNode)
	if rd.Err != nil {
		return rd.Err
	}
	token := metadata.NewToken(metadata.TableMethodDef, e.Row)
	v := answer.ILVersion{Token: uint32(token)}
	desc, err := m.Lookup(MapMethodDef, e.Row)
	if err == nil && desc != 0 {
		var method *MethodDesc
		if method, err = r.MethodDesc(desc); err == nil {
			v.Method = desc
			v.Name.S, err = r.MethodName(method, MethodFull)
		}
		err = target.CorruptAddress(err)
	}
	if err != nil {
		v.Name = out.Text("", err)
	}
	for range limits.CodeVersions {
		if node == 0 {
			return nil
		}
		if len(out.Versions) == limits.ReplacedMethods {
			return errManyVersions
		}
		rd := layout.Reader{Mem: r.mem, Base: node}
		next, state := rd.Ptr(c.ILNode.Next), rd.U32(c.ILNode.State)&rejitState
		v.ReJIT, v.Node = rd.U64(c.ILNode.ID), node
		if rd.Err != nil {
			return rd.Err
		}
		if int(state) >= len(rejitStates) {
			return target.Corruptf("version %016x of the IL of method %08x has state %d", uint64(node), uint32(token), state)
		}
		v.State, v.Active = rejitStates[state], kind == activeExplicit && active == node
		v.Reverted = kind != activeExplicit
		out.Versions, node = append(out.Versions, v), next
	}
	return target.Corruptf("method %08x has versions of IL without end", uint32(token))
}
