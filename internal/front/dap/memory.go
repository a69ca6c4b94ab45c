package dap

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/go-dap"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/internal/app/methods"
	"github.com/sosgo/sosgo/internal/disasm"
	"github.com/sosgo/sosgo/process"
	"github.com/sosgo/sosgo/target"
)

const (
	maxMemory       = 1 << 20 // bytes read at once
	maxInstructions = 10_000
)

// address parses a client's memory reference and adds offset.
func address(ref string, offset int) (target.Addr, error) {
	digits, ok := strings.CutPrefix(strings.ToLower(ref), "0x")
	n, err := strconv.ParseUint(digits, 16, 64)
	if err != nil || !ok {
		return 0, fmt.Errorf("%.40q is no address: 0x and hexadecimal digits", ref)
	}
	return target.Addr(n + uint64(int64(offset))), nil
}

func (s *session) readMemory(a *dap.ReadMemoryArguments) (any, error) {
	at, err := address(a.MemoryReference, a.Offset)
	if err != nil {
		return nil, err
	}
	if a.Count < 0 || a.Count > maxMemory {
		return nil, fmt.Errorf("%d bytes: at most %d are read at once", a.Count, maxMemory)
	}
	b := make([]byte, a.Count)
	n, err := s.opened.Dump.Memory().ReadMemory(b, at)
	if n < len(b) && err != nil && !errors.Is(err, target.ErrNotInDump) {
		return nil, err
	}
	return dap.ReadMemoryResponseBody{Address: reference(at), Data: base64.StdEncoding.EncodeToString(b[:n]), UnreadableBytes: len(b) - n}, nil
}

// disassemble lists instructions of the method at an address. Clients expect the exact number, so "??" stands for
// instructions outside the method.
func (s *session) disassemble(ctx context.Context, a *dap.DisassembleArguments) (any, error) {
	at, err := address(a.MemoryReference, a.Offset)
	if err != nil {
		return nil, err
	}
	if a.InstructionCount < 0 || a.InstructionCount > maxInstructions {
		return nil, fmt.Errorf("%d instructions: at most %d are listed at once", a.InstructionCount, maxInstructions)
	}
	d, v, err := asked(s, s.view, func(v *process.Process) (*answer.Disassembly, error) {
		return methods.Disassembly(ctx, v, at, disasm.MethodOptions{})
	})
	if err != nil {
		return nil, err
	}
	list, places, here, err := s.instructions(ctx, d, at)
	if err != nil {
		return nil, err
	}
	symbol, located := true, answer.SourcePlace{}
	body := dap.DisassembleResponseBody{Instructions: make([]dap.DisassembledInstruction, a.InstructionCount)}
	for i := range body.Instructions {
		switch n := here + a.InstructionOffset + i; {
		case n >= 0 && n < len(list):
			body.Instructions[i] = list[n]
			if symbol || n == 0 { // where the list begins
				body.Instructions[i].Symbol, symbol = s.method(d.Name.String()), false
			}
			if place := &places[n]; place.Line > 0 && (located != *place) {
				located = *place
				body.Instructions[i].Location, body.Instructions[i].Line = s.sourceOf(ctx, v, d.Method, place.File), place.Line
			}
		default: // before or after the method
			body.Instructions[i] = dap.DisassembledInstruction{Address: reference(outside(list, n, at)), Instruction: "??"}
		}
	}
	return body, nil
}

// outside returns the address of a "??" instruction. Clients sort by address.
func outside(list []dap.DisassembledInstruction, n int, at target.Addr) target.Addr {
	if len(list) == 0 {
		return at + target.Addr(n)
	}
	if n < 0 {
		first, _ := address(list[0].Address, 0) // list holds addresses formatted by this package
		return first + target.Addr(n)
	}
	last, _ := address(list[len(list)-1].Address, 0)
	return last + target.Addr(len(list[len(list)-1].InstructionBytes)/2+n-len(list))
}

// instructions reads all instructions with their places in the source, and returns the index of the one at or before an
// address.
func (s *session) instructions(ctx context.Context, d *answer.Disassembly, at target.Addr) (list []dap.DisassembledInstruction, places []answer.SourcePlace, here int, err error) {
	place := answer.SourcePlace{}
	for i, err := range d.Instructions {
		if ctx.Err() != nil {
			return nil, nil, 0, ctx.Err()
		}
		if err != nil {
			list, places = append(list, dap.DisassembledInstruction{Address: reference(at), Instruction: words(err)}), append(places, place)
			continue
		}
		a := d.Start + target.Addr(i.Offset)
		if a <= at {
			here = len(list)
		}
		out := dap.DisassembledInstruction{Address: reference(a), InstructionBytes: i.Bytes, Instruction: cmpText(i.Text, "??")}
		if i.Name != "" {
			out.Instruction += " ; " + i.Name
		}
		if i.Source != nil && i.Source.Line > 0 {
			place = *i.Source
		}
		list, places = append(list, out), append(places, place)
	}
	return list, places, here, nil
}
