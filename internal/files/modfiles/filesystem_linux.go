package modfiles

import (
	"os"
	"slices"
	"syscall"

	"github.com/sosgo/sosgo/target"
)

// File systems of Linux whose files the kernel generates when they are read (linux/magic.h): their
// sizes mean nothing, and reading may have effects.
var kernelFileSystems = []uint32{
	0x9fa0,     // proc
	0x62656572, // sysfs
	0x64626720, // debugfs
	0x74726163, // tracefs
	0x0027e0eb, // cgroup
	0x63677270, // cgroup2
	0x73636673, // securityfs
	0x62656570, // configfs
	0x6165676c, // pstore
	0xde5e81e4, // efivarfs
	0xf97cff8c, // selinuxfs
	0x43415d53, // smackfs
	0xcafe4a11, // bpf
	0x00001cd1, // devpts
	0x42494e4d, // binfmt_misc
	0x0187,     // autofs
}

// keepsFiles returns an error unless f is on a file system that stores files.
func keepsFiles(f *os.File) error {
	var st syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &st); err == nil && slices.Contains(kernelFileSystems, uint32(st.Type)) {
		return target.Unsupportedf("%s is on a file system of the kernel", f.Name())
	}
	return nil
}
