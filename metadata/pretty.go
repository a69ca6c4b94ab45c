package metadata

import "github.com/sosgo/sosgo/internal/base/compilernames"

// PrettyMethod replaces names made up by the C# compiler with the names in the source, as far as they contain
// them:
//
//	Shop.Cart+<>c__DisplayClass1_0.<Pay>b__2(Int32)   Shop.Cart.Pay.<lambda>(Int32)
//	Shop.Cart.<Pay>m__2(Int32)                        Shop.Cart.Pay.<lambda>(Int32)
//	Shop.Cart.<Pay>g__Check|3_0()                     Shop.Cart.Pay.Check()
//	Shop.Cart+<PayAsync>d__7.MoveNext()               Shop.Cart.PayAsync [state machine]
//
// It also replaces names of the F# compiler, which contain the line:
//
//	Shop.Cart+pay@12-1.Invoke(Int32)                  Shop.Cart.pay.<lambda>(Int32)
//	Shop.Cart.check@15(Int32)                         Shop.Cart.check(Int32)
//	Shop.Cart+pay@12.MoveNext()                       Shop.Cart.pay [state machine]
//
// The C# forms are from Roslyn's GeneratedNames; m__ marks lambdas of Mono's compiler. PrettyMethod returns
// other names unchanged.
func PrettyMethod(name string) string { return compilernames.Pretty(name) }
