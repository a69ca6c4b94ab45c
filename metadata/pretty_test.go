package metadata

import "testing"

func TestPrettyMethod(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"System.Threading.Thread.Sleep(Int32)", "System.Threading.Thread.Sleep(Int32)"},
		{"Debuggee.Zoo.Scenario+<>c__DisplayClass1_0.<Run>b__1()", "Debuggee.Zoo.Scenario.Run.<lambda>()"},
		{"Depot.M.<Main>m__8(System.Object)", "Depot.M.Main.<lambda>(System.Object)"},
		{"Depot.dll!Depot.Cart+<Step>c__async0.MoveNext()", "Depot.dll!Depot.Cart.Step [state machine]"},
		{"Depot.Cart+<Parts>c__Iterator2.MoveNext()", "Depot.Cart.Parts [state machine]"},
		{"Depot.Cart+<Pay>c__AnonStorey3.<>m__0(Int32)", "Depot.Cart.Pay.<lambda>(Int32)"},
		{"Depot.Cart+<Pay>c__AnonStorey3+<Pay>c__AnonStorey4.<>m__1()", "Depot.Cart.Pay.<lambda>()"},
		{"Debuggee.Crash.Scenario+<>c.<Run>b__0_2()", "Debuggee.Crash.Scenario.Run.<lambda>()"},
		{"Shop.Cart.<Pay>g__Check|3_0(Int32)", "Shop.Cart.Pay.Check(Int32)"},
		{"Debuggee.AsyncWork.Scenario+<ValueTasks>d__13.MoveNext()", "Debuggee.AsyncWork.Scenario.ValueTasks [state machine]"},
		{"Debuggee.AsyncWork.Scenario+<Generic>d__16`1[[Debuggee.AsyncWork.Order, Debuggee]].MoveNext()", "Debuggee.AsyncWork.Scenario.Generic [state machine]"},
		{"Shop.Cart+pay@12-1.Invoke(Int32)", "Shop.Cart.pay.<lambda>(Int32)"},
		{"Shop.Cart+pay@12-1`1[[System.String, System.Private.CoreLib]].Invoke(Int32)", "Shop.Cart.pay.<lambda>(Int32)"},
		{"Shop.Cart+clo@12-3.Invoke(Int32)", "Shop.Cart.<lambda>(Int32)"},
		{"Shop.Cart.check@15(Int32)", "Shop.Cart.check(Int32)"},
		{"Shop.Cart+pay@12.MoveNext()", "Shop.Cart.pay [state machine]"},
		{"Shop.Cart+items@5.GenerateNext(System.Collections.Generic.IEnumerable`1)", "Shop.Cart.items [state machine]"},
		{"Shop.Cart+pay@12-1..ctor(Int32)", "Shop.Cart.pay..ctor(Int32)"},
		{"<StartupCode$shop>.$Program.main@()", "Program.main@()"},
		{"<StartupCode$shop>.$Program+main@20.MoveNext()", "Program.main [state machine]"},
		{"A+@1.B()", "A+@1.B()"},
		{"A.B@x()", "A.B@x()"},
		{"A.B..ctor(System.String)", "A.B..ctor(System.String)"},
		{"<PrivateImplementationDetails>.ComputeStringHash(System.String)", "<PrivateImplementationDetails>.ComputeStringHash(System.String)"},
		{"<Program>$.<Main>$(System.String[])", "<Program>$.<Main>$(System.String[])"},
		{"<", "<"},
		{"<>", "<>"},
		{"", ""},
	} {
		if got := PrettyMethod(c.in); got != c.want {
			t.Errorf("%s: got %s, want %s", c.in, got, c.want)
		}
	}
}

func FuzzPrettyMethod(f *testing.F) {
	f.Add("A+<>c__DisplayClass1_0.<Run>b__1()")
	f.Add("A+<B>d__1`1[[C, D]].MoveNext()")
	f.Fuzz(func(t *testing.T, s string) { PrettyMethod(s) })
}
