package offheap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/sosgo/sosgo/target"
)

// A Budget counts the bytes of the arrays made with it and refuses arrays beyond its limit. It is
// safe for concurrent use. A nil Budget counts nothing and has no limit.
type Budget struct {
	limit       int64 // 0 means none
	inUse, peak atomic.Int64
	spare       spares
}

// hostLimit is the limit of budgets without an explicit one. On a host with 32-bit addresses, an
// array that does not fit would end the program. WebAssembly has 4 GB in total.
func hostLimit() int64 {
	switch {
	case runtime.GOARCH == "wasm":
		return 5 << 29 // 2.5 GB
	case strconv.IntSize == 32:
		return 3 << 29
	}
	return 0
}

// NewBudget returns a budget of limit bytes; 0 means the limit of the host.
func NewBudget(limit int64) *Budget {
	return &Budget{limit: cmp.Or(limit, hostLimit())}
}

type budgetKey struct{}

// WithBudget returns a copy of ctx. Work that it is passed to charges its arrays to b.
func WithBudget(ctx context.Context, b *Budget) context.Context {
	return context.WithValue(ctx, budgetKey{}, b)
}

// BudgetOf returns the budget of ctx, or nil.
func BudgetOf(ctx context.Context) *Budget {
	b, _ := ctx.Value(budgetKey{}).(*Budget)
	return b
}

// InUse returns the bytes of all usable elements of arrays that are not freed.
func (b *Budget) InUse() int64 {
	if b == nil {
		return 0
	}
	return b.inUse.Load()
}

// Peak returns the maximum of InUse since the last ResetPeak.
func (b *Budget) Peak() int64 {
	if b == nil {
		return 0
	}
	return b.peak.Load()
}

// ResetPeak sets Peak to InUse.
func (b *Budget) ResetPeak() {
	if b != nil {
		b.peak.Store(b.inUse.Load())
		b.spare.trim(0)
	}
}

// Need checks whether work that needs so many bytes fits. It reserves nothing. The error, a
// *LimitError, names the work and its bytes.
func (b *Budget) Need(what string, bytes int64) error {
	if b == nil {
		return nil
	}
	if used := b.inUse.Load(); b.limit != 0 && bytes > b.limit-used {
		return &LimitError{What: what, Need: bytes, InUse: used, Limit: b.limit}
	}
	return nil
}

func (b *Budget) take(bytes int64) error {
	if b == nil {
		return nil
	}
	now := b.inUse.Add(bytes)
	if b.limit != 0 && now > b.limit {
		b.inUse.Add(-bytes)
		return &LimitError{What: "an array", Need: bytes, InUse: now - bytes, Limit: b.limit}
	}
	for {
		peak := b.peak.Load()
		if now <= peak || b.peak.CompareAndSwap(peak, now) {
			b.spare.trim(max(peak, now) - now)
			return nil
		}
	}
}

func (b *Budget) give(bytes int64) {
	if b != nil {
		b.inUse.Add(-bytes)
	}
}

// A Charge counts bytes of Go's heap that one piece of work keeps, such as maps and rows. It is safe for concurrent use.
type Charge struct {
	budget *Budget
	what   string
	bytes  atomic.Int64
	ended  atomic.Bool
}

// Charge returns a Charge without bytes. what names the work in errors.
func (b *Budget) Charge(what string) *Charge { return &Charge{budget: b, what: what} }

// Add counts so many bytes more, or less if n is negative. If the budget has no room for them, it counts nothing and
// returns a *LimitError with all that the work needs.
func (c *Charge) Add(n int64) error {
	if n > 0 {
		var limit *LimitError
		if err := c.budget.take(n); errors.As(err, &limit) {
			own := c.bytes.Load()
			return &LimitError{What: c.what, Need: own + n, InUse: max(0, limit.InUse-own), Limit: limit.Limit}
		}
	} else {
		c.budget.give(-n)
	}
	c.bytes.Add(n)
	if c.ended.Load() {
		c.Free()
	}
	return nil
}

// Free gives all bytes back. The Charge can be used again.
func (c *Charge) Free() { c.budget.give(c.bytes.Swap(0)) }

// End gives all bytes back. Later additions are still checked against the limit, but no longer counted.
func (c *Charge) End() {
	c.ended.Store(true)
	c.Free()
}

type chargeKey struct{}

// WithCharge returns a copy of ctx, with which Keep counts for c.
func WithCharge(ctx context.Context, c *Charge) context.Context {
	return context.WithValue(ctx, chargeKey{}, c)
}

// Keep counts bytes of Go's heap that the work of ctx keeps, such as rows and entries of maps, with a quarter more, the
// room in which slices and maps grow. It counts nothing without WithCharge. The error is a *LimitError that names what.
func Keep(ctx context.Context, what string, bytes int) error {
	c, ok := ctx.Value(chargeKey{}).(*Charge)
	if !ok {
		return nil
	}
	err := c.Add(int64(bytes) + int64(bytes)/4)
	var limit *LimitError
	if errors.As(err, &limit) {
		limit.What = what
	}
	return err
}

// SizeOf returns the bytes of a T, without what it refers to.
func SizeOf[T any]() int { return int(unsafe.Sizeof(*new(T))) }

// A LimitError reports work that needs more memory than its budget has. It wraps
// target.ErrLimit.
type LimitError struct {
	What               string // the work that needs the memory
	Need, InUse, Limit int64  // bytes
}

func (e *LimitError) Error() string {
	beside := ""
	if e.InUse > 0 {
		beside = fmt.Sprintf(" beside the %s in use", Bytes(e.InUse))
	}
	return fmt.Sprintf("%s of memory would be needed for %s%s: more than the limit of %s", Bytes(e.Need), e.What, beside, Bytes(e.Limit))
}

// Advice names the option that sets the limit.
func (e *LimitError) Advice() string { return "--max-memory SIZE sets the limit" }

// Unwrap returns target.ErrLimit.
func (e *LimitError) Unwrap() error { return target.ErrLimit }

// Bytes formats a number of bytes in the largest unit among B, KB, MB and GB (powers of 1,024) that
// yields at least 1. It rounds up, so that a need is never understated.
func Bytes(n int64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	unit, name := int64(1<<10), "KB"
	switch {
	case n >= 1<<30:
		unit, name = 1<<30, "GB"
	case n >= 1<<20:
		unit, name = 1<<20, "MB"
	}
	whole, rest := n/unit, n%unit
	tenths := (rest*10 + unit - 1) / unit
	if tenths == 10 {
		whole, tenths = whole+1, 0
	}
	return fmt.Sprintf("%d.%d %s", whole, tenths, name)
}
