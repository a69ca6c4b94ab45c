package minidump_test

import (
	"fmt"

	"github.com/sosgo/sosgo/minidump"
	"github.com/sosgo/sosgo/target"
)

func ExampleOpen() {
	f, err := minidump.Open(target.BytesSource(sample()))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(f.Platform().OS, f.Platform().Arch)
	for _, m := range f.Modules() {
		fmt.Println(m.Base, m.Path)
	}
	// Output:
	// windows x64
	// 00007ff600000000 C:\app\a.exe
	// 00007ff810000000 C:\app\coreclr.dll
}
