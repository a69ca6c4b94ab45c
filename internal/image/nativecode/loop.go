package nativecode

import "github.com/sosgo/sosgo/target"

// loopBytes bounds the instructions of a loop that Endless looks at.
const loopBytes = 8

// Endless reports whether the registers stand in a loop of machine code that reads no memory and changes no register, and goes round for ever: the
// compiler has read a field once, before the loop that waits for it to change. It knows such loops of AMD64 only.
func Endless(mem target.Memory, r *target.Registers) bool {
	if r.Arch != target.ArchAMD64 {
		return false
	}
	ip, ok := r.IP()
	if !ok {
		return false
	}
	code := make([]byte, 2*loopBytes)
	if n, err := mem.ReadMemory(code, ip-loopBytes); err != nil || n < len(code) {
		return false
	}
	return endlessLoop(code, loopBytes, func(number byte) (uint64, bool) { return r.Get(target.Reg(number)) })
}

// endlessLoop reports whether the AMD64 instruction at an index of code is in a loop without an end: a jump to itself, or a test of whether a register is 0
// and a jump back to the test, which the register's value lets the thread make each time. register returns the value of a register by its number in machine
// code.
func endlessLoop(code []byte, at int, register func(number byte) (uint64, bool)) bool {
	if len(code) < at+2 {
		return false
	}
	if code[at] == 0xEB && code[at+1] == 0xFE {
		return true
	}
	for _, jump := range []int{at, at + 2, at + 3} { // it stands at the jump, or at the test
		for _, length := range []int{2, 3} { // of the test
			start := jump - length
			if start < 0 || jump+2 > len(code) || at != jump && at != start || int(int8(code[jump+1])) != -2-length {
				continue
			}
			number, wide, ok := testsItself(code[start:jump])
			if !ok {
				continue
			}
			value, known := register(number)
			if zero := value&wide == 0; known && (code[jump] == 0x74 && zero || code[jump] == 0x75 && !zero) { // je, jne
				return true
			}
		}
	}
	return false
}

// testsItself returns the register of the instruction test r, r, and which of its bits are tested.
func testsItself(code []byte) (number byte, wide uint64, ok bool) {
	wide = 1<<32 - 1
	high := byte(0)
	rex := len(code) == 3
	if rex {
		switch prefix := code[0]; prefix {
		case 0x40, 0x45:
			high = prefix & 1 << 3
		case 0x48, 0x4D:
			high, wide = prefix&1<<3, 1<<64-1
		default:
			return 0, 0, false
		}
		code = code[1:]
	}
	mode := code[1]
	number = mode & 7
	if mode>>6 != 3 || mode>>3&7 != number {
		return 0, 0, false
	}
	switch code[0] {
	case 0x85:
	case 0x84: // without a prefix, numbers from 4 on are of the second bytes
		if wide = 0xFF; !rex && number > 3 {
			return 0, 0, false
		}
	default:
		return 0, 0, false
	}
	return number | high, wide, true
}
