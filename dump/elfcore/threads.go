package elfcore

import (
	"cmp"
	"slices"
	"time"

	"github.com/sosgo/sosgo/internal/cursor"
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

// prRegister is a place of the kernel's user_regs_struct. Not every one has a register in sosgo.
type prRegister struct {
	reg   target.Reg
	known bool
}

func reg(r target.Reg) prRegister { return prRegister{r, true} }

// registerOrder returns the order of pr_reg: user_regs_struct of x86-64 (arch/x86/include/asm/user_64.h) and user_pt_regs of arm64.
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

// addThread decodes an elf_prstatus.
func (b *builder) addThread(n *Note) error {
	if int64(len(b.threads)) >= b.limits.Threads {
		if !b.moreThreads {
			b.moreThreads = true
			b.warn(target.Corruptf("more than %d threads: the others are left out (limit threads)", b.limits.Threads))
		}
		return nil
	}
	c := cursor.New(n.Data, n.Offset)
	t := target.Thread{Registers: target.Registers{Arch: b.platform.Arch}}
	c.Seek(prSignal)
	t.Signal = int(int16(c.Uint16()))
	c.Seek(prID)
	t.ID = c.Uint32()
	c.Seek(prUser)
	t.User = timeval(c)
	c.Seek(prKernel)
	t.Kernel = timeval(c)
	c.Seek(prRegs)
	for _, r := range registerOrder(b.platform.Arch) {
		if v := c.Uint64(); r.known && c.Err() == nil {
			t.Registers.Set(r.reg, v)
		}
	}
	if c.Offset() < prRegs {
		return c.Err()
	}
	if c.Err() != nil {
		b.warn(&FormatError{Off: n.Offset, Msg: "NT_PRSTATUS ends among the registers", Err: c.Err()})
	}
	b.threads = append(b.threads, t)
	return nil
}

// timeval reads a struct timeval. createdump writes zeros.
func timeval(c *cursor.Cursor) time.Duration {
	sec, usec := c.Uint64(), c.Uint64()
	const longest = 1 << 32 // seconds; more does not fit a Duration and is no run time
	if sec >= longest || usec >= 1e6 {
		return 0
	}
	return time.Duration(sec)*time.Second + time.Duration(usec)*time.Microsecond
}

// addFloat gives the floating-point registers to the thread before them.
func (b *builder) addFloat(n *Note) {
	p, err := b.platform.Arch.RegisterFile()
	if err != nil || p.Vectors.Count == 0 || len(b.threads) == 0 || len(n.Data) < p.Vectors.Size {
		return
	}
	b.threads[len(b.threads)-1].Registers.Float = n.Data[:p.Vectors.Size:p.Vectors.Size]
}

// addSignature sets the mask of signatures in code addresses (struct user_pac_mask: the data mask, then the
// instruction mask) of the preceding thread.
func (b *builder) addSignature(n *Note) error {
	c := cursor.New(n.Data, n.Offset)
	c.Skip(8)
	mask := c.Uint64()
	if c.Err() == nil && len(b.threads) > 0 {
		b.threads[len(b.threads)-1].Registers.Signature = mask
	}
	return c.Err()
}

// The smallest and the largest page of the machines, in bytes. The smallest is the granularity of a stack's lower end.
const stackPage, largestPage = 4096, 64 << 10

// machinePage returns the size of the pages that files were mapped in: the kernel's AT_PAGESZ, or the unit of
// NT_FILE, or the largest size that all mappings keep to.
func (b *builder) machinePage() uint64 {
	all := uint64(largestPage)
	for _, m := range b.files {
		all |= uint64(m.Start) | uint64(m.End)
	}
	recorded, _ := b.aux(auxPage)
	for _, n := range []uint64{recorded, b.unit, all & -all} {
		if n >= stackPage && n <= largestPage && n&(n-1) == 0 {
			return n
		}
	}
	return stackPage
}

// findStacks gives each thread the memory from the page of its stack pointer to the end of the mapping that contains
// it. A core has no more about the stack's limits; the end can be higher than the stack's where the loader put
// something else above it, as it does with a thread's static TLS.
func (b *builder) findStacks() {
	ends := b.mappingEnds()
	for i := range b.threads {
		t := &b.threads[i]
		sp, ok := t.Registers.SP()
		if !ok {
			continue
		}
		if r := b.regionAt(sp); r >= 0 {
			t.Stack = target.Range{Start: max(b.regions[r].Start, sp&^(stackPage-1)), End: ends[r]}
			if b.regions[r].Kind == kindPrivate {
				b.regions[r].Kind = kindStack
			}
		}
	}
	for i := range b.regions {
		if i > 0 && b.regions[i-1].Kind == kindStack && b.sameMapping(i-1, i) {
			b.regions[i].Kind = kindStack
		}
	}
}

// mappingEnds returns for each region where the mapping ends that it is part
// of: createdump writes the pages that it wants of a mapping as segments.
func (b *builder) mappingEnds() []target.Addr {
	ends := make([]target.Addr, len(b.regions))
	for i, r := range slices.Backward(b.regions) {
		ends[i] = r.Start + target.Addr(r.Size)
		if i+1 < len(ends) && b.sameMapping(i, i+1) {
			ends[i] = ends[i+1]
		}
	}
	return ends
}

// regionAt returns the index of the region that contains a, or -1.
func (b *builder) regionAt(a target.Addr) int {
	i, found := slices.BinarySearchFunc(b.regions, a, func(r target.Region, a target.Addr) int { return cmp.Compare(r.Start, a) })
	if !found {
		i--
	}
	if i < 0 || uint64(a-b.regions[i].Start) >= b.regions[i].Size {
		return -1
	}
	return i
}

// sameMapping reports whether region j, the one after i, continues i.
func (b *builder) sameMapping(i, j int) bool {
	x, y := &b.regions[i], &b.regions[j]
	return x.Start+target.Addr(x.Size) == y.Start && x.Prot == y.Prot && x.Path == "" && y.Path == ""
}
