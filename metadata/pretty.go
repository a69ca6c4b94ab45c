package metadata

import "github.com/sosgo/sosgo/internal/base/compilernames"

// PrettyMethod rewrites the names that the C# compiler makes up into those that the programmer wrote, as far as they show it:
//
//	Shop.Cart+<>c__DisplayClass1_0.<Pay>b__2(Int32)   Shop.Cart.Pay.<lambda>(Int32)
//	Shop.Cart.<Pay>m__2(Int32)                        Shop.Cart.Pay.<lambda>(Int32)
//	Shop.Cart.<Pay>g__Check|3_0()                     Shop.Cart.Pay.Check()
//	Shop.Cart+<PayAsync>d__7.MoveNext()               Shop.Cart.PayAsync [state machine]
//
// and those of F#, which have the line:
//
//	Shop.Cart+pay@12-1.Invoke(Int32)                  Shop.Cart.pay.<lambda>(Int32)
//	Shop.Cart.check@15(Int32)                         Shop.Cart.check(Int32)
//	Shop.Cart+pay@12.MoveNext()                       Shop.Cart.pay [state machine]
//
// The forms of C# are those of Roslyn's GeneratedNames, and the lambdas of Mono's compiler (m__). A name without any of them is returned as it is.
func PrettyMethod(name string) string { return compilernames.Pretty(name) }
