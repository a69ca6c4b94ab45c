package disasm_test

import (
	"fmt"

	"github.com/sosgo/sosgo/internal/disasm"
	"github.com/sosgo/sosgo/target"
)

// Decode a piece of machine code.
func ExampleDecode() {
	code := []byte{0x55, 0x48, 0x89, 0xe5, 0xe8, 0xf7, 0x00, 0x00, 0x00, 0x5d, 0xc3}
	for in := range disasm.Decode(target.ArchAMD64, code, 0x401000) {
		fmt.Printf("%s %-12x %s\n", in.Addr, in.Bytes, in.Text)
	}
	// Output:
	// 0000000000401000 55           push    rbp
	// 0000000000401001 4889e5       mov     rbp, rsp
	// 0000000000401004 e8f7000000   call    0x401100
	// 0000000000401009 5d           pop     rbp
	// 000000000040100a c3           ret
}
