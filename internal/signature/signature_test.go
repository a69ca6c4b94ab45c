package signature

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
)

func ExampleOf() {
	fmt.Println(Of("crash", "System.NullReferenceException", "Contoso.Orders.Load()"))
	// Output: 75e8ed7bc7f18cdf
}

// TestCrash checks that a signature is of names alone, and that the frame is the program's own.
func TestCrash(t *testing.T) {
	frame := func(name string) answer.CrashFrame { return answer.CrashFrame{Method: answer.Text{S: name}} }
	one := &answer.Crash{Code: "SIGSEGV", Stack: []answer.CrashFrame{frame("System.String.Concat()+0x12"), frame("Shop.Bill()+0x4")}}
	other := &answer.Crash{Code: "SIGSEGV", ThreadID: 9, Stack: []answer.CrashFrame{frame("System.String.Concat()+0x99"), frame("Shop.Bill()+0x5")}}
	a, top := Crash(one)
	b, _ := Crash(other)
	assert.Equal(t, a, b)
	assert.Equal(t, "Shop.Bill()", top)
	other.Code = "SIGABRT"
	b, _ = Crash(other)
	assert.NotEqual(t, a, b)
	none, top := Crash(&answer.Crash{})
	assert.NotEmpty(t, none)
	assert.Empty(t, top)
}

func TestSuspect(t *testing.T) {
	x := &answer.Suspect{Kind: answer.SuspectObject, Point: &answer.PathObject{Address: 1, Type: answer.Text{S: "List<Order>"}},
		Path: &answer.RootPath{Root: answer.GCRoot{Kind: "handle", Handle: "Strong"}}}
	a, root := Suspect(x)
	assert.Equal(t, "Strong handle", root)
	x.Point.Address, x.Retained = 2, 77
	b, _ := Suspect(x)
	assert.Equal(t, a, b)
	x.Owner = &answer.PathObject{Type: answer.Text{S: "Cache"}}
	b, _ = Suspect(x)
	assert.NotEqual(t, a, b)
}

// TestThreadStatic: a thread static is called so.
func TestThreadStatic(t *testing.T) {
	x := &answer.Suspect{Path: &answer.RootPath{Root: answer.GCRoot{Kind: "thread static variable", Name: "thread static Shop.M.t_cache of thread 2b7b"}}}
	_, kept := Suspect(x)
	assert.Equal(t, "thread static Shop.M.t_cache", kept)
}
