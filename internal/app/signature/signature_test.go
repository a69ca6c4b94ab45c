package signature

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sosgo/sosgo/answer"
	"github.com/sosgo/sosgo/target"
)

func ExampleOf() {
	fmt.Println(Of("crash", "System.NullReferenceException", "Contoso.Orders.Load()"))
	// Output: 75e8ed7bc7f18cdf
}

// TestCrash checks that a signature consists of names only, and that the frame is the program's own.
func TestCrash(t *testing.T) {
	frame := func(name string) answer.CrashFrame { return answer.CrashFrame{Method: answer.Text{S: name}} }
	one := &answer.Crash{Code: "SIGSEGV", Stack: []answer.CrashFrame{frame("System.String.Concat()+0x12"), frame("Shop.Bill()+0x4")}}
	other := &answer.Crash{Code: "SIGSEGV", ThreadID: 9, Stack: []answer.CrashFrame{frame("System.String.Concat()+0x99"), frame("Shop.Bill()+0x5")}}
	a := Crash(one, nil)
	assert.Equal(t, a, Crash(other, nil))
	assert.Equal(t, "Shop.Bill()", a.Frame)
	assert.Equal(t, []string{"access violation", "Shop.Bill"}, a.SignatureParts)
	assert.Equal(t, answer.SignatureStrong, a.SignatureStrength)
	other.Code = "SIGABRT"
	assert.NotEqual(t, a.Signature, Crash(other, nil).Signature)
	none := Crash(&answer.Crash{}, nil)
	assert.NotEmpty(t, none.Signature)
	assert.Equal(t, answer.SignatureWeak, none.SignatureStrength)
	assert.Empty(t, none.Frame)
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

// TestThreadStatic checks that a thread static is named as one.
func TestThreadStatic(t *testing.T) {
	x := &answer.Suspect{Path: &answer.RootPath{Root: answer.GCRoot{Kind: "thread static variable", Name: "thread static Shop.M.t_cache of thread 2b7b"}}}
	_, kept := Suspect(x)
	assert.Equal(t, "thread static Shop.M.t_cache", kept)
}

// TestMethod checks that names lose parameters, type arguments, closures and the compiler's numbers.
func TestMethod(t *testing.T) {
	for in, want := range map[string]string{
		"Shop.Orders.Load(System.Int32)+0x1f":                                                      "Shop.Orders.Load",
		"Shop.Box`1[[System.Int32, System.Private.CoreLib]].Put(Int32)":                            "Shop.Box.Put",
		"Shop.Box<System.Collections.Generic.List<int>>.Put<T>(T)":                                 "Shop.Box.Put",
		"Shop.A+<>c.<Run>b__9_13()":                                                                "Shop.A.<Run>b",
		"Shop.A+<>c__DisplayClass3_0.<Run>b__0(Int32)":                                             "Shop.A.<Run>b",
		"Shop.A+<>c__DisplayClass3_0`1[[System.__Canon, System.Private.CoreLib]].<Run>b__0(Int32)": "Shop.A.<Run>b",
		"Shop.A.<Run>g__Add|3_0(Int32)":                                                            "Shop.A.<Run>g__Add",
		"Shop.A+<Load>d__5.MoveNext()":                                                             "Shop.A.Load",
		"Shop.A+<Load>d__5`1[[System.__Canon, System.Private.CoreLib]].MoveNext()":                 "Shop.A.Load",
		"Shop.A+<>c+<<Run>b__0_0>d.MoveNext()":                                                     "Shop.A.<Run>b",
		"Shop.A..ctor(System.String)":                                                              "Shop.A..ctor",
		"Shop.A.System.Collections.Generic.IEnumerable<T>.GetEnumerator()":                         "Shop.A.System.Collections.Generic.IEnumerable.GetEnumerator",
		"Program.<Main>$(System.String[])":                                                         "Program.<Main>$",
		"<Module>.f(int)":                                                                          "<Module>.f",
		"":                                                                                         "", "<": "<", ">": ">", "<>": "<>", "a`": "a",
	} {
		assert.Equal(t, want, Method(in), in)
	}
}

func FuzzMethod(f *testing.F) {
	f.Add("Shop.A+<>c+<<Run>b__0_0>d.MoveNext()")
	f.Add("Shop.Box`1[[X]]<a<b>>.Put|3__4")
	f.Fuzz(func(t *testing.T, s string) {
		if len(Method(s)) > len(s) {
			t.Errorf("%q grew", s)
		}
	})
}

// TestCrashParts checks the parts of signatures, and whether the same crash can have another signature.
func TestCrashParts(t *testing.T) {
	trace := func(kind string, methods ...string) *answer.Crash {
		e := answer.Exception{Type: answer.Text{S: kind}}
		for _, m := range methods {
			f := answer.TraceFrame{Function: answer.Text{S: m}}
			if m == "?" {
				f.Function = answer.Text{Err: errors.New("no module file")}
			}
			e.Frames = append(e.Frames, f)
		}
		return &answer.Crash{ExceptionTree: answer.ExceptionTree{Exceptions: []answer.Exception{e}}}
	}
	place := func(module string, offset uint64) *answer.CodePlace {
		return &answer.CodePlace{Module: module, Build: "build id 1", Offset: answer.Hex(offset)}
	}
	native := func(places ...*answer.CodePlace) *answer.Crash {
		c := &answer.Crash{Code: "SIGABRT", StacksOnly: true, Contexts: []answer.CrashContext{{Place: places[0]}}}
		for _, p := range places {
			c.Stack = append(c.Stack, answer.CrashFrame{Place: p})
		}
		return c
	}
	noted := func(c answer.Crash) *answer.Crash { // of types of other threads, for example
		c.Note(errors.New("no module file"))
		return &c
	}
	at := []answer.CrashContext{{Place: place("game.dll", 1)}}
	wrapped := trace("System.AggregateException", "Shop.A.Run()")
	wrapped.Exceptions = append(wrapped.Exceptions, answer.Exception{Type: answer.Text{S: "Shop.B"}}, answer.Exception{Type: answer.Text{S: "Shop.A`1[[X]]"}})
	wrapped.Causes = [][]int{{1, 2}}
	overflow := &answer.Crash{Code: "SIGSEGV", Stack: []answer.CrashFrame{
		{Method: answer.Text{S: "Shop.Leaf()"}}, {Method: answer.Text{S: "Shop.Q()"}, Cycle: 2, Repeat: 5000}, {Method: answer.Text{S: "Shop.P()"}}, {Method: answer.Text{S: "Shop.Main()"}}}}
	defined := func(module string, token uint32) *answer.Definition {
		return &answer.Definition{Module: module, Build: "timestamp 1 size 2", Token: token}
	}
	unnamed := func(kind *answer.Definition, methods ...*answer.Definition) *answer.Crash {
		e := answer.Exception{Type: answer.Text{Err: target.ErrNotInDump}, Definition: kind}
		for _, m := range methods {
			e.Frames = append(e.Frames, answer.TraceFrame{Function: answer.Text{Err: target.ErrNotInDump}, Definition: m})
		}
		return &answer.Crash{Code: "0xe0434352", ExceptionTree: answer.ExceptionTree{Exceptions: []answer.Exception{e}}}
	}
	corelib, shop, bill := defined("System.Private.CoreLib.dll", 0x02000007), defined("Shop.dll", 0x06000003), defined("Shop.dll", 0x06000004)
	partly := trace("E", "?", "Shop.A.Run()")
	partly.Exceptions[0].Frames[0].Definition = bill
	caused := trace("System.AggregateException", "Shop.A.Run()")
	caused.Exceptions, caused.Causes = append(caused.Exceptions, answer.Exception{Type: answer.Text{Err: target.ErrNotInDump}, Definition: corelib}), [][]int{{1}}
	circle := &answer.Crash{Code: "SIGSEGV", Stack: []answer.CrashFrame{{Method: answer.Text{Err: target.ErrNotInDump}, Definition: bill, Cycle: 1, Repeat: 5000}}}
	for _, c := range []struct {
		name     string
		crash    *answer.Crash
		parts    string
		strength answer.SignatureStrength
	}{
		{"recursion", trace("E", "Shop.A.R()", "Shop.A.R()", "Shop.A.Main()"), "E Shop.A.R Shop.A.Main", answer.SignatureStrong},
		{"library alone", trace("E", "System.Threading.Tasks.Task.ThrowIfExceptional(Boolean)", "System.X.Y()", "System.Threading.Thread.StartCallback()"), "E System.X.Y", answer.SignatureWeak},
		{"unread", trace("E", "?", "Shop.A.Run()"), "E Shop.A.Run", answer.SignatureWeak},
		{"unread beyond the frames that count", trace("E", "A.A()", "A.B()", "A.C()", "A.D()", "A.E()", "?"), "E A.A A.B A.C A.D A.E", answer.SignatureStrong},
		{"unnamed", unnamed(corelib, defined("System.Private.CoreLib.dll", 0x06000009), shop, shop, bill), "System.Private.CoreLib.dll (timestamp 1 size 2) 02000007 Shop.dll (timestamp 1 size 2) 06000003 Shop.dll (timestamp 1 size 2) 06000004", answer.SignatureWeak},
		{"unnamed library alone", unnamed(corelib, defined("System.Private.CoreLib.dll", 0x06000009)), "System.Private.CoreLib.dll (timestamp 1 size 2) 02000007 System.Private.CoreLib.dll (timestamp 1 size 2) 06000009", answer.SignatureWeak},
		{"unnamed without builds", unnamed(nil, nil), "0xe0434352", answer.SignatureWeak},
		{"partly unnamed", partly, "E Shop.dll (timestamp 1 size 2) 06000004 Shop.A.Run", answer.SignatureWeak},
		{"unnamed cause", caused, "System.AggregateException of System.Private.CoreLib.dll (timestamp 1 size 2) 02000007 Shop.A.Run", answer.SignatureWeak},
		{"unnamed overflow", circle, "access violation Shop.dll (timestamp 1 size 2) 06000004", answer.SignatureWeak},
		{"causes", wrapped, "System.AggregateException of Shop.A of Shop.B Shop.A.Run", answer.SignatureStrong},
		{"no causes", trace("System.AggregateException", "Shop.A.Run()"), "System.AggregateException Shop.A.Run", answer.SignatureWeak},
		{"overflow", overflow, "access violation Shop.P Shop.Q", answer.SignatureStrong},
		{"fail fast", &answer.Crash{Code: "SIGABRT", FailFast: &answer.FailFast{}, Stack: []answer.CrashFrame{{Method: answer.Text{S: "System.Environment.FailFast(System.String)"}}, {Method: answer.Text{S: "Shop.A()"}}}}, "fail fast Shop.A", answer.SignatureStrong},
		{"abort", native(place("libc.so.6", 1), place("libc.so.6", 2), place("game.so", 3)), "SIGABRT libc.so.6 (build id 1)+0x1 libc.so.6 (build id 1)+0x2 game.so (build id 1)+0x3", answer.SignatureStrong},
		{"abort without a caller", native(place("libc.so.6", 1)), "SIGABRT libc.so.6 (build id 1)+0x1", answer.SignatureWeak},
		{"place", native(place("game.so", 1), place("game.so", 2)), "SIGABRT game.so (build id 1)+0x1", answer.SignatureStrong},
		{"unknown build", native(&answer.CodePlace{Module: "game.so", Offset: 1}), "SIGABRT game.so", answer.SignatureWeak},
		{"a thread that is none of the runtime's", noted(answer.Crash{Code: "0xc0000005", Unmanaged: true, Contexts: at}), "access violation game.dll (build id 1)+0x1", answer.SignatureStrong},
		{"a thread of the runtime, something unread", noted(answer.Crash{Code: "0xc0000005", Contexts: at}), "access violation game.dll (build id 1)+0x1", answer.SignatureWeak},
		{"runtime's data unread", &answer.Crash{Code: "SIGSEGV", Contexts: []answer.CrashContext{{Place: place("game.so", 1)}}, Stack: []answer.CrashFrame{{Method: answer.Text{Err: errors.New("no")}}}}, "access violation game.so (build id 1)+0x1", answer.SignatureWeak},
	} {
		id := Crash(c.crash, nil)
		assert.Equal(t, c.parts, strings.Join(id.SignatureParts, " "), c.name)
		assert.Equal(t, c.strength, id.SignatureStrength, c.name)
		if c.name == "overflow" {
			assert.Equal(t, "Shop.Leaf()", id.Frame, "where it died, and not the first of the circle by name")
		}
	}
}

// TestService checks that a service names the owner, whatever leads to its provider, and the last one on the path does.
func TestService(t *testing.T) {
	path := func(root answer.GCRoot, types ...string) *answer.RootPath {
		p := &answer.RootPath{Root: root}
		for _, name := range types {
			p.Objects = append(p.Objects, answer.PathStep{PathObject: answer.PathObject{Type: answer.Text{S: name}}})
		}
		return p
	}
	const provider, di = "Microsoft.Extensions.DependencyInjection.ServiceProvider", "Microsoft.Extensions.DependencyInjection.ServiceLookup."
	static, stack := answer.GCRoot{Kind: answer.RootStatic, Name: "static Shop.Accounts.A"}, answer.GCRoot{Kind: answer.RootStack}
	for _, p := range []*answer.RootPath{
		path(stack, provider, di+"CallSiteFactory", di+"ConstructorCallSite", "Shop.Prices", "Shop.Page[]"),
		path(static, "Shop.Gate", di+"ServiceProviderEngineScope", "System.Collections.Generic.Dictionary<A, B>", "Shop.Prices", "Shop.Page[]"),
		path(stack, provider, di+"ConstructorCallSite", "Shop.Orders", di+"ServiceProviderEngineScope", "Shop.Prices"),
	} {
		_, kept := Suspect(&answer.Suspect{Path: p})
		assert.Equal(t, "service Shop.Prices", kept)
	}
	_, kept := Suspect(&answer.Suspect{Path: path(static, "Shop.Gate", "Shop.Page[]")})
	assert.Equal(t, "static Shop.Accounts.A", kept)
}
