package elfcore

import (
	"time"

	"github.com/sosgo/sosgo/internal/base/cursor"
	"github.com/sosgo/sosgo/target"
)

// Offsets in elf_prstatus (include/linux/elfcore.h) on 64-bit machines.
const (
	prSignal = 12
	prID     = 32
	prUser   = 48
	prKernel = 64
	prRegs   = 112
)

// prRegister is a member of the kernel's user_regs_struct. known is false for members that are not
// used.
type prRegister struct {
	reg   target.Reg
	known bool
}

func reg(r target.Reg) prRegister { return prRegister{r, true} }

// registerOrder returns the order of pr_reg: user_regs_struct of x86-64
// (arch/x86/include/asm/user_64.h) and user_pt_regs of arm64.
func registerOrder(a target.Arch) []prRegister {
	if a == target.ArchARM64 {
		order := make([]prRegister, target.ARM64CPSR+1)
		for i := range order {
			order[i] = reg(target.Reg(i))
		}
		return order
	}
	return []prRegister{
		reg(target.R15), reg(target.R14), reg(target.R13), reg(target.R12), reg(target.RBP), reg(target.RBX),
		reg(target.R11), reg(target.R10), reg(target.R9), reg(target.R8), reg(target.RAX), reg(target.RCX),
		reg(target.RDX), reg(target.RSI), reg(target.RDI), {}, // orig_rax
		reg(target.RIP), reg(target.CS), reg(target.EFLAGS), reg(target.RSP), reg(target.SS),
		reg(target.FSBase), reg(target.GSBase), reg(target.DS), reg(target.ES), reg(target.FS), reg(target.GS),
	}
}

// hasRoom reports whether the limit allows another thread. It warns if not.
func (b *builder) hasRoom() bool {
	if int64(len(b.Threads)) < b.limits.Threads {
		return true
	}
	if !b.moreThreads {
		b.moreThreads = true
		b.Warn(target.Limitf("more than %d threads: the others are left out (limit threads)", b.limits.Threads))
	}
	return false
}

// addThread decodes an elf_prstatus.
func (b *builder) addThread(n *Note) error {
	if !b.hasRoom() {
		return nil
	}
	c := cursor.New(n.Data, n.Offset)
	t := target.Thread{Registers: target.Registers{Arch: b.Platform.Arch}}
	c.Seek(prSignal)
	t.Signal = int(int16(c.Uint16()))
	c.Seek(prID)
	t.ID = c.Uint32()
	c.Seek(prUser)
	t.User = timeval(c)
	c.Seek(prKernel)
	t.Kernel = timeval(c)
	c.Seek(prRegs)
	for _, r := range registerOrder(b.Platform.Arch) {
		if v := c.Uint64(); r.known && c.Err() == nil {
			t.Registers.Set(r.reg, v)
		}
	}
	if c.Offset() < prRegs {
		return c.Err()
	}
	if c.Err() != nil {
		b.Warn(&FormatError{Format: format, Off: n.Offset, Msg: "NT_PRSTATUS ends among the registers", Err: c.Err()})
	}
	b.Threads = append(b.Threads, t)
	return nil
}

// timeval reads a struct timeval. createdump writes zeros.
func timeval(c *cursor.Cursor) time.Duration {
	sec, usec := c.Uint64(), c.Uint64()
	const longest = 1 << 32 // seconds; a Duration can't hold more
	if sec >= longest || usec >= 1e6 {
		return 0
	}
	return time.Duration(sec)*time.Second + time.Duration(usec)*time.Microsecond
}

// addFloat sets the floating-point registers of the preceding thread.
func (b *builder) addFloat(n *Note) {
	p, err := b.Platform.Arch.RegisterFile()
	if err != nil || p.Vectors.Count == 0 || len(b.Threads) == 0 || len(n.Data) < p.Vectors.Size {
		return
	}
	b.Threads[len(b.Threads)-1].Registers.Float = n.Data[:p.Vectors.Size:p.Vectors.Size]
}

// addSignature sets the signature mask for code addresses of the preceding thread (struct
// user_pac_mask: the data mask, then the instruction mask).
func (b *builder) addSignature(n *Note) error {
	c := cursor.New(n.Data, n.Offset)
	c.Skip(8)
	mask := c.Uint64()
	if c.Err() == nil && len(b.Threads) > 0 {
		b.Threads[len(b.Threads)-1].Registers.Signature = mask
	}
	return c.Err()
}

// The smallest and the largest page size of the machines, in bytes.
const smallestPage, largestPage = 4096, 64 << 10

// machinePage returns the page size of the process: the kernel's AT_PAGESZ, or the unit of NT_FILE,
// or the largest size that all mappings are aligned to.
func (b *builder) machinePage() uint64 {
	all := uint64(largestPage)
	for _, m := range b.files {
		all |= uint64(m.Start) | uint64(m.End)
	}
	recorded, _ := b.aux(auxPage)
	for _, n := range []uint64{recorded, b.unit, all & -all} {
		if n >= smallestPage && n <= largestPage && n&(n-1) == 0 {
			return n
		}
	}
	return smallestPage
}
